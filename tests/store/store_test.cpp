// SPDX-License-Identifier: Apache-2.0
#include "core/store/store.h"

#include "core/base/file.h"
#include "core/base/hash.h"
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

TEST_F(StoreTest, WhatFailsTogetherIsForgottenInMemoryToo)
{
    const auto store = Store::create(m_file, info()).value();
    const auto failed = store->together([&]() -> Result<void> {
        SessionInfo changed = store->info();
        changed.deviceName = "NVIDIA H200";
        EXPECT_TRUE(store->setInfo(changed));
        return fail(ErrorCode::Io, "no space");
    });
    EXPECT_FALSE(failed);
    EXPECT_EQ(store->info().deviceName, "");
}

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
    ::chmod(m_scratch->path().parent_path().c_str(), 0755); // a scratch folder is for its owner alone
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

/// What a session of version 2 was: no editions.
TEST_F(StoreTest, AnOlderSessionIsBroughtUpToDate)
{
    {
        auto store = Store::create(m_file, info());
        ASSERT_TRUE((*store)->addNode(candidate(1, {})));
        StoredStage stage;
        stage.node = NodeId{1};
        stage.stage = Stage::Verify;
        stage.attempt = 0;
        ASSERT_TRUE((*store)->addStage(stage));
    }
    {
        auto database = Database::open(m_file, Database::Mode::ReadWrite);
        ASSERT_TRUE(
            database->execute("DROP TABLE editions; ALTER TABLE stages DROP COLUMN edition; PRAGMA user_version "
                              "= 2; UPDATE meta SET value = '1' WHERE key = 'minimum_version'"));
    }
    {
        auto reader = Store::open(m_file, Store::Mode::ReadOnly);
        ASSERT_TRUE(reader) << reader.error().message;
        EXPECT_EQ((*reader)->info().edition, 0);
        EXPECT_TRUE((*reader)->editions()->empty());
        EXPECT_EQ((*reader)->stages(NodeId{1})->size(), 1u);
    }
    auto store = Store::open(m_file, Store::Mode::ReadWrite);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->addEdition({.id = 0, .hash = "h", .parts = "{}", .createdAt = "now"}, {}).value_or(0), 1);
    EXPECT_EQ((*store)->stages(NodeId{1})->front().edition, 1);
}

TEST_F(StoreTest, EditionsKeepTheirTextsAndRecordsNameThem)
{
    const std::string bytes("a\0b\xff", 4);
    {
        auto store = Store::create(m_file, info());
        ASSERT_TRUE((*store)->addNode(candidate(1, {})));
        EXPECT_EQ((*store)->info().edition, 0);
        ASSERT_EQ((*store)->addEdition({.id = 0, .hash = "one", .parts = R"({"root":"x"})", .createdAt = "1"},
                                       {{"x", "text"}}),
                  1);
        StoredStage stage;
        stage.node = NodeId{1};
        stage.stage = Stage::Verify;
        stage.attempt = 0;
        ASSERT_TRUE((*store)->addStage(stage));
        ASSERT_EQ(
            (*store)->addEdition({.id = 0, .hash = "two", .parts = "{}", .createdAt = "2"}, {{"y", bytes}, {"z", ""}}),
            2);
        EXPECT_EQ((*store)->editionsOfNodes()->at(NodeId{1}), 1);
        stage.stage = Stage::Time;
        ASSERT_TRUE((*store)->addStage(stage));
        EXPECT_EQ((*store)->editionsOfNodes()->at(NodeId{1}), 2);
        ASSERT_TRUE((*store)->setInfo(info()));
        EXPECT_EQ((*store)->info().edition, 2) << "it is the table's to say";
    }
    auto store = Store::open(m_file, Store::Mode::ReadOnly);
    EXPECT_EQ((*store)->info().edition, 2);
    const auto editions = (*store)->editions();
    ASSERT_EQ(editions->size(), 2u);
    EXPECT_EQ(editions->front().hash, "one");
    EXPECT_EQ((*store)->text(sha256("text"))->value_or(""), "text");
    EXPECT_EQ((*store)->text(sha256(bytes))->value_or(""), bytes);
    EXPECT_EQ((*store)->text(sha256(""))->value_or("none"), "");
    EXPECT_FALSE((*store)->text(sha256("never kept"))->has_value());
    EXPECT_EQ((*store)->stages(NodeId{1})->front().edition, 1);
    EXPECT_EQ((*store)->stages(NodeId{1})->back().edition, 2);
}

TEST_F(StoreTest, ARestingSessionIsWholeWithoutItsWal)
{
    const fs::path wal = m_file.string() + "-wal", copy = m_scratch->path() / "copy.espalier";
    {
        auto store = Store::create(m_file, info());
        EXPECT_EQ(fs::file_size(wal), 0u) << "it can be opened from its first moment on";
        ASSERT_TRUE((*store)->addNode(candidate(1, {})));
        EXPECT_GT(fs::file_size(wal), 0u);
        ASSERT_TRUE((*store)->checkpoint());
        EXPECT_EQ(fs::file_size(wal), 0u);
        EXPECT_TRUE(*(*store)->checkpoint()) << "nothing to do";
        ASSERT_TRUE((*store)->addNode(candidate(2, 1)));
        fs::copy_file(m_file, copy);
        auto reader = Store::open(m_file, Store::Mode::ReadOnly);
        EXPECT_EQ((*reader)->nodes()->size(), 2u);
        EXPECT_EQ((*reader)->info().remark, "");
    }
    EXPECT_FALSE(fs::exists(wal)) << "a closed session is one file";
    for (const auto mode : {Store::Mode::ReadOnly, Store::Mode::ReadWrite}) {
        auto opened = Store::open(copy, mode);
        ASSERT_TRUE(opened) << opened.error().message;
        EXPECT_EQ((*opened)->nodes()->size(), 1u);
        const std::string& remark = (*opened)->info().remark;
        EXPECT_NE(remark.find(copy.string() + " is a copy without its -wal file"), std::string::npos) << remark;
        EXPECT_NE(remark.find(" UTC, "), std::string::npos) << remark;
        EXPECT_NE(remark.find(" ago. "), std::string::npos) << remark;
    }
    {
        auto opened = Store::open(copy, Store::Mode::ReadOnly);
        EXPECT_EQ((*opened)->info().remark, "") << "it is a session of its own since it was opened";
    }
    auto whole = Store::open(m_file, Store::Mode::ReadOnly);
    EXPECT_EQ((*whole)->nodes()->size(), 2u);
    EXPECT_EQ((*whole)->info().remark, "");
}

