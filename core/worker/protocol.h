// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/worker/evaluator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The protocol between an engine and a judge: JSON objects, one a line, over the judge's stdin and stdout. The judge
/// writes nothing else to stdout; what people should read goes to stderr. It can be driven by hand:
///
///     $ espalier-worker judge --device sim
///     < {"type":"hello","version":1}
///     > {"type":"hello","version":1,"device":{"id":"sim","name":"Simulated
///     H200","architecture":"90a",…},"sandbox":"bubblewrap",…} < {"type":"have","hashes":["3f…"]} >
///     {"type":"missing","hashes":["3f…"]} < {"type":"put","hash":"3f…","base64":"f0VMRg…"} >
///     {"type":"stored","hash":"3f…"} <
///     {"type":"evaluate","id":1,"task":"…","candidate":"…","root":"…","oracle":"…","tier":"quick"} >
///     {"type":"progress","id":1,"stage":"verify","text":"case 17x1009"} > {"type":"verified","id":1,"verify":{…}} >
///     {"type":"finished","id":1,"evaluation":{…}}
///
/// Rules. The engine speaks first (hello); another version is answered by `error` and the judge ends. Artefacts
/// (libraries and the text of task.json) travel by SHA-256 of their bytes; a judge keeps the last `maxStoreBytes` of
/// them. Jobs run one at a time in the order of arrival; every `evaluate` is answered by exactly one `finished`,
/// cancelled ones too. A line that is no message is answered by `error` and changes nothing. A field that is not known
/// is ignored, so that a newer peer of the same version can add some. The judge ends when its stdin does.
namespace espalier::worker {

constexpr int protocolVersion = 1;
constexpr std::size_t maxLineBytes = std::size_t{96} << 20;     ///< either direction
constexpr std::size_t maxArtefactBytes = std::size_t{64} << 20; ///< of one library
constexpr std::size_t maxStoreBytes = std::size_t{2} << 30;
constexpr std::size_t maxHashes = 256; ///< in one `have`
constexpr std::size_t maxQueuedJobs = 4096;

// Engine to judge
struct Hello {
    int version = protocolVersion;
};
struct Have {
    std::vector<std::string> hashes;
}; ///< answered by Missing
struct Put {
    std::string hash;
    std::string bytes;
}; ///< answered by Stored
struct Evaluate {
    RequestId id{0};
    std::string task, candidate, root, oracle; ///< hashes; `task` is that of task.json's text
    std::optional<std::string> parent;
    std::optional<std::pair<std::string, std::string>> incumbent; ///< hash, symbol
    std::vector<std::pair<std::string, std::string>> baselines;   ///< id, hash
    std::vector<std::string> cases;                               ///< empty: all that the device serves
    Tier tier = Tier::Quick;
    TimingSetting setting; ///< optional on the wire: cold, offline
    bool verifyOnly = false;
    Sanitizing sanitizing = Sanitizing::Off;
    Profiling profiling = Profiling::Off; ///< optional on the wire
    std::optional<VerifyRecord> verified; ///< of an earlier judge: timing begins at once (measured devices)
};
struct Cancel {
    RequestId id{0};
};
struct Quit {
};
using ToJudge = std::variant<Hello, Have, Put, Evaluate, Cancel, Quit>;

// Judge to engine
struct HelloReply {
    int version = protocolVersion;
    JudgeHello judge;
};
struct Missing {
    std::vector<std::string> hashes;
};
struct Stored {
    std::string hash;
};
struct Progress {
    RequestId id{0};
    Stage stage = Stage::Verify;
    std::string text;
};
struct Verified {
    RequestId id{0};
    VerifyRecord record;
}; ///< the gate is passed; timing follows
struct Finished {
    RequestId id{0};
    Evaluation evaluation;
};
struct Complaint {
    std::string message;
}; ///< "error": the last line was no message, or the judge cannot start and ends
using FromJudge = std::variant<HelloReply, Missing, Stored, Progress, Verified, Finished, Complaint>;

std::string encode(const ToJudge& message); ///< one line, without the newline
std::string encode(const FromJudge& message);
/// Errors: InvalidInput saying which field is wrong. Never throws, whatever the text.
Result<ToJudge> decodeToJudge(std::string_view line);
Result<FromJudge> decodeFromJudge(std::string_view line);

std::string_view nameOf(Tier tier); ///< "quick", "full"

} // namespace espalier::worker
