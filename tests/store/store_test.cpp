// SPDX-License-Identifier: Apache-2.0
#include "core/store/store.h"

#include "core/base/file.h"
#include "core/store/database.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace espalier;
namespace fs = std::filesystem;

namespace {

class StoreTest : public testing::Test
{
protected:
    void SetUp() override
    {
        auto scratch = ScratchFolder::create("espalier-store-test");
        ASSERT_TRUE(scratch);
        m_scratch.emplace(std::move(*scratch));
        m_file = m_scratch->path() / "s.espalier";
    }

    static SessionInfo info()
    {
        SessionInfo info;
        info.taskId = "softmax_f32";
        info.device = "sim";
        info.seed = 18446744073709551615ull;
        info.proposers = {"playbook", "tuner"};
        info.budget.evaluations = 12;
        return info;
    }

    static StoredNode candidate(std::int64_t id, std::optional<std::int64_t> parent)
    {
        StoredNode node;
        node.id = NodeId{id};
        node.kind = parent ? NodeKind::Candidate : NodeKind::Root;
        node.state = NodeState::Queued;
        node.source = "__global__ void k" + std::to_string(id) + "() {} // ≈";
        node.title = "c" + std::to_string(id);
        node.createdAt = "2026-11-29T12:00:00Z";
        if (parent) {
            node.parents = {{NodeId{*parent}, EdgeRole::Primary}};
        }
        return node;
    }

    std::optional<ScratchFolder> m_scratch;
    fs::path m_file;
};

} // namespace

TEST_F(StoreTest, RoundTrip)
{
    {
        auto store = Store::create(m_file, info());
        ASSERT_TRUE(store) << store.error().message;
        ASSERT_TRUE((*store)->addNode(candidate(1, {})));
        ASSERT_TRUE((*store)->addNode(candidate(2, 1)));
        StoredStage stage;
        stage.node = NodeId{2};
        stage.stage = Stage::Build;
        stage.attempt = 0;
        stage.record.outcome = Outcome::Passed;
        stage.record.build = BuildRecord{.key = "k", .libraryHash = "h", .architecture = "sm_90a"};
        ASSERT_TRUE((*store)->addStage(stage));
        stage.record.outcome = Outcome::BuildFailed;
        ASSERT_TRUE((*store)->addStage(stage));
        ASSERT_TRUE((*store)->addSeconds(1.5));
        ASSERT_TRUE((*store)->setValue("strategy", "{}"));
        ASSERT_TRUE((*store)->addAct({"now", "engineer", R"({"pin":2})"}));
    }
    auto store = Store::open(m_file, Store::Mode::ReadWrite);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->info().seed, 18446744073709551615ull);
    EXPECT_EQ((*store)->info().budget.evaluations, 12);
    EXPECT_DOUBLE_EQ((*store)->secondsSpent(), 1.5);
    const auto nodes = (*store)->nodes();
    ASSERT_TRUE(nodes);
    ASSERT_EQ(nodes->size(), 2u);
    EXPECT_EQ((*nodes)[1].parents, (std::vector<Edge>{{NodeId{1}, EdgeRole::Primary}}));
    EXPECT_EQ((*nodes)[1].source, candidate(2, 1).source);
    const auto stages = (*store)->stages(NodeId{2});
    ASSERT_TRUE(stages) << stages.error().message;
    ASSERT_EQ(stages->size(), 2u);
    EXPECT_EQ((*stages)[0].attempt, 1);
    EXPECT_EQ((*stages)[1].attempt, 2);
    EXPECT_EQ((*stages)[1].record.outcome, Outcome::BuildFailed);
    EXPECT_EQ((*stages)[0].record.build->libraryHash, "h");
    EXPECT_EQ(*(*store)->value("strategy"), "{}");
    EXPECT_EQ((*store)->acts()->size(), 1u);
}

TEST_F(StoreTest, RunningNodesReturnToTheQueue)
{
    {
        auto store = Store::create(m_file, info());
        StoredNode node = candidate(1, {});
        node.state = NodeState::Running;
        ASSERT_TRUE((*store)->addNode(node));
    }
    auto store = Store::open(m_file, Store::Mode::ReadWrite);
    EXPECT_EQ((*store)->nodes()->front().state, NodeState::Queued);
}

TEST_F(StoreTest, SecondWriterIsToldWhoHoldsIt)
{
    auto first = Store::create(m_file, info());
    ASSERT_TRUE(first);
    auto second = Store::open(m_file, Store::Mode::ReadWrite);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::Busy);
    EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos)
        << second.error().message;
    auto reader = Store::open(m_file, Store::Mode::ReadOnly);
    EXPECT_TRUE(reader) << reader.error().message;
}

