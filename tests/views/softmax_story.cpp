// SPDX-License-Identifier: GPL-3.0-only
// The search that the pictures show: real sources and words of tasks/softmax_f32, values as an engine would send them.
#include "core/base/file.h"
#include "tests/views/scripted_session.h"

#include <cmath>

namespace espalier {

namespace {

class Story
{
public:
    Story(ScriptedLink& link, Provenance provenance) : m_link(link), m_provenance(provenance) {}

    static std::string source(const std::string& name)
    {
        return readFile(std::string(ESPALIER_SOURCE_DIR "/tasks/softmax_f32/") + name).value_or("// " + name + "\n");
    }

    NodeId root()
    {
        NodeSummary node = start(NodeKind::Root, {}, "root.cu", "task");
        passed(node, 0, 1);
        NodeDetail detail;
        detail.source = source("root.cu");
        detail.evaluation = evaluation(node, 24, 1);
        return put(node, std::move(detail));
    }

    NodeId idea(NodeId parent, const std::string& title, const std::string& words,
                const std::string& proposer = "playbook")
    {
        NodeSummary node = start(NodeKind::Idea, parent, title, proposer);
        node.state = NodeState::Done;
        NodeDetail detail;
        detail.ideaText = words;
        return put(node, std::move(detail));
    }

    /// A candidate that passed, `speedup` over its parent candidate.
    NodeId passed(NodeId idea, const std::string& title, const std::string& text, double speedup, int registers)
    {
        NodeSummary node = start(NodeKind::Candidate, idea, title, m_link.details.at(idea).summary.proposer);
        passed(node, parentCandidate(idea), speedup);
        NodeDetail detail = written(node, text);
        detail.evaluation = evaluation(node, registers, speedup);
        return put(node, std::move(detail));
    }

    NodeId failed(NodeId idea, const std::string& title, const std::string& text, Outcome outcome, Stage stage,
                  const std::string& reason, std::vector<Evidence> evidence = {},
                  std::vector<CompileMessage> messages = {})
    {
        NodeSummary node = start(NodeKind::Candidate, idea, title, m_link.details.at(idea).summary.proposer);
        node.state = NodeState::Done;
        node.outcome = outcome;
        node.reason = reason;
        node.cause = outcome == Outcome::NotRun ? NotRunCause::Unsupported : NotRunCause::None;
        NodeDetail detail = written(node, text);
        detail.evaluation.stage = stage;
        detail.evaluation.cause = node.cause;
        detail.evaluation.evidence = std::move(evidence);
        detail.evaluation.build = build(38, 3.1);
        detail.evaluation.build->messages = std::move(messages);
        if (stage == Stage::Build) {
            detail.evaluation.build->kernels.clear();
            detail.evaluation.build->libraryHash.clear();
        } else if (outcome == Outcome::Incorrect) {
            detail.evaluation.verify = verify(37.2);
        }
        return put(node, std::move(detail));
    }

    NodeId running(NodeId idea, const std::string& title, const std::string& text, std::optional<Stage> stage)
    {
        NodeSummary node = start(NodeKind::Candidate, idea, title, m_link.details.at(idea).summary.proposer);
        node.state = stage ? NodeState::Running : NodeState::Queued;
        node.runningStage = stage;
        NodeDetail detail = written(node, text);
        if (stage == Stage::Time || stage == Stage::Verify) {
            detail.evaluation.build = build(40, 3.4);
        }
        return put(node, std::move(detail));
    }

    void draft(NodeId parent, const std::string& title, const std::string& words)
    {
        NodeSummary node = start(NodeKind::Idea, parent, title, "engineer");
        NodeDetail detail;
        detail.ideaText = words;
        put(node, std::move(detail));
    }

    NodeSummary& summary(NodeId node) { return m_link.details.at(node).summary; }

private:
    NodeSummary start(NodeKind kind, std::optional<NodeId> parent, const std::string& title,
                      const std::string& proposer)
    {
        NodeSummary node;
        node.id = NodeId{++m_last};
        node.kind = kind;
        node.title = title;
        node.proposer = proposer;
        if (parent) {
            node.parents = {{*parent, EdgeRole::Primary}};
            node.ordinal = m_ordinals[*parent]++;
        }
        return node;
    }

    NodeId put(const NodeSummary& node, NodeDetail detail)
    {
        detail.createdAt = "2026-11-29T14:0" + std::to_string(m_last % 10) + ":00Z";
        m_link.add(node, std::move(detail));
        return node.id;
    }

    std::int64_t parentCandidate(NodeId node) const
    {
        const NodeSummary& summary = m_link.details.at(node).summary;
        return summary.kind == NodeKind::Idea ? parentCandidate(summary.parents.front().parent) : summary.id.value;
    }

    static Interval around(double value, double width) { return {value, value * (1 - width), value * (1 + width)}; }

