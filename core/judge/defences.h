// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::judge {

/// What stands between a candidate and a verdict it has not earned, one by one. In every judge all of them stand. The
/// corpus program (tests/cheats) takes some away, to show which cheats each of them stops; no option of
/// espalier-worker does.
enum class Defence {
    Bubblewrap,      ///< the runner in its own name spaces with an empty root
    Seccomp,         ///< no new process, no way into another one
    EntryPointGate,  ///< the runner's own answers for driver functions and for captures of the given stream
    ReadOnlyInputs,  ///< inputs mapped so that a write faults
    InputCheck,      ///< inputs drawn again and compared after a call
    GuardBands,      ///< bytes around each buffer that must not change
    FreshInputs,     ///< new secret contents for every call
    NearInputs,      ///< some calls' inputs differ from the last ones in one element, or in all but a window
    NoisePoison,     ///< outputs hold finite noise before a call
    NaNPoison,       ///< ... or NaN
    InvertedPoison,  ///< ... or what was there, inverted
    ForeignAnswer,   ///< ... or the right answer to other inputs
    WorkspacePoison, ///< the workspace holds noise or NaN before a call
    UnseenCases,     ///< cases that the judge makes for one candidate: other sizes, inputs with properties
    ElementBound,    ///< every element within its own bound
    NormBound,       ///< the whole output within a bound by norm
    FullComparison,  ///< every element of a compared call, not a sample
    ReturnValue,     ///< an error that the entry returns counts
    StreamSnapshot,  ///< what the given stream alone has done when a call returns is kept and compared
    GraphReplay,     ///< a captured call is replayed on new inputs
    TimedChecks,     ///< the outputs of timed blocks are looked at
    ClockAgreement,  ///< events must agree with the judge's own clock
    PhysicalFloor,   ///< no time below what the device can do
};

/// True unless this process has taken it away. Thread: any.
bool stands(Defence defence);

/// "fresh-inputs"
std::string_view nameOf(Defence defence);
std::optional<Defence> defenceNamed(std::string_view name);
std::span<const Defence> allDefences();

/// For the corpus program's judge, before judgeMain: from now on these do not stand in this process.
void takeAway(std::span<const Defence> defences);

/// Further words for the command line of an untrusted runner, so that it takes away its own: none where all stand.
std::vector<std::string> weakenedRunnerArguments();

} // namespace espalier::judge
