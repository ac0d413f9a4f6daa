// SPDX-License-Identifier: GPL-3.0-only
// The window's workbench over the real engine: sessions on disk, no search is run.
#include "views/engine_host.h"
#include "views/workbench.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
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

TEST_F(EngineHostTest, ASecondOpenerGetsOneSentence)
{
    ASSERT_TRUE(open(fresh())) << refusal;
    Workbench second(std::make_unique<EngineHost>(), themes);
    std::string sentence;
    QObject::connect(&second.bridge(), &EngineBridge::openFailed, &second,
                     [&](const Error& error) { sentence = error.message; });
    EngineOptions options;
    options.session = path("s.espalier");
    second.bridge().open(options);
    ASSERT_TRUE(waitFor([&] { return !sentence.empty(); }));
    EXPECT_NE(sentence.find("s.espalier"), std::string::npos) << sentence;
}
