// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What became of a candidate. Failure of a candidate is data, never an Error. Plain values. Thread: any.
enum class Outcome { Passed, Incorrect, Suspicious, BuildFailed, RuntimeFailed, TimedOut, NotRun };
enum class NotRunCause { None, Infrastructure, Unsupported, NoSource, Cancelled };
enum class Stage { Generate, Build, Verify, Time, Profile };
/// Whether a figure was read off hardware or computed from counts. Travels with every figure; never converted.
enum class Provenance { Measured, Model };

std::string_view nameOf(Outcome outcome);   ///< "passed", "build_failed", … as the command line prints them
std::string_view nameOf(NotRunCause cause); ///< "" for None
std::string_view nameOf(Stage stage);
std::string_view nameOf(Provenance provenance); ///< "measured", "model"
std::optional<Outcome> outcomeNamed(std::string_view name);
std::optional<NotRunCause> causeNamed(std::string_view name);
std::optional<Stage> stageNamed(std::string_view name);
std::optional<Provenance> provenanceNamed(std::string_view name);
/// 0 passed · 3 rejected · 4 build_failed · 5 not_run (DESIGN.md section 8).
int exitCodeOf(Outcome outcome);

/// One fact behind a verdict, as a person would say it: "row 17 of call 3 kept the poison of before the call".
struct Evidence {
    /// "tolerance", "guard", "inputs", "imports", "exports", "sections", "sandbox", "deadline", "poison", "clock"
    std::string check;
    std::string sentence;
    bool operator==(const Evidence&) const = default;
};

struct CompileMessage {
    std::string file; ///< "candidate.cu" or a header
    int line = 0;     ///< line of the candidate's own text
    int column = 0;
    bool error = true;
    std::string text;
    bool operator==(const CompileMessage&) const = default;
};

struct KernelResources { ///< of one kernel, or of a function that is called and not inlined
    std::string kernel;
    int registers = 0;
    int sharedBytes = 0;
    int spillStoreBytes = 0;
    int spillLoadBytes = 0;
    int stackBytes = 0; ///< local memory per thread
    std::map<std::string, int>
        instructions; ///< tensor and half-precision ones in the machine code, by class: "tensor_tf32"
    bool operator==(const KernelResources&) const = default;
};

struct BuildRecord {
    std::string key;         ///< cache key: source, headers, flags, toolkit, architecture
    std::string libraryHash; ///< artefact, empty when it failed
    std::string
        program; ///< name of what runs, host part and device code (core/search/program_identity.h); empty: not known
    std::string architecture; ///< "sm_90a"
    std::string toolkit;      ///< "13.0.88"
    double seconds = 0;       ///< of the compiler; 0 when `cached`
    bool cached = false;
    bool deviceOnly = false; ///< the host object came from an earlier build with the same host part
    std::vector<CompileMessage> messages;
    std::vector<KernelResources> kernels;
    std::string log; ///< capped, printable
    bool operator==(const BuildRecord&) const = default;
};

/// Result of one output over all checked calls of one case.
struct OutputError {
    std::string caseId;
    std::string output;
    double worstElementRatio = 0; ///< max |out − ref| / (factor·u·scale); passes at <= 1
    double normError = 0;         ///< norm(out − ref)/norm(ref), see OutputTally::normError
    double normBound = 0;         ///< 0: none stated
    std::uint64_t compared = 0;   ///< elements
    bool operator==(const OutputError&) const = default;
};

/// What one call of a case puts on the stream. On a GPU from the captured graph, a claim of the runner's whose replay
/// was checked; on the simulated device as it was counted.
struct LaunchCount {
    std::string caseId;
    int kernels = 0, copies = 0, memsets = 0;
    bool operator==(const LaunchCount&) const = default;
};

/// Several calls with the same inputs: how far their outputs lie apart. Each was within the tolerance, too.
struct RepeatRecord {
    std::string caseId;
    int calls = 0;
    std::uint64_t elements = 0;  ///< of all outputs
    std::uint64_t differing = 0; ///< whose bits were not the same in all calls; 0: bitwise deterministic here
    double spread = 0;           ///< largest difference, in u of the larger magnitude
    bool operator==(const RepeatRecord&) const = default;
};

struct VerifyRecord {
    int calls = 0;
    std::vector<OutputError> errors;
    double seconds = 0;
    std::vector<LaunchCount> launches; ///< by case
    std::string sandbox;               ///< grade of evidence: "bubblewrap" or "none: bubblewrap is not installed"
    std::optional<RepeatRecord> repeat;
    bool operator==(const VerifyRecord&) const = default;
};

/// What one tool of compute-sanitizer said about a candidate.
struct SanitizerFinding {
    std::string tool;  ///< memcheck, racecheck, initcheck, synccheck
    std::string state; ///< "clean", "errors", "not_run"; never clean without the tool's own summary
    int errors = 0;    ///< as its summary says
    double seconds = 0;
    bool operator==(const SanitizerFinding&) const = default;
};

/// A number with its interval. Units are in the field's name.
struct Interval {
    double value = 0, low = 0, high = 0;
    bool operator==(const Interval&) const = default;
};