    void passed(NodeSummary& node, std::int64_t parent, double speedup)
    {
        node.state = NodeState::Done;
        node.outcome = Outcome::Passed;
        node.provenance = m_provenance;
        const double before = parent ? m_link.details.at(NodeId{parent}).summary.timeUs->value : rootUs;
        node.timeUs = around(before / speedup, 0.004);
        if (parent) {
            node.speedupRoot = around(rootUs / node.timeUs->value, 0.011);
            node.speedupParent = around(speedup, 0.011);
            node.tieWithParent = std::abs(speedup - 1) < 0.01;
        }
    }

    NodeDetail written(const NodeSummary& node, const std::string& text)
    {
        NodeDetail detail;
        const NodeId idea = node.parents.front().parent, parent{parentCandidate(idea)};
        detail.ideaText = m_link.details.at(idea).ideaText;
        detail.source = text;
        detail.parentCandidate = parent;
        detail.parentSource = m_link.details.at(parent).source;
        detail.why = "the new idea under the fastest parent (2.21x)";
        return detail;
    }

    static BuildRecord build(int registers, double seconds)
    {
        BuildRecord record{.key = "key",
                           .libraryHash = "5f1c0a77be21d0",
                           .architecture = "sm_90a",
                           .toolkit = "13.0.88",
                           .seconds = seconds};
        record.kernels = {{"row_softmax", registers, 4096, 0, 0, 0}};
        return record;
    }

    static VerifyRecord verify(double worst)
    {
        VerifyRecord record{.calls = 12, .seconds = 0.82, .sandbox = "bubblewrap"};
        for (const char* shape : {"8x4096", "3x4099", "5x1"}) {
            record.errors.push_back({shape, "y", shape[0] == '3' ? worst : worst * 0.6, 2.1e-7, 6.9e-6, 32768});
        }
        return record;
    }

    Evaluation evaluation(const NodeSummary& node, int registers, double)
    {
        Evaluation result;
        result.build = build(registers, 3.2);
        result.verify = verify(0.11);
        CaseTiming timing{"4096x65536", m_provenance, *node.timeUs, node.speedupRoot, node.speedupParent};
        timing.goalFloorUs = 447;
        timing.blocks = 18;
        timing.samples = 432;
        timing.dropped = m_provenance == Provenance::Measured ? 2 : 0;
        timing.stoppedBy = "interval";
        result.timing = TimingRecord{{timing}, node.timeUs, node.speedupRoot, node.speedupParent};
        result.timing->seconds = 1.9;
        result.timing->timedCalls = 432;
        result.timing->checkedCalls = 432;
        result.timing->fullyCompared = 44;
        return result;
    }

