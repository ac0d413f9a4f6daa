// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/evaluation.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace espalier::corpus {

/// One file of the corpus: what its head says and the text that is judged. Keys of the head (`// key: value` lines at
/// the top; a key with "-sim" or "-cuda" behind it holds for that kind of device):
///     cheat | honest   the mechanism's number and name in verification.md section 3 or 4
///     task             a built-in task, or a folder beside the file
///     expect           outcomes, divided by "|"
///     evidence         words, divided by "|": one of them stands in the reason, the evidence or the compiler's text
///     device           where it has meaning: sim, cuda, sanitizer (a CUDA device, with compute-sanitizer's stage)
///     defence          the building blocks (section 2) that it tries
///     tier             quick (default) or full
///     profile: yes     judged with the profile stage, too (CUDA devices)
///     repeat           times that it is judged, every time in a fresh runner
///     sandbox: needed  only the sandbox is in its way: not tried where there is none, and said so
///     slow: yes        seconds of deadline or compiler: only with --slow
///     fast: yes        part of the handful that every test run has
///     varies           why more than one outcome is right, where `expect` states several
///     note             for people
/// A line "// @paste NAME" stands for templates/NAME.inc. A value.
struct Candidate {
    std::string name; ///< file name without ".cu"
    bool honest = false;
    std::string title;
    std::string task; ///< as loadTask takes it
    std::string source;
    std::map<std::string, std::string> keys;

    /// `sanitize`: compute-sanitizer's stage may be asked for.
    bool servesDevice(bool simulated, bool sanitize = false) const;
    bool needsSanitizer() const;
    std::string key(const std::string& key, bool simulated) const;
    std::vector<Outcome> expected(bool simulated) const;
    std::vector<std::string> evidence(bool simulated) const;
    int repeats() const;
};

/// Every .cu of `folder`, by name. Errors: NotFound, InvalidInput naming the file and the key that is missing or wrong.
Result<std::vector<Candidate>> loadCorpus(const std::filesystem::path& folder, const std::filesystem::path& templates);

/// Writes the candidate's text to FOLDER/NAME.cu as `espalierctl eval TASK FILE` takes it, with a second line that says
/// how and what it must get: "// corpus: task=softmax_f32 sim=incorrect cuda=suspicious|incorrect tier=quick". A device
/// where it has no meaning is left out. A task of the corpus's own is copied beside it, and named by its path in
/// FOLDER. Errors: what cannot be written, by name.
Result<void> exportCandidate(const Candidate& candidate, const std::filesystem::path& folder);

/// One (pattern, replacement) edit of an honest kernel.
struct Mutant {
    std::string task;
    std::string name;
    std::string base; ///< path within the task's folder
    std::string source;
    std::map<std::string, std::string> explained; ///< "sim", "cuda" or "all": why it may survive
    std::string explanation(bool simulated) const;
};

/// The mutants of FOLDER/<task>.json. Errors: InvalidInput when a pattern does not apply exactly once.
Result<std::vector<Mutant>> loadMutants(const std::filesystem::path& file);

/// Pieces of `text` between bars, trimmed.
std::vector<std::string> alternatives(const std::string& text);

} // namespace espalier::corpus
