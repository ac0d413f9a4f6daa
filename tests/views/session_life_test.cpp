// SPDX-License-Identifier: GPL-3.0-only
// What opens, replaces and ends a session: files that are dropped, the menus, the window's end. Nothing ends a running
// search unasked, and what cannot be opened leaves everything as it was.
#include "tests/views/view_fixture.h"
#include "views/banner.h"
#include "views/departure.h"
#include "views/inject_dialog.h"
#include "views/main_window.h"
#include "views/run_controls.h"
#include "views/session_actions.h"
#include "views/standing_panel.h"
#include "views/steering.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"

#include <QAction>
#include <QDragEnterEvent>
#include <QFile>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QStatusBar>
#include <QTest>
#include <QUrl>

using namespace espalier;

namespace {

class SessionLife : public ViewFixture
{
protected:
    void SetUp() override
    {
        window = std::make_unique<MainWindow>(bench, settings);
        window->resize(1400, 850);
        window->show();
        settle();
    }

    void openRunning()
    {
        scriptSoftmax(*link, Provenance::Model);
        link->info.file = write("running.espalier").toStdString();
        link->status.state = RunState::Running;
        open(link->info.file.c_str());
        ASSERT_TRUE(bench.isSearching());
    }

    QString write(const char* name, const QByteArray& text = "text")
    {
        const QString file = folder.filePath(QString::fromLatin1(name));
        QFile out(file);
        EXPECT_TRUE(out.open(QIODevice::WriteOnly));
        out.write(text);
        return file;
    }

    /// Drags a file over a widget and drops it, as the platform does: the widget below, else its parents.
    bool drop(QWidget* widget, const QPoint& place, const QString& file)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file)});
        for (QWidget* target = widget; target; target = target->parentWidget()) {
            if (!target->acceptDrops()) {
                continue;
            }
            const QPoint there = widget->mapTo(target, place);
            QDragEnterEvent enter(there, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            enter.ignore();
            QCoreApplication::sendEvent(target, &enter);
            if (!enter.isAccepted()) {
                continue;
            }
            QDragMoveEvent move(there, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            move.accept(); // as the platform does once the enter was
            QCoreApplication::sendEvent(target, &move);
            if (!move.isAccepted()) {
                return false;
            }
            QDropEvent down(QPointF(there), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(target, &down);
            settle();
            return true;
        }
        return false;
    }

    QMessageBox* question() const { return window->findChild<QMessageBox*>(); }
    void answer(QMessageBox::ButtonRole role)
    {
        QMessageBox* box = question();
        ASSERT_TRUE(box);
        for (QAbstractButton* button : box->buttons()) {
            if (box->buttonRole(button) == role) {
                button->click();
                return settle();
            }
        }
        FAIL() << "no such button";
    }
    QAction* act(const char* text) const
    {
        for (QAction* action : window->allActions()) {
            if (action->text().remove(QLatin1Char('&')) == QString::fromUtf8(text)) {
                return action;
            }
        }
        ADD_FAILURE() << "no act " << text;
        return nullptr;
    }

    std::unique_ptr<MainWindow> window;
};

} // namespace

TEST_F(SessionLife, AFileThatIsNoSessionIsRefusedOnTheWay)
{
    openRunning();
    const int count = bench.nodes().count();
    QWidget* tree = window->tree().view()->viewport();
    for (const char* name : {"notes.txt", "data.npy", "session.sqlite", "kernel.cu.orig", "noend"}) {
        EXPECT_FALSE(drop(tree, {5, 5}, write(name))) << name;
        EXPECT_FALSE(drop(window.get(), {5, 5}, write(name))) << name;
    }
    EXPECT_FALSE(drop(tree, QPoint(5, tree->height() - 5), write("kernel.cu"))) << "there is no node to put it under";
    EXPECT_TRUE(bench.isSearching());
    EXPECT_EQ(bench.nodes().count(), count);
    EXPECT_EQ(link->opened.size(), 1u);
    EXPECT_TRUE(window->banner().text().isEmpty());
}

