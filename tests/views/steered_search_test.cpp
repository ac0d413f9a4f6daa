// SPDX-License-Identifier: GPL-3.0-only
// The engineer's acts from the window through the real engine into a session on disk, and one real expansion on the
// simulated device between them.
#include "views/banner.h"
#include "views/engine_host.h"
#include "views/idea_editor.h"
#include "views/main_window.h"
#include "views/plan_model.h"
#include "views/plan_panel.h"
#include "views/run_controls.h"
#include "views/standing_panel.h"
#include "views/steer_commands.h"
#include "views/steering.h"
#include "views/workbench.h"

#include <QAction>
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <functional>
#include <gtest/gtest.h>

using namespace espalier;

namespace {

class SteeredSearch : public testing::Test
{
protected:
    SteeredSearch()
    {
        QObject::connect(&bench.bridge(), &EngineBridge::openFailed, &bench,
                         [this](const Error& error) { refusal = error.message; });
        window.resize(1500, 900);
        window.show();
    }

    static bool waitFor(const std::function<bool()>& ready)
    {
        QElapsedTimer clock;
        clock.start();
        while (!ready()) {
            if (clock.elapsed() > 120000) {
                return false;
            }
            QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        }
        return true;
    }

    bool open()
    {
        EngineOptions options;
        options.session = folder.filePath(QStringLiteral("s.espalier")).toStdString();
        options.task = "softmax_f32";
        options.device = "sim";
        options.proposers = std::vector<std::string>{"playbook"};
        bench.bridge().open(std::move(options));
        return waitFor([this] { return !refusal.empty() || (bench.session() && bench.nodes().count() > 0); }) &&
               refusal.empty();
    }

    int find(const std::string& title, NodeKind kind) const
    {
        for (int i = 0; i < bench.nodes().count(); ++i) {
            if (bench.nodes().at(i).title == title && bench.nodes().at(i).kind == kind) {
                return i;
            }
        }
        return -1;
    }
    void write(const char* title)
    {
        ASSERT_TRUE(waitFor([&] { return window.plan().editor() != nullptr; }));
        window.plan().editor()->findChild<QLineEdit*>()->setText(QLatin1String(title));
        QTest::keyClick(window.plan().editor()->findChild<QLineEdit*>(), Qt::Key_Return);
    }
    /// The engine has done it: it can be taken back.
    bool onTop(const char* words)
    {
        return bench.undoStack().undoText().contains(QLatin1String(words), Qt::CaseInsensitive);
    }
    void act(Act act) { window.steering().action(act)->trigger(); }

    QTemporaryDir folder;
    ThemeManager themes;
    QSettings settings{folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat};
    Workbench bench{std::make_unique<EngineHost>(), themes};
    MainWindow window{bench, settings};
    std::string refusal;
};

} // namespace

