// SPDX-License-Identifier: Apache-2.0
#include "tests/scale/large_session.h"

#include "core/engine/engine_core.h"
#include "core/propose/instant_proposer.h"
#include "core/search/node_payload.h"
#include "core/store/store.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {
namespace {

constexpr std::string_view endlessName = "playbook"; ///< its texts are known, so that they are compared with nothing

class EndlessProposer final : public InstantProposer
{
public:
    explicit EndlessProposer(bool model) : m_model(model) {}
    std::string_view name() const override { return endlessName; }
    bool readsBackground() const override { return m_model; }

protected:
    std::vector<ProposedIdea> offer(const IdeaContext& context) const override
    {
        const auto idea = [&](const char* key, int implementations) {
            return ProposedIdea{.key = key,
                                .title = fmt::format("{} under {}", key, context.parent.value),
                                .text = "go on",
                                .payload = "{}",
                                .implementations = implementations};
        };
        return {idea("single", 1), idea("series", 6)};
    }
    proposer::Implementation write(const ImplementContext& context) const override
    {
        proposer::Implementation answer{.id = RequestId{0}};
        answer.source = fmt::format("k{}_{} time={} \n", context.idea.value, context.ordinal,
                                    40 + (context.idea.value * 7 + context.ordinal) % 60);
        answer.payload = "{}";
        return answer;
    }

private:
    bool m_model;
};

Evaluation outcomeOf(std::int64_t id, const SessionInfo& info)
{
    Evaluation evaluation;
    evaluation.stage = Stage::Time;
    evaluation.epoch = info.epoch;
    evaluation.build = BuildRecord{};
    evaluation.build->kernels.push_back({.kernel = "kernel", .registers = static_cast<int>(32 + id % 200)});
    if (id % 5 == 0) {
        evaluation.outcome = Outcome::Incorrect;
        evaluation.reason = "output y[3][7] is 1.25 and should be 1.5";
        return evaluation;
    }
    evaluation.outcome = Outcome::Passed;
    TimingRecord timing;
    CaseTiming one;
    one.caseId = "case";
    one.provenance = info.provenance;
    const double speedup = 1 + static_cast<double>(id % 977) / 977;
    one.timeUs = {100 / speedup, 99.9 / speedup, 100.1 / speedup};
    one.samplesUs.assign(30, 100 / speedup);
    timing.cases.push_back(one);
    timing.objectiveUs = one.timeUs;
    timing.speedupRoot = Interval{speedup, speedup * 0.999, speedup * 1.001};
    timing.speedupParent = timing.speedupRoot;
    evaluation.timing = timing;
    return evaluation;
}

/// About 4 kB of what looks like a kernel; a fourth of its lines are its own.
std::string textOf(std::int64_t id)
{
    std::string text = fmt::format("n{} time={} \n__shared__ float tile[32];\n", id, 40 + id % 60);
    for (std::int64_t line = 0; line < 80; ++line) {
        const std::int64_t own = line % 4 == 0 ? id * 31 : 0;
        text += fmt::format("const float v{} = in[{} * row + {}] + out[{}];\n", line, line + own, line * 7 + own, own);
    }
    return text;
}

Result<void> addNodes(Store& store, std::int64_t count)
{
    std::vector<NodeId> ideas, candidates = {taskRoot};
    std::map<NodeId, int> tries;
    std::uint64_t state = 7;
    const auto oneOfTheLast = [&state](const std::vector<NodeId>& nodes, std::size_t most) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return nodes[nodes.size() - 1 - (state >> 33) % std::min(nodes.size(), most)];
    };
    for (std::int64_t id = 2; id <= count; ++id) {
        StoredNode node;
        node.id = NodeId{id};
        node.title = fmt::format("node {}", id);
        node.createdAt = "2026-01-01T00:00:00.000Z";
        node.proposer = endlessName;
        if (id % 3 == 2) {
            node.kind = NodeKind::Idea;
            node.parents = {{oneOfTheLast(candidates, 2000), EdgeRole::Primary}};
            node.payload = NodePayload{fmt::format("key{}", id), id % 9 == 2 ? 24 : 3, "{}", 0, 0}.text();
            ideas.push_back(node.id);
            ESPALIER_CHECK(store.addNode(node));
            continue;
        }
        const Evaluation evaluation = outcomeOf(id, store.info());
        node.kind = NodeKind::Candidate;
        node.parents = {{oneOfTheLast(ideas, 1000), EdgeRole::Primary}};
        ++tries[node.parents.front().parent];
        node.state = NodeState::Done;
        node.source = textOf(id);
        node.payload = NodePayload::withEnded("{}", EndedRecord::of(evaluation, node.source));
        ESPALIER_CHECK(store.addNode(node));
        if (id % 10 == 1) { // the records are not read: a tenth will do
            ESPALIER_CHECK(store.addStage({node.id, Stage::Time, 0, evaluation, 1, node.createdAt}));
        }
        if (evaluation.outcome == Outcome::Passed) {
            candidates.push_back(node.id);
            if (id < count - 100) {
                ESPALIER_CHECK(store.setValue(fmt::format("search.asked.{}", id), "1"));
            }
        }
    }
    for (const auto& [id, made] : tries) {
        ESPALIER_TRY(auto idea, store.node(id));
        idea->state = made < NodePayload::parse(idea->payload).planned ? NodeState::Queued : NodeState::Done;
        ESPALIER_CHECK(store.updateNode(*idea));
    }
    return store.setValue("search.consumed", std::to_string(count));
}

} // namespace

EngineParts largeSessionParts(FakeLedger& ledger, bool model)
{
    EngineParts parts;
    parts.builders = 4;
    parts.loadTask = [](std::string_view) -> Result<Task> { return fakeTask(); };
    parts.makeBuildPool = [&ledger] { return std::make_unique<FakeBuildPool>(ledger, std::nullopt); };
    parts.startJudge = [&ledger](const std::string&) -> Result<std::unique_ptr<Evaluator>> {
        return std::make_unique<FakeEvaluator>(ledger, fakeHello(), std::make_shared<int>(0));
    };
    parts.makeProposers = [model](const ProposerChoice&) -> Result<std::vector<std::unique_ptr<Proposer>>> {
        std::vector<std::unique_ptr<Proposer>> proposers;
        proposers.push_back(std::make_unique<EndlessProposer>(model));
        return proposers;
    };
    parts.toolkit = [] { return std::string("13.0.88"); };
    parts.seconds = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    return parts;
}

Result<void> writeLargeSession(const std::filesystem::path& file, std::int64_t nodes)
{
    FakeLedger ledger;
    EngineOptions options;
    options.session = file;
    options.task = "fake";
    options.proposers = std::vector<std::string>{std::string(endlessName)};
    options.budget = Budget{.evaluations = 0};
    RunState state = RunState::Idle;
    {
        ESPALIER_TRY(const auto engine,
                     EngineCore::open(options, largeSessionParts(ledger), [](const event::Event&) {}));
        engine->begin();
        engine->handle(command::Run{});
        for (int turns = 0; turns < 1000 && engine->state() == RunState::Running; ++turns) {
            engine->turn(-1, 0);
        }
        state = engine->state();
    }
    if (state != RunState::Finished) {
        return fail(ErrorCode::Internal, "The large session's root was not measured.");
    }
    ESPALIER_TRY(const auto store, Store::open(file, Store::Mode::ReadWrite));
    return addNodes(*store, nodes);
}

} // namespace espalier
