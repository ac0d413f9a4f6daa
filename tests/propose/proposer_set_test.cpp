// SPDX-License-Identifier: Apache-2.0
#include "core/propose/proposer_set.h"

#include "core/propose/instant_proposer.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

class Named final : public InstantProposer
{
public:
    Named(std::string name, bool writes, int& alive) : m_name(std::move(name)), m_writes(writes), m_alive(alive)
    {
        ++m_alive;
    }
    ~Named() override { --m_alive; }
    std::string_view name() const override { return m_name; }
    bool readsBackground() const override { return m_writes; }
    std::optional<Held> held() const override { return m_held; }

    std::optional<Held> m_held;

protected:
    std::vector<ProposedIdea> offer(const IdeaContext&) const override { return {}; }
    proposer::Implementation write(const ImplementContext&) const override { return {.id = RequestId{0}}; }

private:
    std::string m_name;
    bool m_writes;
    int& m_alive;
};

class ProposerSetTest : public testing::Test
{
protected:
    std::unique_ptr<Proposer> make(const std::string& name, bool writes = false)
    {
        return std::make_unique<Named>(name, writes, m_alive);
    }
    ProposerSet setOf(const std::vector<std::string>& names)
    {
        ProposerSet::List list;
        for (const std::string& name : names) {
            list.push_back(make(name, name == "llm"));
        }
        return ProposerSet(std::move(list));
    }
    static std::vector<std::string> namesOf(const ProposerSet& set)
    {
        std::vector<std::string> names;
        for (const auto& proposer : set) {
            names.emplace_back(proposer->name());
        }
        return names;
    }

    int m_alive = 0;
};

TEST_F(ProposerSetTest, FindsByNameAndByWhatTheyDo)
{
    const ProposerSet set = setOf({"playbook", "llm"});
    EXPECT_EQ(set.named("llm")->name(), "llm");
    EXPECT_EQ(set.named("tuner"), nullptr);
    EXPECT_EQ(set.writer(), set.named("llm"));
    EXPECT_EQ(setOf({"playbook"}).writer(), nullptr);
    EXPECT_FALSE(set.held());
    static_cast<Named*>(set.named("llm"))->m_held = Held{true, "a cap"};
    EXPECT_EQ(set.held()->sentence, "a cap");
}

TEST_F(ProposerSetTest, WhoStaysIsTheSameAndWhoLeavesIsGone)
{
    ProposerSet set = setOf({"playbook", "tuner", "llm"});
    const Proposer* tuner = set.named("tuner");
    const Proposer* model = set.named("llm");
    ProposerSet::List made;
    made.push_back(make("llm", true));
    made.push_back(make("manual"));
    const std::vector<std::string> names = {"manual", "tuner", "llm"};
    const std::vector<Proposer*> leaving = set.leaving(names, made);
    ASSERT_EQ(leaving.size(), 2u);
    EXPECT_EQ(leaving[0]->name(), "playbook");
    EXPECT_EQ(leaving[1], model) << "another one comes in its place";
    set.change(names, std::move(made));
    EXPECT_EQ(namesOf(set), names);
    EXPECT_EQ(set.named("tuner"), tuner);
    EXPECT_NE(set.named("llm"), model);
    EXPECT_EQ(m_alive, 3);
}

TEST_F(ProposerSetTest, NobodyLeavesWhereAllAreNamedAgain)
{
    ProposerSet set = setOf({"playbook", "tuner"});
    EXPECT_TRUE(set.leaving({"tuner", "playbook"}, {}).empty());
    set.change({"tuner", "playbook"}, {});
    EXPECT_EQ(namesOf(set), (std::vector<std::string>{"tuner", "playbook"}));
}

} // namespace
} // namespace espalier
