// SPDX-License-Identifier: Apache-2.0
// What models are told is read from the whole session: it is put together for those who read it, and for nobody else.
#include "core/propose/instant_proposer.h"
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

struct Seen {
    int with = 0, without = 0; ///< kernels that were asked for with a background, and without one
};

class Asked final : public InstantProposer
{
public:
    Asked(std::string name, bool reads, Seen& seen) : m_name(std::move(name)), m_reads(reads), m_seen(seen) {}
    std::string_view name() const override { return m_name; }
    bool readsBackground() const override { return m_reads; }

protected:
    std::vector<ProposedIdea> offer(const IdeaContext& context) const override
    {
        return {{.key = m_name,
                 .title = m_name,
                 .text = "go on from node " + std::to_string(context.parent.value),
                 .payload = "{}",
                 .implementations = 1}};
    }
    proposer::Implementation write(const ImplementContext& context) const override
    {
        ++(context.background ? m_seen.with : m_seen.without);
        proposer::Implementation answer{.id = RequestId{0}};
        answer.source =
            m_name + std::to_string(context.idea.value) + " time=" + std::to_string(90 - context.idea.value) + " \n";
        answer.payload = "{}";
        return answer;
    }

private:
    std::string m_name;
    bool m_reads;
    Seen& m_seen;
};

TEST(BackgroundOfModels, IsNotReadForTheTunerBesideThem)
{
    Seen model, tuner;
    EngineHarness engine;
    engine.options.budget = Budget{.evaluations = 6};
    engine.makeProposers = [&](const ProposerChoice&) -> Result<std::vector<std::unique_ptr<Proposer>>> {
        std::vector<std::unique_ptr<Proposer>> proposers;
        proposers.push_back(std::make_unique<Asked>("model", true, model));
        proposers.push_back(std::make_unique<Asked>("tuner", false, tuner));
        return proposers;
    };
    ASSERT_TRUE(engine.open());
    engine.run();
    ASSERT_EQ(engine.status.evaluations, 6) << engine.tree();
    EXPECT_GT(model.with, 0) << engine.tree();
    EXPECT_EQ(model.without, 0);
    EXPECT_GT(tuner.without, 0) << engine.tree();
    EXPECT_EQ(tuner.with, 0);
}

} // namespace
} // namespace espalier