    static constexpr double rootUs = 2312;
    ScriptedLink& m_link;
    Provenance m_provenance;
    std::int64_t m_last = 0;
    std::map<NodeId, int> m_ordinals;
};

std::string replaced(std::string text, const std::string& what, const std::string& with)
{
    if (const auto at = text.find(what); at != std::string::npos) {
        text.replace(at, what.size(), with);
    }
    return text;
}

void tellSession(ScriptedLink& link, Provenance provenance)
{
    const bool model = provenance == Provenance::Model;
    link.info.file = "/home/ada/kernels/softmax_f32.espalier";
    link.info.taskId = "softmax_f32";
    link.info.taskTitle = "Row softmax, fp32";
    link.info.device = model ? "sim" : "cuda:0";
    link.info.deviceName = model ? "Simulated H200" : "NVIDIA H200";
    link.info.provenance = provenance;
    link.info.strategy = "refine";
    link.info.proposers = {"playbook", "tuner"};
    link.info.seed = 1;
}

void tellStatus(ScriptedLink& link, NodeId best)
{
    RunStatus& status = link.status;
    status.state = RunState::Running;
    status.budget.evaluations = 40;
    for (const auto& [id, detail] : link.details) {
        const NodeSummary& node = detail.summary;
        if (node.kind == NodeKind::Idea || node.state != NodeState::Done) {
            continue;
        }
        ++status.evaluations;
        status.passed += node.outcome == Outcome::Passed;
        status.rejected += node.outcome == Outcome::Incorrect || node.outcome == Outcome::Suspicious;
        status.failed += node.outcome == Outcome::BuildFailed || node.outcome == Outcome::RuntimeFailed;
        status.notRun += node.outcome == Outcome::NotRun;
    }
    status.building = 1;
    status.judging = 1;
    status.waiting = 1;
    status.best = best;
    status.bestSpeedupRoot = link.details.at(best).summary.speedupRoot;
    status.bestTimeUs = link.details.at(best).summary.timeUs;
    status.seconds = 214;
    status.secondsLeft = 131;
}

} // namespace

void scriptSoftmax(ScriptedLink& link, Provenance provenance)
{
    tellSession(link, provenance);
    Story story(link, provenance);
    const auto text = [](const std::string& id) { return Story::source("playbook/" + id + ".cu"); };
    const NodeId root = story.root();
    const NodeId warp = story.idea(root, "One warp per row",
                                   "Give each row to a **single warp** and reduce with shuffles. No shared memory and "
                                   "no barriers, so many short rows can be in flight at once.");
    const NodeId vector = story.idea(root, "Vectorise the loads",
                                     "Load and store 16 bytes a thread, with single elements at the ends of rows that "
                                     "start off a 16-byte boundary. Fewer instructions keep more bytes in flight.");
    story.passed(warp, "One warp per row", text("warp_per_row"), 0.62, 34);
    story.summary(warp).pruned = true;
    const NodeId wide = story.passed(vector, "Vectorise the loads", text("vector_loads"), 1.31, 32);
    const NodeId tune = story.idea(wide, "Tune BLOCK", "Try the other values of `BLOCK`: 128, 512, 1024.", "tuner");
    story.passed(tune, "BLOCK = 512", replaced(text("vector_loads"), "256", "512"), 1.004, 32);
    const NodeId small = story.passed(tune, "BLOCK = 128", replaced(text("vector_loads"), "256", "128"), 0.91, 32);
    story.summary(small).outcome = Outcome::Incorrect;
    story.summary(small).overturned = Overturn{Outcome::Incorrect, "our launcher cannot start blocks of 128", "ada",
                                               "2026-11-29T09:12:00Z", Outcome::Passed};
    const NodeId shuffle = story.idea(wide, "Reduce by shuffles",
                                      "Reduce inside each warp by shuffles and only the warps' results through shared "
                                      "memory: one barrier a reduction instead of one for every halving.");
    story.failed(shuffle, "Reduce by shuffles, no barrier", replaced(text("block_reduce"), "__syncthreads();", ""),
                 Outcome::Incorrect, Stage::Verify, "row 17 of call 3 is off by 37 times its tolerance (case 3x4099)",
                 {{"tolerance", "y[17][0]: 0.00021 where the oracle says 0.00028, 37 times the tolerance"},
                  {"tolerance", "the norm of the error is 4.1e-4, its bound 6.9e-6"}});
    const NodeId reduced = story.passed(shuffle, "Reduce by shuffles", text("block_reduce"), 1.38, 36);
    story.summary(reduced).pinned = true;
    const NodeId online =
        story.idea(reduced, "Maximum and sum in one pass",
                   "Find maximum and sum in a single pass: keep the sum of exponentials relative to the largest value "
                   "so far and rescale it when the maximum grows. The row is read twice, not three times.");
    const NodeId once = story.passed(online, "Maximum and sum in one pass", text("online_pass"), 1.22, 40);
    const NodeId held =
        story.idea(once, "Keep the row in registers",
                   "Hold as much of the row as fits in registers between the reduction and the result, so that part is "
                   "read from memory **once**; read only the rest again, while it is still in the L2 cache.\n\n- "
                   "registers per thread rise to about 64\n- occupancy stays at two blocks per multiprocessor");
    const NodeId best = story.passed(held, "Keep the row in registers", text("row_registers"), 1.47, 64);
    const NodeId shared =
        story.idea(best, "Rest of the row in shared memory",
                   "Hold what does not fit in registers in shared memory, fetched there by asynchronous copies. A row "
                   "of 65536 elements then stays on one multiprocessor and is read from memory once.");
    story.running(shared, "Rest of the row in shared memory", text("row_registers_shared"), Stage::Time);
    const NodeId cluster = story.idea(best, "Split the row over a cluster",
                                      "Let a cluster of blocks share one row, all of it in registers, and exchange one "
                                      "maximum and one sum each through distributed shared memory.");
    story.failed(cluster, "Split the row over a cluster", text("row_cluster"), Outcome::NotRun, Stage::Verify,
                 "the simulated device does not know clusters yet");
    const NodeId exp2 = story.idea(reduced, "exp2 with folded scale",
                                   "Fold the factor log2(e) into one multiply-add before `ex2.approx`.");
    const std::string broken = replaced(text("block_reduce"), "__syncthreads();", "__syncthread();");
    const auto line =
        1 + int(std::count(broken.begin(), broken.begin() + std::ptrdiff_t(broken.find("__syncthread();")), '\n'));
    story.failed(exp2, "exp2 with folded scale", broken, Outcome::BuildFailed, Stage::Build,
                 "line " + std::to_string(line) + ": identifier \"__syncthread\" is undefined", {},
                 {{"candidate.cu", line, 9, true, "identifier \"__syncthread\" is undefined"}});
    story.failed(exp2, "exp2, cached in a static", text("block_reduce"), Outcome::Suspicious, Stage::Verify,
                 "the second call wrote nothing and its output was the first call's",
                 {{"poison", "y kept the poison of before the call in 4096 of 4096 rows"}});
    const NodeId tune2 =
        story.idea(once, "Tune BLOCK and UNROLL", "Try `BLOCK` 512 and 1024 with `UNROLL` 2, 4 and 8.", "tuner");
    story.running(tune2, "BLOCK = 512, UNROLL = 4", replaced(text("online_pass"), "256", "512"), Stage::Build);
    story.running(tune2, "BLOCK = 1024, UNROLL = 4", replaced(text("online_pass"), "256", "1024"), std::nullopt);
    story.draft(best, "Refill while writing",
                "Let the blocks stay for the whole call. As soon as a thread has written a piece of the result, start "
                "loading the next row's piece into the same place.");
    tellStatus(link, best);
}

} // namespace espalier