TEST_F(SessionLife, AKernelDroppedOnANodeIsAnOwnKernelUnderIt)
{
    openRunning();
    TreeView* view = window->tree().view();
    const int node = bench.selectedIndex();
    const QPoint place = view->deviceRectOf(node).center().toPoint();
    ASSERT_TRUE(drop(view->viewport(), place, write("mine.cu", "// mine\n")));
    auto* dialog = window->findChild<InjectDialog*>();
    if (!dialog) { // it belongs to the active window, where there is one
        for (QWidget* top : QApplication::topLevelWidgets()) {
            dialog = dialog ? dialog : qobject_cast<InjectDialog*>(top);
        }
    }
    ASSERT_TRUE(dialog);
    EXPECT_EQ(dialog->source().toStdString(), "// mine\n");
    EXPECT_EQ(dialog->title().toStdString(), "mine");
    link->refuses = "inject";
    dialog->accept();
    settle();
    EXPECT_TRUE(dialog->isVisible()) << "what was refused is not lost";
    EXPECT_EQ(bench.undoStack().count(), 0);
    link->refuses.clear();
    dialog->accept();
    settle();
    const auto sent = link->sent<command::Inject>();
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[1].parent, bench.nodes().at(node).id);
    EXPECT_EQ(bench.undoStack().count(), 1);
    EXPECT_TRUE(bench.isSearching());
}

TEST_F(SessionLife, AnotherSessionTakesTheRunningOnesPlaceOnlyWhenItIsThere)
{
    openRunning();
    const std::string first = bench.session()->file;
    bench.undoStack().push(new QUndoCommand(QStringLiteral("an act")));
    link->refusal = Error{ErrorCode::InvalidInput, "other.espalier is not an Espalier session."};
    ASSERT_TRUE(drop(window.get(), {5, 5}, write("other.espalier")));
    ASSERT_TRUE(question()) << "a search is running";
    EXPECT_EQ(link->opened.size(), 1u);
    answer(QMessageBox::RejectRole);
    EXPECT_EQ(link->opened.size(), 1u);
    EXPECT_TRUE(bench.isSearching());

    ASSERT_TRUE(drop(window.get(), {5, 5}, folder.filePath(QStringLiteral("other.espalier"))));
    answer(QMessageBox::AcceptRole);
    EXPECT_EQ(link->opened.size(), 2u);
    EXPECT_EQ(window->banner().text().toStdString(), link->refusal->message);
    ASSERT_TRUE(bench.session()) << "what could not be opened closes nothing";
    EXPECT_EQ(bench.session()->file, first);
    EXPECT_TRUE(bench.isSearching());
    EXPECT_EQ(bench.undoStack().count(), 1);
    EXPECT_TRUE(window->tree().isVisible());

    link->refusal.reset();
    link->info.file = folder.filePath(QStringLiteral("other.espalier")).toStdString();
    window->sessions().openFile(QString::fromStdString(link->info.file));
    answer(QMessageBox::AcceptRole);
    EXPECT_EQ(bench.session()->file, link->info.file);
    EXPECT_EQ(bench.undoStack().count(), 0);
}

TEST_F(SessionLife, WhateverWouldEndTheSearchAsksFirst)
{
    openRunning();
    const auto refused = [&] {
        EXPECT_TRUE(question());
        answer(QMessageBox::RejectRole);
        EXPECT_FALSE(question());
        EXPECT_TRUE(bench.isSearching());
        EXPECT_EQ(link->opened.size(), 1u);
        EXPECT_TRUE(window->isVisible());
    };
    window->sessions().openSample();
    refused();
    act("Close session")->trigger();
    settle();
    refused();
    act("Quit")->trigger();
    settle();
    refused();
    EngineOptions fresh;
    fresh.session = folder.filePath(QStringLiteral("fresh.espalier")).toStdString();
    fresh.task = "softmax_f32";
    window->sessions().open(fresh, true);
    refused();
    act("Close session")->trigger();
    settle();
    answer(QMessageBox::AcceptRole);
    EXPECT_FALSE(bench.session());
}

TEST_F(SessionLife, AQuestionIsNotAskedAboutASearchThatHasEndedMeanwhile)
{
    openRunning();
    act("Close session")->trigger();
    settle();
    ASSERT_TRUE(question());
    EXPECT_TRUE(question()->text().contains(QStringLiteral("is running")));
    link->status.state = RunState::Finished;
    link->sendStatus();
    settle();
    EXPECT_TRUE(question()->text().contains(QStringLiteral("has ended"))) << question()->text().toStdString();
}

TEST_F(SessionLife, ASessionThatDoesNotRunIsClosedUnasked)
{
    openRunning();
    link->status.state = RunState::Paused;
    link->sendStatus();
    settle();
    act("Close session")->trigger();
    settle();
    EXPECT_FALSE(question());
    EXPECT_FALSE(bench.session());
}

TEST_F(SessionLife, TheOpenSessionIsNotOpenedTwice)
{
    openRunning();
    window->sessions().openFile(QString::fromStdString(link->info.file));
    settle();
    EXPECT_FALSE(question());
    EXPECT_EQ(link->opened.size(), 1u);
    EXPECT_TRUE(window->banner().text().contains(QStringLiteral("open already")))
        << window->banner().text().toStdString();
}

