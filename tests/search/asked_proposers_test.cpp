// SPDX-License-Identifier: Apache-2.0
#include "core/search/asked_proposers.h"

#include "core/base/file.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

class AskedProposersTest : public testing::Test
{
protected:
    AskedProposersTest() : m_folder(ScratchFolder::create("asked").value()), m_journal(makeStore()) {}

    std::unique_ptr<Store> makeStore() const
    {
        SessionInfo info;
        info.taskId = "fake";
        info.proposers = {"playbook", "tuner"};
        return Store::create(m_folder.path() / "s.espalier", info).value();
    }
    void takePart(const std::vector<std::string>& names)
    {
        SessionInfo info = m_journal.info();
        info.proposers = names;
        ASSERT_TRUE(m_journal.setInfo(info));
    }

    ScratchFolder m_folder;
    SessionJournal m_journal;
    AskedProposers m_asked{m_journal};
};

using Names = AskedProposers::Names;

TEST_F(AskedProposersTest, WhoWasAskedAddsUp)
{
    EXPECT_EQ(m_asked.under(NodeId{1}).value(), Names());
    ASSERT_TRUE(m_asked.add(NodeId{1}, {"playbook"}));
    ASSERT_TRUE(m_asked.add(NodeId{1}, {"llm", "playbook"}));
    EXPECT_EQ(m_asked.under(NodeId{1}).value(), (Names{"llm", "playbook"}));
    EXPECT_EQ(m_asked.under(NodeId{11}).value(), Names());
}

TEST_F(AskedProposersTest, AParentIsDoneWhenAllOfThemWereAsked)
{
    ASSERT_TRUE(m_asked.add(NodeId{1}, {"playbook", "tuner"}));
    ASSERT_TRUE(m_asked.add(NodeId{7}, {"playbook", "tuner", "llm"}));
    EXPECT_EQ(m_asked.askedAll({"playbook"}).value(), (std::set<NodeId>{NodeId{1}, NodeId{7}}));
    EXPECT_EQ(m_asked.askedAll({"llm", "tuner"}).value(), (std::set<NodeId>{NodeId{7}}));
    EXPECT_TRUE(m_asked.askedAll({"manual"}).value().empty());
}

TEST_F(AskedProposersTest, AnOlderSessionMeansWhoeverTookPartThen)
{
    ASSERT_TRUE(m_journal.setValue("search.asked.3", "1"));
    EXPECT_EQ(m_asked.under(NodeId{3}).value(), (Names{"playbook", "tuner"}));
    ASSERT_TRUE(m_asked.keepFirst(m_journal.info().proposers));
    takePart({"playbook", "llm"});
    ASSERT_TRUE(m_asked.keepFirst(m_journal.info().proposers)); // the first ones stay
    EXPECT_EQ(m_asked.under(NodeId{3}).value(), (Names{"playbook", "tuner"}));
    EXPECT_TRUE(m_asked.askedAll({"playbook", "llm"}).value().empty());
    ASSERT_TRUE(m_asked.add(NodeId{3}, {"llm"}));
    EXPECT_EQ(m_asked.askedAll({"playbook", "llm"}).value(), (std::set<NodeId>{NodeId{3}}));
}

} // namespace
} // namespace espalier