/// A process that is killed while it rests has lost nothing, and nobody is told otherwise.
TEST_F(StoreTest, AKilledSessionIsNoCopy)
{
    const pid_t child = ::fork();
    if (child == 0) {
        auto store = Store::create(m_file, info());
        (void)(*store)->addNode(candidate(1, {}));
        (void)(*store)->checkpoint();
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(fs::file_size(m_file.string() + "-wal"), 0u);
    for (const auto mode : {Store::Mode::ReadOnly, Store::Mode::ReadWrite}) {
        auto store = Store::open(m_file, mode);
        EXPECT_EQ((*store)->info().remark, "");
        EXPECT_EQ((*store)->nodes()->size(), 1u);
    }
}

TEST_F(StoreTest, ACopyIsWholeWhileTheSessionIsWritten)
{
    const fs::path to = m_scratch->path() / "copy of it.espalier";
    auto store = Store::create(m_file, info());
    ASSERT_TRUE((*store)->addNode(candidate(1, {})));
    const auto copied = Store::copy(m_file, to);
    ASSERT_TRUE(copied) << copied.error().message;
    ASSERT_TRUE((*store)->addNode(candidate(2, 1))) << "the writer goes on";
    EXPECT_EQ(std::distance(fs::directory_iterator(m_scratch->path()), fs::directory_iterator()), 4)
        << "no part is left";
    {
        auto copy = Store::open(to, Store::Mode::ReadWrite);
        ASSERT_TRUE(copy) << copy.error().message;
        EXPECT_EQ((*copy)->nodes()->size(), 1u);
        EXPECT_EQ((*copy)->info().remark, "");
    }
    const auto refused = Store::copy(m_file, to);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
    EXPECT_EQ(refused.error().message, to.string() + " exists already, and nothing is overwritten: name another file");
    EXPECT_EQ(Store::copy(m_file, m_scratch->path() / "no/such/folder.espalier").error().code, ErrorCode::NotFound);
    EXPECT_EQ(Store::copy(m_scratch->path() / "nothing", m_scratch->path() / "x").error().code, ErrorCode::NotFound);
}

/// A question without an answer, over the end of the process that asked it.
TEST_F(StoreTest, AQuestionStaysOpenWhereNobodyBillsAndIsLostElsewhere)
{
    auto store = Store::create(m_file, info()).value();
    const auto ask = [&store](const std::string& key, const std::string& provider, const std::string& prompt,
                              const std::string& purpose = "implement") {
        Exchange exchange;
        exchange.purpose = purpose;
        exchange.node = NodeId{1};
        exchange.key = key;
        exchange.provider = provider;
        exchange.prompt = prompt;
        exchange.id = store->addExchange(exchange).value();
        return exchange;
    };
    ask("person", "manual", "to a person");
    ask("program", "command", "to a program");
    ask("server", "anthropic", "to a server");
    ask("lessons", "command", "what was learned", "summarise-lessons");
    ask("paid lessons", "anthropic", "what was learned", "summarise-lessons");
    Exchange answered = ask("settled", "openai", "at first");
    answered.state = Exchange::State::Lost;
    ASSERT_TRUE(store->updateExchange(answered));
    answered = ask("settled", "openai", "once more");
    answered.state = Exchange::State::Answered;
    ASSERT_TRUE(store->updateExchange(answered));
    store.reset();
    store = Store::open(m_file, Store::Mode::ReadWrite).value();
    const auto unanswered = [&store](const char* key) { return store->unansweredExchange(key).value(); };
    ASSERT_TRUE(unanswered("person") && unanswered("program") && unanswered("server"));
    EXPECT_EQ(unanswered("person")->state, Exchange::State::Sent);
    EXPECT_EQ(unanswered("person")->prompt, "to a person");
    EXPECT_EQ(unanswered("program")->state, Exchange::State::Sent);
    EXPECT_EQ(unanswered("server")->state, Exchange::State::Lost);
    EXPECT_EQ(unanswered("paid lessons")->state, Exchange::State::Lost);
    EXPECT_NE(unanswered("paid lessons")->reason.find("may have billed"), std::string::npos);
    EXPECT_FALSE(unanswered("lessons")) << "nobody asks those again";
    const Exchange ended = store->exchanges().value().at(3);
    EXPECT_EQ(ended.state, Exchange::State::Failed);
    EXPECT_EQ(ended.reason, "Espalier ended before the answer came.");
    EXPECT_NE(ended.endedAt, "");
    EXPECT_EQ(unanswered("server")->prompt, "to a server");
    EXPECT_FALSE(unanswered("settled")) << "what was lost was answered later";
    EXPECT_FALSE(unanswered("never asked"));
}