TEST_F(SessionLife, EachSampleIsASearchOfItsOwn)
{
    const QDir data(folder.path());
    EXPECT_EQ(QFileInfo(freeFile(data, QStringLiteral("sample"))).fileName().toStdString(), "sample.espalier");
    write("sample.espalier");
    EXPECT_EQ(QFileInfo(freeFile(data, QStringLiteral("sample"))).fileName().toStdString(), "sample-2.espalier");
    write("sample-2.espalier");
    EXPECT_EQ(QFileInfo(freeFile(data, QStringLiteral("sample"))).fileName().toStdString(), "sample-3.espalier");
}

TEST_F(SessionLife, NothingIsSaidOfASessionBeforeAllOfItIsThere)
{
    scriptSoftmax(*link, Provenance::Model);
    link->answersWhole = false;
    open(write("big.espalier").toLocal8Bit().constData());
    auto* progress = window->findChild<QProgressBar*>();
    ASSERT_TRUE(progress);
    EXPECT_TRUE(progress->isVisible());
    EXPECT_FALSE(bench.session());
    EXPECT_FALSE(window->tree().isVisible());
    EXPECT_EQ(window->windowTitle().toStdString(), "Espalier");
    const auto labels = window->statusBar()->findChildren<QLabel*>();
    EXPECT_TRUE(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
        return label->text().contains(QStringLiteral("opening")) &&
               label->text().contains(QStringLiteral("big.espalier"));
    }));
    link->sendWhole();
    settle();
    EXPECT_FALSE(progress->isVisible());
    ASSERT_TRUE(bench.session());
    EXPECT_GT(bench.nodes().count(), 10);
    EXPECT_TRUE(window->tree().isVisible());
}

/// Closing means all there is: also what was about to take the open one's place.
TEST_F(SessionLife, WhatIsBeingOpenedIsNotAwaitedOnceTheSessionIsClosed)
{
    openRunning();
    link->status.state = RunState::Paused;
    link->sendStatus();
    settle();
    link->answersWhole = false;
    open(write("big.espalier").toLocal8Bit().constData());
    auto* progress = window->findChild<QProgressBar*>();
    ASSERT_TRUE(progress);
    ASSERT_TRUE(progress->isVisible());
    ASSERT_TRUE(bench.session());
    act("Close session")->trigger();
    settle();
    EXPECT_FALSE(bench.session());
    EXPECT_FALSE(progress->isVisible());
    const auto labels = window->statusBar()->findChildren<QLabel*>();
    EXPECT_FALSE(std::any_of(labels.begin(), labels.end(),
                             [](const QLabel* label) { return label->text().contains(QStringLiteral("opening")); }));
}

TEST_F(SessionLife, ASessionThatCanOnlyBeLookedAtIsShownAndNothingCanBeDoneToIt)
{
    scriptSoftmax(*link, Provenance::Model);
    link->viewedBecause = "s.espalier is open in process 4711: close it there first.";
    open();
    ASSERT_TRUE(bench.session());
    EXPECT_TRUE(window->tree().isVisible());
    EXPECT_TRUE(window->banner().text().contains(QStringLiteral("process 4711")))
        << window->banner().text().toStdString();
    EXPECT_TRUE(window->windowTitle().contains(QStringLiteral("read only")));
    RunControls& controls = window->controls();
    for (QAction* action : {controls.run(), controls.pause(), controls.step(), controls.stop(), controls.limits(),
                            controls.strategy(), window->steering().pin(), window->steering().prune(),
                            window->steering().exportKernel(), window->steering().action(Act::Inject),
                            window->steering().action(Act::InjectRoot), act("New hint…"), act("New ban…")}) {
        EXPECT_FALSE(action->isEnabled()) << action->text().toStdString();
        EXPECT_TRUE(action->toolTip().contains(QStringLiteral("process 4711"))) << action->text().toStdString();
    }
    EXPECT_TRUE(window->steering().copy()->isEnabled());
    for (const QLineEdit* edit : window->standing().findChildren<QLineEdit*>()) {
        EXPECT_FALSE(edit->isEnabled());
    }
    QTest::keyClick(window->tree().view(), Qt::Key_P);
    QTest::keyClick(window->tree().view(), Qt::Key_I);
    settle();
    for (const command::Command& sent : link->commands) {
        EXPECT_TRUE(std::holds_alternative<command::FetchDetail>(sent) ||
                    std::holds_alternative<command::FetchListings>(sent) ||
                    std::holds_alternative<command::FetchExchanges>(sent));
    }
    EXPECT_FALSE(drop(window->tree().view()->viewport(),
                      window->tree().view()->deviceRectOf(bench.selectedIndex()).center().toPoint(), write("k.cu")));
}

