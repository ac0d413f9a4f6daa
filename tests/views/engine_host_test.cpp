// SPDX-License-Identifier: GPL-3.0-only
// The window's workbench over the real engine: sessions on disk, no search is run.
#include "views/engine_host.h"
#include "views/workbench.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <filesystem>
#include <gtest/gtest.h>

using namespace espalier;

namespace {

class EngineHostTest : public testing::Test
{
protected:
    EngineHostTest()
    {
        QObject::connect(&bench.bridge(), &EngineBridge::openFailed, &bench,
                         [this](const Error& error) { refusal = error.message; });
    }

    static bool waitFor(const std::function<bool()>& ready)
    {
        QElapsedTimer clock;
        clock.start();
        while (!ready()) {
            if (clock.elapsed() > 60000) {
                return false;
            }
            QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        }
        return true;
    }

    EngineOptions fresh() const
    {
        EngineOptions options;
        options.session = path("s.espalier");
        options.task = "softmax_f32";
        options.device = "sim";
        return options;
    }
    std::string path(const char* name) const { return folder.filePath(QString::fromLatin1(name)).toStdString(); }
    bool open(EngineOptions options)
    {
        refusal.clear();
        bench.bridge().open(std::move(options));
        return waitFor([this] { return !refusal.empty() || (bench.session() && bench.nodes().count() > 0); }) &&
               refusal.empty();
    }

    QTemporaryDir folder;
    ThemeManager themes;
    Workbench bench{std::make_unique<EngineHost>(), themes};
    std::string refusal;
};

} // namespace

TEST_F(EngineHostTest, ANewSessionShowsItsRootAndKeepsAPin)
{
    ASSERT_TRUE(open(fresh())) << refusal;
    EXPECT_EQ(bench.session()->taskId, "softmax_f32");
    EXPECT_EQ(bench.provenance(), Provenance::Model);
    ASSERT_TRUE(bench.selected());
    const NodeId root = *bench.selected();
    ASSERT_TRUE(waitFor([&] { return bench.detail(root) != nullptr; }));
    EXPECT_NE(bench.detail(root)->source.find("softmax_f32"), std::string::npos);
    bench.bridge().send(command::SetPinned{root, true});
    ASSERT_TRUE(waitFor([&] { return bench.nodes().at(0).pinned; }));

    bench.bridge().close();
    EXPECT_FALSE(bench.session());
    EngineOptions again;
    again.session = path("s.espalier");
    ASSERT_TRUE(open(again)) << refusal; // waits, off this thread, until the old engine has let go of the file
    EXPECT_TRUE(bench.nodes().at(0).pinned);
}

TEST_F(EngineHostTest, StopKeepsTheSessionOpen)
{
    ASSERT_TRUE(open(fresh())) << refusal;
    int reopened = 0;
    QObject::connect(&bench, &Workbench::sessionOpened, &bench, [&] { ++reopened; });
    bench.stopSearch();
    ASSERT_TRUE(waitFor([&] { return reopened == 1; })) << refusal;
    EXPECT_GT(bench.nodes().count(), 0);
    EXPECT_TRUE(bench.selected());
}

