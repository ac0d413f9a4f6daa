// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/code_marks.h"
#include "views/code_view.h"
#include "views/diff_panel.h"
#include "views/diff_view.h"

#include <QTest>

using namespace espalier;

namespace {

class DiffViewTest : public ViewFixture
{
protected:
    static std::shared_ptr<const ComparedTexts> compared(const std::string& left, const std::string& right)
    {
        return std::make_shared<ComparedTexts>(ComparedTexts{left, right, "old", "new", diffTexts(left, right)});
    }
    /// Display line of a document line: what stands opposite must have the same.
    static long shownAt(CodeView* pane, int line)
    {
        return pane->SendScintilla(QsciScintilla::SCI_VISIBLEFROMDOCLINE, static_cast<unsigned long>(line));
    }
};

std::string lines(int from, int to)
{
    std::string text;
    for (int i = from; i < to; ++i) {
        text += "float value_" + std::to_string(i) + " = row[" + std::to_string(i) + "];\n";
    }
    return text;
}

} // namespace

TEST_F(DiffViewTest, EqualLinesStandOppositeAlsoBelowAnInsertionAtTheTop)
{
    const std::string left = lines(0, 100);
    const std::string right = "// one\n// two\n// three\n" + lines(0, 40) + "// four\n" + lines(60, 100);
    DiffView view(themes);
    view.resize(800, 500);
    view.show();
    view.setCompared(compared(left, right));
    settle();
    for (const DiffRow& row : diffTexts(left, right).rows) {
        if (row.left >= 0 && row.right >= 0) {
            ASSERT_EQ(shownAt(view.left(), row.left + 1), shownAt(view.right(), row.right + 1)) << row.left;
        }
    }
    EXPECT_EQ(view.hunks(), 2);
    EXPECT_EQ(view.currentHunk(), 0);
}

TEST_F(DiffViewTest, PanesFollowTheKeyboardAndPrograms)
{
    DiffView view(themes);
    view.resize(800, 300);
    view.show();
    view.setCompared(compared(lines(0, 300), lines(0, 150) + "int added;\n" + lines(150, 300)));
    settle();
    view.left()->setFocus();
    for (int i = 0; i < 4; ++i) {
        QTest::keyClick(view.left(), Qt::Key_PageDown);
    }
    view.left()->repaint();
    view.grab(); // SCN_UPDATEUI comes with the paint
    settle();
    const auto first = [](CodeView* pane) { return pane->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE); };
    EXPECT_GT(first(view.left()), 10);
    EXPECT_EQ(first(view.left()), first(view.right()));
    view.right()->SendScintilla(QsciScintilla::SCI_SETFIRSTVISIBLELINE, 120UL);
    view.grab();
    settle();
    EXPECT_EQ(first(view.left()), first(view.right()));
}

TEST_F(DiffViewTest, WordsAreMarkedByBytes)
{
    DiffView view(themes);
    view.setCompared(compared("// é\nfloat m = row[i];\n", "// é\nfloat4 m = row[i];\n"));
    const auto marked = [](CodeView* pane, int indicator, int line, int column) {
        const long start = pane->SendScintilla(QsciScintilla::SCI_POSITIONFROMLINE, static_cast<unsigned long>(line));
        return pane->SendScintilla(QsciScintilla::SCI_INDICATORVALUEAT, static_cast<unsigned long>(indicator),
                                   start + column) != 0;
    };
    EXPECT_TRUE(marked(view.left(), marks::RemovedWord, 2, 0));
    EXPECT_FALSE(marked(view.left(), marks::RemovedWord, 2, 6));
    EXPECT_TRUE(marked(view.right(), marks::AddedWord, 2, 5));
    EXPECT_FALSE(marked(view.right(), marks::AddedWord, 2, 7));
    EXPECT_EQ(view.right()->markersAtLine(2), 1u << marks::AddedLine);
    EXPECT_EQ(view.right()->markersAtLine(1), 0u);
}

TEST_F(DiffViewTest, TheNewestRequestWins)
{
    DiffJob job;
    std::vector<std::string> arrived;
    QObject::connect(&job, &DiffJob::finished, &job,
                     [&](const std::shared_ptr<const ComparedTexts>& result) { arrived.push_back(result->rightName); });
    for (int i = 0; i < 20; ++i) {
        job.start(lines(0, 400), lines(200, 600), "left", std::to_string(i), {});
    }
    ASSERT_TRUE(waitFor([&] { return !arrived.empty(); }));
    settle();
    EXPECT_EQ(arrived, std::vector<std::string>{"19"});
}

TEST_F(DiffViewTest, PanelStepsThroughChangesAndSaysWhyItIsEmpty)
{
    DiffPanel panel(themes);
    panel.resize(700, 400);
    panel.show();
    auto detail = std::make_shared<NodeDetail>();
    detail->summary.id = NodeId{7};
    detail->summary.kind = NodeKind::Candidate;
    detail->parentCandidate = NodeId{3};
    detail->parentSource = lines(0, 200);
    detail->source = "int a;\n" + lines(0, 100) + "int b;\n" + lines(100, 200);
    panel.setDetail(detail, QStringLiteral("parent"));
    ASSERT_TRUE(waitFor([&] { return panel.view()->hunks() == 2; }));
    EXPECT_EQ(panel.view()->currentHunk(), 0);
    const QList<QAction*> actions = panel.actions(); // previous, next
    EXPECT_FALSE(actions[0]->isEnabled());
    actions[1]->trigger();
    EXPECT_EQ(panel.view()->currentHunk(), 1);
    EXPECT_FALSE(actions[1]->isEnabled());
    panel.setDetail(nullptr, {});
    EXPECT_EQ(panel.view()->hunks(), 0);
}