TEST_F(StoreTest, StrangersAreRefusedWithOneSentence)
{
    EXPECT_EQ(Store::open(m_file, Store::Mode::ReadOnly).error().code, ErrorCode::NotFound);
    ASSERT_TRUE(
        writeFileAtomically(m_file, "this is a letter to my grandmother, it is long enough to have a header\n"));
    for (const auto mode : {Store::Mode::ReadOnly, Store::Mode::ReadWrite}) {
        const auto opened = Store::open(m_file, mode);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, ErrorCode::InvalidInput);
        EXPECT_NE(opened.error().message.find("is not an Espalier session"), std::string::npos)
            << opened.error().message;
    }
    EXPECT_FALSE(Store::create(m_file, info())); // and it is not overwritten
    ASSERT_TRUE(writeFileAtomically(m_file, ""));
    EXPECT_FALSE(Store::open(m_file, Store::Mode::ReadOnly));
    EXPECT_FALSE(Store::open(m_scratch->path(), Store::Mode::ReadOnly));
}

TEST_F(StoreTest, NewerSessionIsRefusedUnlessItSaysWeMayReadIt)
{
    {
        ASSERT_TRUE(Store::create(m_file, info()));
        auto database = Database::open(m_file, Database::Mode::ReadWrite);
        ASSERT_TRUE(
            database->execute("PRAGMA user_version = 7; UPDATE meta SET value = '7' WHERE key = 'minimum_version'"));
    }
    const auto opened = Store::open(m_file, Store::Mode::ReadWrite);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::VersionTooNew);
    {
        auto database = Database::open(m_file, Database::Mode::ReadWrite);
        ASSERT_TRUE(database->execute("UPDATE meta SET value = '1' WHERE key = 'minimum_version'"));
    }
    EXPECT_TRUE(Store::open(m_file, Store::Mode::ReadWrite));
}

TEST_F(StoreTest, TwoPrimaryParentsAreImpossible)
{
    auto store = Store::create(m_file, info());
    ASSERT_TRUE((*store)->addNode(candidate(1, {})));
    ASSERT_TRUE((*store)->addNode(candidate(2, {})));
    StoredNode node = candidate(3, 1);
    node.parents.push_back({NodeId{2}, EdgeRole::Primary});
    EXPECT_FALSE((*store)->addNode(node));
    EXPECT_EQ((*store)->nodes()->size(), 2u);          // the transaction was rolled back whole
    EXPECT_FALSE((*store)->addNode(candidate(4, 99))); // a parent that does not exist
}

/// A kill -9 at a random moment: everything that was reported as stored is there afterwards.
TEST_F(StoreTest, KillLosesNothingThatWasReported)
{
    ASSERT_TRUE(Store::create(m_file, info()));
    for (int round = 0; round < 5; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            auto store = Store::open(m_file, Store::Mode::ReadWrite);
            if (!store) {
                ::_exit(1);
            }
            const auto nodes = (*store)->nodes();
            std::int64_t id = nodes->empty() ? 1 : nodes->back().id.value + 1;
            for (;; ++id) {
                if (!(*store)->addNode(candidate(id, {}))) {
                    ::_exit(2);
                }
                (void)!::write(ends[1], &id, sizeof id);
            }
        }
        ::close(ends[1]);
        std::int64_t last = 0, id = 0;
        for (int i = 0; i < 10 + 7 * round && ::read(ends[0], &id, sizeof id) == sizeof id; ++i) {
            last = id;
        }
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        ::close(ends[0]);
        auto store = Store::open(m_file, Store::Mode::ReadWrite);
        ASSERT_TRUE(store) << store.error().message;
        ASSERT_GE((*store)->nodes()->back().id.value, last);
        ASSERT_GT(last, 0);
    }
}

/// A file-size limit stands in for a full disk: the write fails with one sentence and what was there stays readable.
TEST_F(StoreTest, NoRoomIsAnErrorAndNothingIsLost)
{
    ASSERT_TRUE(Store::create(m_file, info()));
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit = {300'000, 300'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        auto store = Store::open(m_file, Store::Mode::ReadWrite);
        if (!store) {
            ::_exit(1);
        }
        std::int64_t stored = 0;
        for (std::int64_t id = 1; id < 1000; ++id) {
            StoredNode node = candidate(id, {});
            node.source = std::string(20'000, 'a' + static_cast<char>(id % 26)) + std::to_string(id);
            const auto added = (*store)->addNode(node);
            if (!added) {
                const bool said = added.error().code == ErrorCode::Io;
                ::_exit(said && (*store)->nodes() && static_cast<std::int64_t>((*store)->nodes()->size()) == stored
                            ? 0
                            : 3);
            }
            ++stored;
        }
        ::_exit(4);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    auto store = Store::open(m_file, Store::Mode::ReadWrite);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_FALSE((*store)->nodes()->empty());
}

TEST_F(StoreTest, ReadOnlyFolderCanBeShownAndSaysWhyItCannotBeWritten)
{
    ASSERT_TRUE(Store::create(m_file, info()));
    ::chmod(m_scratch->path().c_str(), 0555);
    ::chmod(m_file.c_str(), 0444);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) { // root may write everywhere
            ::_exit(9);
        }
        const auto reader = Store::open(m_file, Store::Mode::ReadOnly);
        const auto writer = Store::open(m_file, Store::Mode::ReadWrite);
        const auto created = Store::create(m_scratch->path() / "new.espalier", info());
        ::_exit(!reader                                            ? 1
                : writer || writer.error().code != ErrorCode::Io   ? 2
                : created || created.error().code != ErrorCode::Io ? 3
                                                                   : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    ::chmod(m_scratch->path().c_str(), 0755);
}