TEST_F(EngineHostTest, WhatIsNoSessionIsRefusedWithItsName)
{
    QFile file(folder.filePath(QStringLiteral("notes.txt")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(
        "not a session, but long enough to look at: ................................................................");
    file.close();
    EngineOptions options;
    options.session = path("notes.txt");
    EXPECT_FALSE(open(options));
    EXPECT_NE(refusal.find("notes.txt"), std::string::npos) << refusal;
    options.session = path("absent.espalier");
    EXPECT_FALSE(open(options)); // a new session needs a task
    EXPECT_FALSE(refusal.empty());
    EXPECT_FALSE(bench.session());
}

TEST_F(EngineHostTest, ASecondWindowLooksAtWhatTheFirstOneHas)
{
    ASSERT_TRUE(open(fresh())) << refusal;
    Workbench second(std::make_unique<EngineHost>(), themes);
    EngineOptions options;
    options.session = path("s.espalier");
    second.bridge().open(options);
    ASSERT_TRUE(waitFor([&] { return second.session().has_value(); }));
    EXPECT_TRUE(second.whyNotSearched().contains(QStringLiteral("s.espalier")))
        << second.whyNotSearched().toStdString();
    EXPECT_EQ(second.nodes().count(), bench.nodes().count());
    const NodeId root = second.nodes().at(0).id;
    ASSERT_TRUE(waitFor([&] { return second.detail(root) != nullptr; }));
    EXPECT_NE(second.detail(root)->source.find("softmax_f32"), std::string::npos);
    std::string sentence;
    QObject::connect(&second.bridge(), &EngineBridge::commandFailed, &second,
                     [&](const QString&, const Error& error) { sentence = error.message; });
    second.bridge().send(command::SetPinned{root, true});
    ASSERT_TRUE(waitFor([&] { return !sentence.empty(); }));
    EXPECT_NE(sentence.find("only be looked at"), std::string::npos) << sentence;
    bench.bridge().send(command::SetPinned{root, true});
    EXPECT_TRUE(waitFor([&] { return second.nodes().at(0).pinned; })) << "it follows what the first one does";
    bench.closeSession(); // from then on it can be searched in the second
    ASSERT_TRUE(waitFor([&] {
        second.bridge().open(options);
        waitFor([&] { return !second.bridge().isOpening(); });
        return second.whyNotSearched().isEmpty();
    }));
}

TEST_F(EngineHostTest, ASessionWhoseTaskFolderIsGoneIsShown)
{
    QDir here(folder.path());
    std::filesystem::copy(ESPALIER_SOURCE_DIR "/tasks/softmax_f32", path("mine"),
                          std::filesystem::copy_options::recursive);
    QFile json(here.filePath(QStringLiteral("mine/task.json")));
    ASSERT_TRUE(json.setPermissions(QFile::ReadOwner | QFile::WriteOwner) && json.open(QIODevice::ReadOnly));
    QByteArray text = json.readAll();
    json.close();
    text.replace("\"softmax_f32\"", "\"softmax_of_mine\"");
    ASSERT_TRUE(json.open(QIODevice::WriteOnly));
    json.write(text);
    json.close();
    EngineOptions options = fresh();
    options.task = path("mine");
    ASSERT_TRUE(open(options)) << refusal;
    bench.closeSession();
    ASSERT_TRUE(here.rename(QStringLiteral("mine"), QStringLiteral("moved")));
    EngineOptions again;
    again.session = path("s.espalier");
    ASSERT_TRUE(open(again)) << refusal;
    EXPECT_FALSE(bench.session()->taskTitle.empty());
    EXPECT_EQ(bench.nodes().count(), 1);
}

TEST_F(EngineHostTest, WhatCannotBeOpenedLeavesTheOpenSession)
{
    ASSERT_TRUE(open(fresh())) << refusal;
    QFile file(folder.filePath(QStringLiteral("mine.cu")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray("// a kernel\n").repeated(100));
    file.close();
    int closed = 0;
    QObject::connect(&bench, &Workbench::sessionClosed, &bench, [&] { ++closed; });
    for (const char* name : {"mine.cu", "absent.espalier", "s.espalier"}) {
        EngineOptions options;
        options.session = path(name);
        refusal.clear();
        bench.bridge().open(options);
        ASSERT_TRUE(waitFor([&] { return !refusal.empty(); })) << name;
        EXPECT_EQ(closed, 0) << name;
        ASSERT_TRUE(bench.session()) << name;
    }
    const NodeId root = bench.nodes().at(0).id;
    bench.bridge().send(command::SetPinned{root, true});
    EXPECT_TRUE(waitFor([&] { return bench.nodes().at(0).pinned; })) << "it is still there, and steered";

    EngineOptions other = fresh();
    other.session = path("other.espalier");
    ASSERT_TRUE(open(other)) << refusal;
    ASSERT_TRUE(waitFor([&] { return bench.session() && bench.session()->file == path("other.espalier"); }));
    EXPECT_EQ(closed, 1);
    EXPECT_FALSE(bench.nodes().at(0).pinned);
}

TEST_F(EngineHostTest, ASessionThatIsClosedSaysWhenItHasEnded)
{
    int released = 0;
    QObject::connect(&bench.bridge(), &EngineBridge::released, &bench, [&] { ++released; });
    ASSERT_TRUE(open(fresh())) << refusal;
    bench.closeSession();
    ASSERT_TRUE(waitFor([&] { return released == 1; }));
    Workbench second(std::make_unique<EngineHost>(), themes);
    EngineOptions options;
    options.session = path("s.espalier");
    second.bridge().open(options);
    ASSERT_TRUE(waitFor([&] { return second.session().has_value(); }));
    EXPECT_TRUE(second.whyNotSearched().isEmpty()) << "the file is free by then";
}
