// SPDX-License-Identifier: GPL-3.0-only
// The window as pictures, light and dark, from real event values: written to the build folder (or $ESPALIER_PICTURES),
// checked for what a program can check, and meant to be looked at.
#include "tests/views/profiled_story.h"
#include "tests/views/view_fixture.h"
#include "views/code_pane.h"
#include "views/diff_panel.h"
#include "views/diff_view.h"
#include "views/idea_editor.h"
#include "views/inspector.h"
#include "views/main_window.h"
#include "views/metric_panel.h"
#include "views/plan_panel.h"
#include "views/profile_shelf.h"
#include "views/roofline_panel.h"
#include "views/roofline_view.h"
#include "views/run_controls.h"
#include "views/source_panel.h"
#include "views/standing_panel.h"
#include "views/steering.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"

#include <QAction>
#include <QApplication>
#include <QDateTime>
#include <QDialog>
#include <QDir>
#include <QDockWidget>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QTest>
#include <set>

using namespace espalier;

namespace {

class Pictures : public ViewFixture, public testing::WithParamInterface<ThemeMode>
{
protected:
    void SetUp() override
    {
        themes.setMode(GetParam());
        window = std::make_unique<MainWindow>(bench, settings);
        window->resize(1760, 990);
        window->show();
        settle();
    }

    void openStory(Provenance provenance)
    {
        scriptSoftmax(*link, provenance);
        open();
        const char* lines[] = {"session opened: softmax_f32, refine, seed 1",
                               "node 22: built in 3.2 s (sm_90a, 40 registers, no spills)",
                               "node 22: verified, 12 calls, worst element at 0.11 of its tolerance",
                               "node 20: timing, block 14, interval ±0.6 %"};
        for (const char* line : lines) {
            link->send(event::Log{QDateTime::currentDateTimeUtc().toString(Qt::ISODate).toStdString(), line});
        }
        settle();
    }

    /// The story with counters for every candidate that passed.
    void openProfiled(Provenance provenance, std::optional<NodeId> impossible = std::nullopt)
    {
        scriptSoftmax(*link, provenance);
        addProfiles(*link, provenance, impossible);
        open();
        bench.select(nodeTitled("Maximum and sum in one pass", NodeKind::Candidate));
        settle();
    }

    void raise(const char* dock)
    {
        window->findChild<QDockWidget*>(QString::fromLatin1(dock))->raise();
        ASSERT_TRUE(waitFor([&] {
            return window->roofline().view()->chart().points.size() >= 6 || window->metrics().emptyText().isEmpty();
        }));
        settle();
    }

    /// Open ideas in the plan, some of them boosted, with titles of all lengths.
    void plan(int ideas)
    {
        const char* titles[] = {"Two rows a block",
                                "Prefetch the next row while this one is written, in two stages of shared memory",
                                "Half the barriers", "Let each thread keep four elements"};
        for (int i = 0; i < ideas; ++i) {
            link->post(command::AddIdea{NodeId{1}, titles[i % 4], "It should keep more bytes in flight."});
        }
        link->post(command::SetBoost{NodeId{link->details.rbegin()->first.value - 1}, 4});
        settle();
    }

    QRect onWindow(const QWidget* widget) const { return {widget->mapTo(window.get(), QPoint(0, 0)), widget->size()}; }

    NodeId nodeTitled(const std::string& title, NodeKind kind) const
    {
        for (const auto& [id, detail] : link->details) {
            if (detail.summary.title == title && detail.summary.kind == kind) {
                return id;
            }
        }
        return NodeId{1};
    }

    QImage take(const QString& name)
    {
        settle();
        window->repaint();
        const QImage image = window->grab().toImage().convertToFormat(QImage::Format_RGB32);
        save(image, name);
        return image;
    }

    void save(const QImage& image, const QString& name) const
    {
        const QString folderPath = qEnvironmentVariable("ESPALIER_PICTURES", QStringLiteral(ESPALIER_PICTURES));
        QDir().mkpath(folderPath);
        EXPECT_TRUE(image.save(
            QStringLiteral("%1/%2-%3.png")
                .arg(folderPath, name, themes.theme().isDark() ? QStringLiteral("dark") : QStringLiteral("light"))));
    }

    /// Pixels of a token's colour, exactly.
    int count(const QImage& image, Token token) const
    {
        const QRgb wanted = themes.theme()[token].rgb();
        int pixels = 0;
        for (int y = 0; y < image.height(); ++y) {
            const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
            for (int x = 0; x < image.width(); ++x) {
                pixels += (line[x] | 0xff000000) == wanted;
            }
        }
        return pixels;
    }