TEST_F(SteeredSearch, EveryActReachesTheSessionAndStaysThere)
{
    ASSERT_TRUE(open()) << refusal;
    const NodeId root = bench.nodes().at(0).id;
    bench.select(root);

    // Beside the tree: an idea is written, edited, taken back.
    act(Act::NewIdea);
    write("Skip the tail");
    ASSERT_TRUE(waitFor([&] { return find("Skip the tail", NodeKind::Idea) >= 0; }));
    const NodeId idea = bench.nodes().at(find("Skip the tail", NodeKind::Idea)).id;
    EXPECT_EQ(bench.selected(), idea);
    ASSERT_TRUE(waitFor([&] { return window.plan().model()->indexOf(idea).isValid(); })); // the engine's plan has it
    act(Act::EditIdea);
    write("Drop the tail");
    ASSERT_TRUE(waitFor([&] { return find("Drop the tail", NodeKind::Idea) >= 0 && onTop("Edit idea"); }));
    bench.undoStack().undo();
    ASSERT_TRUE(waitFor([&] { return find("Skip the tail", NodeKind::Idea) >= 0; }));

    // A hint, a ban that the judge holds, another strategy.
    steer(bench, QStringLiteral("hint"), command::AddHint{"Rows are short."}, command::RemoveHint{1});
    steer(bench, QStringLiteral("ban"), command::Ban{"no atomics", "atomic_instructions == 0"}, command::LiftBan{1});
    steer(bench, QStringLiteral("strategy"), command::SetStrategy{"beam:width=2"}, command::SetStrategy{"refine"});
    ASSERT_TRUE(
        waitFor([&] { return window.standing().hints()->count() == 1 && window.standing().bans()->count() == 1; }));
    ASSERT_TRUE(waitFor([&] { return bench.strategy() == "beam:width=2"; })) << bench.strategy();
    EXPECT_EQ(window.banner().text().toStdString(), "");

    // One expansion.
    window.controls().step()->trigger();
    ASSERT_TRUE(waitFor([&] {
        return bench.nodes().status().evaluations == 1 && bench.nodes().status().state == RunState::Paused;
    })) << bench.nodes().status().why
        << ", " << bench.nodes().status().evaluations << " evaluations";
    int made = -1;
    for (int i = 0; i < bench.nodes().count(); ++i) {
        made = bench.nodes().at(i).kind == NodeKind::Candidate ? i : made;
    }
    ASSERT_GE(made, 0);
    const NodeId candidate = bench.nodes().at(made).id;
    ASSERT_EQ(bench.nodes().at(made).outcome, Outcome::Passed) << bench.nodes().at(made).reason;
    ASSERT_TRUE(waitFor([&] { return bench.detail(candidate) != nullptr; }));
    EXPECT_NE(bench.detail(candidate)->why, "");
    const QStringList tags = [&] {
        QStringList all;
        for (int i = 1; i < window.plan().model()->rowCount(); ++i) {
            all += window.plan().model()->index(i).data(PlanModel::TagRole).toString();
        }
        return all;
    }();
    EXPECT_TRUE(tags.contains(QStringLiteral("open"))) << tags.join(QLatin1Char('|')).toStdString();

    // At the candidate: boost, prune, pin; verified once more on new inputs.
    bench.select(candidate);
    act(Act::BoostMore);
    act(Act::Prune);
    act(Act::Pin);
    steer(bench, QStringLiteral("budget"), command::SetBranchBudget{root, {7, {}, {}, {}}},
          command::SetBranchBudget{root, {}});
    const auto& node = [&]() -> const NodeSummary& { return bench.nodes().at(bench.nodes().indexOf(candidate)); };
    ASSERT_TRUE(waitFor([&] {
        return node().pinned && node().pruned && bench.nodes().at(0).budget.evaluations == 7 && onTop("budget");
    }));
    EXPECT_EQ(node().boost, 2);
    bench.undoStack().undo(); // the budget
    bench.undoStack().undo(); // the pin
    bench.undoStack().undo(); // the prune
    ASSERT_TRUE(waitFor([&] { return !node().pruned && !node().pinned; }));
    act(Act::Pin);
    ASSERT_TRUE(waitFor([&] { return node().pinned && bench.nodes().at(0).budget.none(); }));
    EXPECT_EQ(window.banner().text().toStdString(), "");

    bench.bridge().close();
    ASSERT_TRUE(open()) << refusal;
    ASSERT_TRUE(
        waitFor([&] { return window.standing().bans()->count() == 1 && bench.nodes().indexOf(candidate) >= 0; }));
    EXPECT_TRUE(node().pinned);
    EXPECT_FALSE(node().pruned);
    EXPECT_EQ(node().boost, 2);
    EXPECT_EQ(bench.standing().hints, std::vector<std::string>{"Rows are short."});
    EXPECT_EQ(bench.standing().bans[0].predicate, "atomic_instructions == 0");
    EXPECT_EQ(bench.session()->strategy, "beam:width=2");
    EXPECT_GE(find("Skip the tail", NodeKind::Idea), 0);
}