/// How calls are made while they are timed; one comparison never mixes two of them.
/// cold: the L2 cache is displaced before each call. steady: calls follow each other as the cache is.
/// offline: back to back. server: calls arrive at random, at `rate` a second, and their latency is what counts.
struct TimingSetting {
    std::string regime = "cold";
    std::string mode = "offline";
    double rate = 0; ///< server: mean arrivals per second
    bool operator==(const TimingSetting&) const = default;
};

/// Errors: InvalidInput for names that do not exist, a rate that is missing or senseless, or a combination that cannot
/// be measured.
Result<void> checkSetting(const TimingSetting& setting);

/// Microseconds from a call's arrival to the judge's knowledge that it has ended.
struct Latency {
    double p50Us = 0, p95Us = 0, p99Us = 0;
    int calls = 0;
    bool operator==(const Latency&) const = default;
};

/// The machine around one timed block of the candidate. -1: not known.
struct BlockConditions {
    int smMhz = -1, memoryMhz = -1;
    double powerWatts = -1;
    int temperature = -1;                ///< degrees Celsius
    std::int64_t throttleReasons = -1;   ///< bit set of NVML's clock event reasons
    int foreignProcesses = -1;           ///< on the same GPU
    int runner = 0;                      ///< which of its contender's processes
    double medianUs = 0;                 ///< of the block
    std::string dropped;                 ///< why it does not count; empty: it does
    std::string contender = "candidate"; ///< whose block: "root", "parent", "incumbent", a baseline's id
    bool operator==(const BlockConditions&) const = default;
};

/// Timing of one case. All times are microseconds per call, in the record's setting.
struct CaseTiming {
    std::string caseId;
    Provenance provenance = Provenance::Model;
    Interval timeUs;                     ///< median and 95 % interval; on a device: device time
    std::optional<Interval> speedupRoot; ///< root's time over this one's, paired by block
    std::optional<Interval> speedupParent;
    std::optional<Interval> speedupIncumbent;         ///< where there is one beside the root
    std::map<std::string, Interval> speedupBaselines; ///< by baseline id
    std::map<std::string, double> rivalTimeUs;        ///< "root", "parent", "incumbent", baseline ids
    double goalFloorUs = 0;                           ///< 0: unknown
    int blocks = 0;
    int samples = 0;
    int dropped = 0;
    std::string stoppedBy;          ///< "interval" or "budget"
    std::vector<double> samplesUs;  ///< kept samples of the candidate
    std::string method = "events";  ///< "events": around each call; "graph": around a replay of many calls
    int runners = 1;                ///< processes a side
    double launchUs = 0;            ///< host time inside the call; 0: unknown
    double endToEndUs = 0;          ///< judge's clock per call, launch and return included; 0: unknown
    double unseenOverSeen = 0;      ///< time with inputs of the first use over that of repeated ones; 0: not asked
    std::optional<Latency> latency; ///< server mode
    std::map<std::string, Latency> rivalLatency;
    std::map<std::string, int> droppedBecause; ///< blocks of the candidate, by reason
    std::vector<BlockConditions> conditions;   ///< of all blocks, the rivals' too, in their order
    bool operator==(const CaseTiming&) const = default;
};

/// What the calls of one case put on the device, by CUPTI's activity records, in a process of its own beside the timing
/// ones: the third clock. Medians over the calls; counts are of one call.
struct ActivityFacts {
    std::string caseId;
    int calls = 0;
    int kernels = 0, copies = 0, memsets = 0; ///< of the call that has most
    int fewestWorks = 0, mostWorks = 0;       ///< all three together, over the calls
    int elsewhere = 0;                        ///< on other streams than the given one, in the call that has most
    double spanUs = 0;                        ///< from the first start to the last end
    double kernelUs = 0;                      ///< kernels alone, added up
    double eventUs = 0;                       ///< device events round the same calls
    double timedUs = 0;                       ///< the record's median of the case
    bool operator==(const ActivityFacts&) const = default;
};

struct TimingRecord {
    std::vector<CaseTiming> cases;
    std::optional<Interval> objectiveUs; ///< geometric mean over timed cases, or the weighted time
    std::optional<Interval> speedupRoot; ///< on the objective
    std::optional<Interval> speedupParent;
    std::optional<Interval> speedupIncumbent;
    std::string regime = "cold";
    std::string tier = "quick";
    double seconds = 0;
    int timedCalls = 0, checkedCalls = 0, fullyCompared = 0;
    std::string mode = "offline";
    double rate = 0;         ///< server mode: arrivals per second
    std::string clocks;      ///< which clocks stand behind the figures, in words
    std::string monitor;     ///< who watched clocks, power and other processes: "NVML 580.1", "none: why"
    std::string guardBroken; ///< sentence when a case is slower than the objective's guard allows
    bool again = false;      ///< a winner, measured once more at the end of its run
    /// Where the judge's seconds went: "gate" (all before the timing but "sanitizer"), "processes" (those that had to
    /// start), "warm-up", "blocks", "release" (of buffers), "leaving" (the end of the full tier's processes), "rest".
    /// Beside them "opening": what this judge did once for the task before this candidate, which is no part of its
    /// judgeSeconds.
    std::map<std::string, double> phaseSeconds;
    std::vector<ActivityFacts> activity; ///< empty: not recorded
    std::string device;                  ///< the GPU's uuid; empty: simulated, or an older record
    /// What the vendor's libraries behind a baseline call themselves, by its id: "libcublas.so.13.1.0.3".
    std::map<std::string, std::string> rivalVersions;
    bool operator==(const TimingRecord&) const = default;
};