    std::unique_ptr<MainWindow> window;
};

int coloursIn(const QImage& image)
{
    std::set<QRgb> seen;
    for (int y = 0; y < image.height(); y += 3) {
        for (int x = 0; x < image.width(); x += 3) {
            seen.insert(image.pixel(x, y));
        }
    }
    return int(seen.size());
}

} // namespace

TEST_P(Pictures, Welcome)
{
    const QImage image = take(QStringLiteral("welcome"));
    EXPECT_GT(count(image, Token::Panel), image.width() * image.height() / 3);
    EXPECT_GT(coloursIn(image), 20);
}

TEST_P(Pictures, SearchOnTheSimulatedDevice)
{
    openStory(Provenance::Model);
    window->inspector().showTab(Inspector::Idea);
    const QImage image = take(QStringLiteral("search"));
    for (const Token token : {Token::Background, Token::Panel, Token::Text, Token::Passed, Token::Incorrect,
                              Token::Suspicious, Token::Failed, Token::Running, Token::Best, Token::Selection}) {
        EXPECT_GT(count(image, token), 4) << "token " << int(token);
    }
    EXPECT_GT(coloursIn(image), 100);
}

TEST_P(Pictures, PlanHintsAndBans)
{
    openStory(Provenance::Model);
    plan(6);
    const QImage image = take(QStringLiteral("plan"));
    EXPECT_GT(count(image, Token::Accent), 20); // where one writes a new idea
    const QRect list = onWindow(window->plan().view()->viewport());
    EXPECT_GT(coloursIn(image.copy(list)), 20);

    bench.select(nodeTitled("Two rows a block", NodeKind::Idea));
    window->steering().action(Act::EditIdea)->trigger();
    settle();
    ASSERT_TRUE(window->plan().editor());
    take(QStringLiteral("plan-edit"));
    QTest::keyClick(window->plan().editor()->findChild<QLineEdit*>(), Qt::Key_Escape);

    for (const char* hint :
         {"Rows are short in our service: 512 to 4096 elements, rarely more.", "No inline assembly."}) {
        link->post(command::AddHint{hint});
    }
    link->post(command::Ban{"no fp16 anywhere in the accumulation", "fp16_instructions == 0"});
    link->post(command::Ban{"nothing that only one architecture has", ""});
    window->findChild<QDockWidget*>(QStringLiteral("standing"))->raise();
    QTest::qWait(150); // a list that wraps its words is laid out a tenth of a second after it got its width
    const QImage standing = take(QStringLiteral("standing"));
    EXPECT_GT(coloursIn(standing.copy(onWindow(&window->standing()))), 10);
}

TEST_P(Pictures, SteeringDialogs)
{
    openStory(Provenance::Model);
    const auto shoot = [&](const char* name) {
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            if (auto* dialog = qobject_cast<QDialog*>(widget); dialog && dialog->isVisible()) {
                settle();
                const QImage image = dialog->grab().toImage().convertToFormat(QImage::Format_RGB32);
                EXPECT_GT(coloursIn(image), 5) << name;
                for (const QLabel* label : dialog->findChildren<QLabel*>()) { // no words are cut off
                    const int room =
                        label->wordWrap() ? label->heightForWidth(label->width()) : label->sizeHint().height();
                    EXPECT_GE(label->height(), room) << name << ": " << label->text().toStdString();
                }
                save(image, QString::fromLatin1(name));
                dialog->reject();
                settle();
                return;
            }
        }
        ADD_FAILURE() << name;
    };
    window->steering().action(Act::Inject)->trigger();
    shoot("dialog-inject");
    window->steering().action(Act::BranchBudget)->trigger();
    shoot("dialog-branch");
    window->controls().strategy()->trigger();
    shoot("dialog-strategy");
    window->controls().limits()->trigger();
    shoot("dialog-limits");
}

TEST_P(Pictures, AHundredNodesWithAPlan)
{
    scriptBigTree(*link, 100);
    open();
    plan(30);
    take(QStringLiteral("plan-hundred"));
}

TEST_P(Pictures, Diff)
{
    openStory(Provenance::Measured);
    window->inspector().showTab(Inspector::Diff);
    bench.select(nodeTitled("Keep the row in registers", NodeKind::Candidate));
    ASSERT_TRUE(waitFor([&] { return window->inspector().diff()->view()->hunks() > 0; }));
    const QImage image = take(QStringLiteral("diff"));
    for (const Token token : {Token::DiffAdded, Token::DiffRemoved, Token::DiffAddedWord, Token::DiffRemovedWord,
                              Token::DiffFiller, Token::SyntaxKeyword}) {
        EXPECT_GT(count(image, token), 20) << "token " << int(token);
    }
}

TEST_P(Pictures, CompareLayout)
{
    openStory(Provenance::Measured);
    window->applyLayout(MainWindow::Layout::Compare);
    ASSERT_TRUE(waitFor([&] { return window->inspector().diff()->view()->hunks() > 0; }));
    take(QStringLiteral("compare"));
}