TEST_F(SessionLife, ClosingWaitsForTheSessionAndSaysForWhat)
{
    openRunning();
    link->status.asking = 1;
    link->status.judging = 2;
    link->status.state = RunState::Pausing;
    link->sendStatus();
    settle();
    link->closesAtOnce = false;
    window->close();
    answer(QMessageBox::AcceptRole);
    EXPECT_TRUE(window->isVisible());
    EXPECT_FALSE(bench.session()) << "the engine is told to end at once";
    EXPECT_TRUE(window->banner().text().contains(QStringLiteral("a model's answer")))
        << window->banner().text().toStdString();
    EXPECT_FALSE(window->departure().isCutShort());
    window->close();
    settle();
    EXPECT_FALSE(window->isVisible()) << "who closes it again does not wait";
    EXPECT_TRUE(window->departure().isCutShort());
}

TEST_F(SessionLife, AWindowWhoseSessionEndsIsClosedByItself)
{
    openRunning();
    link->status.state = RunState::Finished;
    link->sendStatus();
    settle();
    window->close();
    settle();
    EXPECT_FALSE(window->isVisible());
    EXPECT_FALSE(window->departure().isCutShort());
}

TEST_F(SessionLife, WhatTheEngineRefusesIsNoActToTakeBack)
{
    openRunning();
    const int node = bench.selectedIndex();
    const double before = bench.nodes().at(node).boost;
    window->steering().action(Act::BoostMore)->trigger();
    settle();
    ASSERT_EQ(bench.undoStack().count(), 1);
    link->refuses = "prune";
    window->steering().prune()->trigger();
    settle();
    EXPECT_FALSE(bench.nodes().at(node).pruned);
    EXPECT_FALSE(window->banner().text().isEmpty());
    EXPECT_EQ(bench.undoStack().count(), 1) << "it was never done";
    bench.undoStack().undo();
    settle();
    EXPECT_EQ(bench.nodes().at(node).boost, before) << "the first undo takes the boost back";
    EXPECT_EQ(link->sent<command::SetPruned>().size(), 1u);
}

TEST_F(SessionLife, WhatIsTypedStaysUntilTheEngineHasTakenIt)
{
    openRunning();
    const auto edits = window->standing().findChildren<QLineEdit*>();
    ASSERT_EQ(edits.size(), 3);
    QLineEdit *hint = edits[0], *words = edits[1], *limit = edits[2];
    words->setText(QStringLiteral("no fp16"));
    limit->setText(QStringLiteral("fp16_instructions ="));
    link->refuses = "ban";
    QTest::keyClick(limit, Qt::Key_Return);
    settle();
    EXPECT_EQ(words->text().toStdString(), "no fp16");
    EXPECT_EQ(limit->text().toStdString(), "fp16_instructions =");
    limit->setText(QStringLiteral("fp16_instructions == 0"));
    link->refuses.clear();
    QTest::keyClick(limit, Qt::Key_Return);
    settle();
    const auto bans = link->sent<command::Ban>();
    ASSERT_EQ(bans.size(), 2u);
    EXPECT_EQ(bans[1].text, "no fp16");
    EXPECT_EQ(bans[1].predicate, "fp16_instructions == 0");
    EXPECT_TRUE(words->text().isEmpty());
    EXPECT_TRUE(limit->text().isEmpty());

    hint->setText(QStringLiteral("rows"));
    link->refuses = "hint";
    QTest::keyClick(hint, Qt::Key_Return);
    settle();
    EXPECT_EQ(hint->text().toStdString(), "rows");
}

TEST_F(SessionLife, WithoutASessionThereIsNothingToTellIt)
{
    for (const char* name : {"New hint…", "New ban…"}) {
        EXPECT_FALSE(act(name)->isEnabled()) << name;
        EXPECT_TRUE(act(name)->toolTip().contains(QStringLiteral("No session is open"))) << name;
    }
    for (QLineEdit* edit : window->standing().findChildren<QLineEdit*>()) {
        EXPECT_FALSE(edit->isEnabled());
        EXPECT_TRUE(edit->toolTip().contains(QStringLiteral("No session is open")));
    }
    openRunning();
    EXPECT_TRUE(act("New hint…")->isEnabled());
    for (QLineEdit* edit : window->standing().findChildren<QLineEdit*>()) {
        EXPECT_TRUE(edit->isEnabled());
    }
}