struct MetricValue { ///< id refers to the metric table (core/model/metric.h)
    std::string id;
    double value = 0;
    Provenance provenance = Provenance::Model;
    double peak = 0; ///< the most it could be on this device, in the metric's unit; 0: none is known
    bool operator==(const MetricValue&) const = default;
};

/// One kernel of a profiled call, as it was launched.
struct ProfiledKernel {
    std::string name;  ///< as the compiler mangles it
    double timeUs = 0; ///< by its activity record; 0: not known
    std::vector<int> grid, block;
    int registers = 0; ///< per thread
    int staticSharedBytes = 0, dynamicSharedBytes = 0;
    int localBytes = 0;        ///< per thread
    double occupancyLimit = 0; ///< percent of the warps a multiprocessor holds; 0: not known
    std::string limitedBy;     ///< "registers", "shared memory", "block size", "blocks", "nothing"
    bool operator==(const ProfiledKernel&) const = default;
};

struct SourceLine {
    std::string file;
    int line = 0; ///< 1-based
    bool operator==(const SourceLine&) const = default;
};

/// Samples of one instruction of one kernel.
struct InstructionSamples {
    std::string function;     ///< mangled
    std::uint64_t offset = 0; ///< bytes from its first instruction
    std::uint64_t samples = 0;
    std::map<std::string, std::uint64_t> reasons; ///< why the sampled warps stood, by CUPTI's name without its prefix
    std::vector<SourceLine> chain;                ///< innermost inlined place first; empty: built without line numbers
    /// Exact counts of one call, by name: "inst_executed", "thread_inst_executed", "sectors_mem_global", …; empty: not
    /// counted.
    std::map<std::string, std::uint64_t> counts;
    bool operator==(const InstructionSamples&) const = default;
};

/// One look at a candidate with one collector: none costs another its result.
struct CollectorRun {
    std::string collector; ///< "activity", "ranges", "sampling", "counts" (simulated device)
    bool done = false;
    double seconds = 0;        ///< its process, start and end included
    double collectSeconds = 0; ///< of that, the collecting alone
    std::string note;          ///< why not, or what is missing: cause and remedy
    bool operator==(const CollectorRun&) const = default;
};

/// One limit of the device, for the roofline: bytes by level, or operations by precision. 0: not known.
struct Roof {
    std::string id;      ///< "dram", "l2", "l1" (GB/s); "f32", "f64", "f16", "tensor_f16", "tensor_tf32", … (GFLOP/s)
    double measured = 0; ///< by micro-benchmarks on this device, or one of its name
    double theory = 0;   ///< from units and clocks
    bool operator==(const Roof&) const = default;
};

/// What profiling left behind, beside Evaluation::metrics, which are of the same call. It explains; it never ranks.
struct ProfileRecord {
    std::string caseId;
    std::string level; ///< "core": bytes and operations; "full": everything
    Provenance provenance = Provenance::Model;
    std::string tool; ///< "CUPTI 13.0.1", "simulated device"
    std::string chip; ///< "GH100"
    int passes = 0;   ///< calls that the counters took
    double seconds = 0;
    double taskBytes = 0, taskFlops = 0; ///< of the case, by the task's own count: least traffic, and its operations
    std::vector<Roof> roofs;
    std::vector<CollectorRun> collectors;
    std::vector<ProfiledKernel> kernels;
    std::uint64_t samples = 0;                    ///< of all instructions, the ones left out below included
    std::vector<InstructionSamples> instructions; ///< those with the most samples first
    bool operator==(const ProfileRecord&) const = default;
};

/// Everything known about one candidate's pass through the stages.
struct Evaluation {
    Outcome outcome = Outcome::NotRun;
    NotRunCause cause = NotRunCause::None;
    Stage stage = Stage::Generate; ///< where it ended
    std::string reason;            ///< one sentence
    std::vector<Evidence> evidence;
    std::optional<BuildRecord> build;
    std::optional<VerifyRecord> verify;
    std::optional<TimingRecord> timing;
    std::vector<SanitizerFinding> sanitizer; ///< empty: not asked for
    std::vector<MetricValue> metrics;        ///< of one call of `profile`'s case
    std::optional<ProfileRecord> profile;
    std::string epoch; ///< hash of device, driver, toolkit, flags; measurements of two epochs are never ranked together
    std::string output;      ///< what the candidate printed, capped and printable
    double judgeSeconds = 0; ///< from hand-over to verdict, the build and the opening of the task not included
    bool operator==(const Evaluation&) const = default;
};

} // namespace espalier