TEST_P(Pictures, CompileErrorInTheSource)
{
    openStory(Provenance::Model);
    window->inspector().showTab(Inspector::Source);
    bench.select(nodeTitled("exp2 with folded scale", NodeKind::Candidate));
    settle();
    const QImage image = take(QStringLiteral("source"));
    EXPECT_GT(count(image, Token::SyntaxCuda), 20);
    EXPECT_GT(count(image, Token::SyntaxComment), 20);
    EXPECT_GT(count(image, Token::DiffRemoved), 500); // the line of the error
}

TEST_P(Pictures, Stages)
{
    openStory(Provenance::Measured);
    window->inspector().showTab(Inspector::Stages);
    take(QStringLiteral("stages"));
    bench.select(nodeTitled("Reduce by shuffles, no barrier", NodeKind::Candidate));
    const QImage image = take(QStringLiteral("rejected"));
    EXPECT_GT(count(image, Token::Incorrect), 100);
}

TEST_P(Pictures, Roofline)
{
    openProfiled(Provenance::Measured, NodeId{4});
    raise("roofline");
    const QImage image = take(QStringLiteral("roofline"));
    EXPECT_GT(count(image, Token::Accent), 60);
    EXPECT_GT(count(image, Token::Best), 20);
    EXPECT_GT(count(image, Token::Suspicious), 20); // the one above its roof
    QTest::keyClick(window->roofline().view(), Qt::Key_Left);
    take(QStringLiteral("roofline-card"));
    window->roofline().setIsolated(true);
    window->roofline().setLevel(3);
    take(QStringLiteral("roofline-lineage"));
}

TEST_P(Pictures, Metrics)
{
    openProfiled(Provenance::Model);
    window->comparison().keep(NodeId{1}, true);
    raise("metrics");
    const QImage image = take(QStringLiteral("metrics"));
    EXPECT_GT(count(image, Token::Passed), 40);
    EXPECT_GT(count(image, Token::Selection), 500); // bars
}

TEST_P(Pictures, CompareWithCounters)
{
    openProfiled(Provenance::Measured);
    window->applyLayout(MainWindow::Layout::Compare);
    ASSERT_TRUE(waitFor([&] { return window->inspector().diff()->view()->hunks() > 0; }));
    ASSERT_TRUE(waitFor([&] { return window->roofline().view()->chart().points.size() >= 6; }));
    const QImage image = take(QStringLiteral("compare-profiled"));
    EXPECT_GT(count(image, Token::DiffAdded), 500);
    EXPECT_TRUE(window->metrics().isVisible());
    EXPECT_TRUE(window->roofline().isVisible());
}

TEST_P(Pictures, HeatAndDiagnosis)
{
    openProfiled(Provenance::Measured);
    window->applyLayout(MainWindow::Layout::Source);
    window->inspector().source()->showListings(false);
    window->inspector().source()->nextHot()->trigger();
    const QImage image = take(QStringLiteral("heat"));
    EXPECT_GT(count(image, Token::Heat), 200);
    window->inspector().showTab(Inspector::Profile);
    take(QStringLiteral("profile"));
}

TEST_P(Pictures, SourceWithListings)
{
    scriptNorm(*link);
    open();
    window->applyLayout(MainWindow::Layout::Source);
    ASSERT_TRUE(waitFor([&] { return window->inspector().source()->sass().missing().isEmpty(); }));
    window->inspector().source()->nextHot()->trigger();
    const QImage image = take(QStringLiteral("listings"));
    EXPECT_GT(count(image, Token::Selection), 2000); // linked lines
    EXPECT_GT(count(image, Token::SyntaxPreprocessor), 50);
}

TEST_P(Pictures, BigTree)
{
    scriptBigTree(*link, 5000);
    open();
    take(QStringLiteral("big-folded"));
    window->tree().view()->setBestLineages(false);
    window->tree().view()->fit();
    const QImage image = take(QStringLiteral("big-all"));
    EXPECT_GT(count(image, Token::Passed), 200);
}

TEST_P(Pictures, Banner)
{
    link->refusal = Error{
        ErrorCode::InvalidInput,
        "/home/ada/notes.txt is no Espalier session: open a file that ends in .espalier, or start a new session."};
    open();
    const QImage image = take(QStringLiteral("banner"));
    EXPECT_GT(count(image, Token::DiffRemoved), 5000);
}

INSTANTIATE_TEST_SUITE_P(Themes, Pictures, testing::Values(ThemeMode::Light, ThemeMode::Dark),
                         [](const testing::TestParamInfo<ThemeMode>& mode) {
                             return mode.param == ThemeMode::Light ? "light" : "dark";
                         });
