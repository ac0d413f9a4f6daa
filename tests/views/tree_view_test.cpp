// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/cpu_time.h"
#include "tests/views/view_fixture.h"
#include "views/tree_view.h"

#include <QImage>
#include <QScrollBar>
#include <QTest>
#include <QWheelEvent>

using namespace espalier;

namespace {

class TreeViewTest : public ViewFixture
{
protected:
    void show(int width = 1000, int height = 700)
    {
        view.resize(width, height);
        view.show();
        settle();
    }
    int at(std::int64_t id) const { return bench.nodes().indexOf(NodeId{id}); }

    TreeView view{bench};
};

} // namespace

TEST_F(TreeViewTest, LabelsNeverOverlap)
{
    scriptSoftmax(*link, Provenance::Model);
    show();
    open();
    const TreeScene& scene = view.scene();
    for (int a = 0; a < bench.nodes().count(); ++a) {
        for (int b = 0; b < a; ++b) {
            EXPECT_FALSE(scene.rectOf(a).intersects(scene.rectOf(b))) << a << " and " << b;
        }
        const int parent = bench.nodes().parentOf(a);
        if (parent >= 0) {
            EXPECT_GT(scene.rectOf(a).left(), scene.labelEnd(parent)) << "children stand right of their parent's label";
        }
    }
}

TEST_F(TreeViewTest, FiveThousandNodesPaintWithinAFrameOrSo)
{
    scriptBigTree(*link, 5000);
    show();
    open();
    view.setBestLineages(false);
    settle();
    QImage image(view.viewport()->size(), QImage::Format_ARGB32_Premultiplied);
    for (const double zoom : {0.05, 0.3, 1.0}) {
        view.resetZoom();
        view.zoomBy(zoom);
        view.viewport()->render(&image); // fonts and caches
        const double start = test::cpuSeconds();
        view.viewport()->render(&image);
        EXPECT_LT(test::cpuSeconds() - start, 0.2) << "zoom " << zoom;
    }
}

TEST_F(TreeViewTest, BigTreesStartFoldedToTheBestLineages)
{
    scriptBigTree(*link, 2000);
    show();
    open();
    EXPECT_TRUE(view.scene().fold().bestLineages());
    int shown = 0, hidden = 0;
    for (int node = 0; node < bench.nodes().count(); ++node) {
        shown += view.scene().isVisible(node);
        hidden += view.scene().isVisible(node) ? view.scene().layout().hiddenBelow[std::size_t(node)] : 0;
    }
    EXPECT_LT(shown, 500);
    EXPECT_EQ(shown + hidden, 2000); // every node is either drawn or counted in a stub
    bench.select(NodeId{1999});      // from the leaderboard, say
    EXPECT_TRUE(view.scene().isVisible(at(1999)));
}

TEST_F(TreeViewTest, NewsNeverMoveWhatIsBeingRead)
{
    scriptBigTree(*link, 250);
    show(700, 400);
    open();
    view.resetZoom();
    bench.select(NodeId{150});
    settle();
    const QRectF before = view.deviceRectOf(at(150));
    for (int i = 0; i < 40; ++i) { // siblings of early ancestors: everything below shifts
        NodeSummary node;
        node.id = NodeId{1000 + i};
        node.kind = NodeKind::Idea;
        node.title = "a title that is longer than any before it, to widen its column";
        node.parents = {{NodeId{1 + i % 20}, EdgeRole::Primary}};
        node.ordinal = 0;
        link->add(node);
    }
    settle();
    const QRectF after = view.deviceRectOf(at(150));
    EXPECT_NEAR(before.left(), after.left(), 1.5);
    EXPECT_NEAR(before.top(), after.top(), 1.5);
    EXPECT_EQ(bench.selected(), NodeId{150});
}

TEST_F(TreeViewTest, FollowGoesToTheNewest)
{
    scriptBigTree(*link, 250);
    show(500, 300);
    open();
    view.resetZoom();
    view.setFollow(true);
    NodeSummary node;
    node.id = NodeId{1000};
    node.kind = NodeKind::Idea;
    node.title = "new";
    node.parents = {{NodeId{249}, EdgeRole::Primary}};
    link->add(node);
    settle();
    EXPECT_TRUE(QRectF(view.viewport()->rect()).contains(view.deviceRectOf(at(1000)).center()));
}

TEST_F(TreeViewTest, WheelZoomsAtTheCursor)
{
    scriptBigTree(*link, 280);
    show(600, 400);
    open();
    view.resetZoom();
    view.horizontalScrollBar()->setValue(300);
    view.verticalScrollBar()->setValue(300);
    const QPointF cursor(250, 170);
    const int node = at(100);
    const QPointF before = (view.deviceRectOf(node).topLeft() - cursor) / view.zoom();
    QWheelEvent wheel(cursor, view.viewport()->mapToGlobal(cursor), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(view.viewport(), &wheel);
    EXPECT_GT(view.zoom(), 1.2);
    const QPointF after = (view.deviceRectOf(node).topLeft() - cursor) / view.zoom();
    EXPECT_NEAR(before.x(), after.x(), 2);
    EXPECT_NEAR(before.y(), after.y(), 2);
}

TEST_F(TreeViewTest, KeysWalkAndMouseSelects)
{
    scriptSoftmax(*link, Provenance::Model);
    show();
    open();
    QTest::keyClick(&view, Qt::Key_Home);
    EXPECT_EQ(bench.selected(), NodeId{1});
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(bench.selected(), NodeId{2});
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(bench.selected(), NodeId{3});
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_EQ(bench.selected(), NodeId{1});
    QTest::keyClick(&view, Qt::Key_B);
    EXPECT_EQ(bench.selected(), link->status.best);
    view.resetZoom();
    view.ensureVisible(at(3));
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.deviceRectOf(at(3)).center().toPoint());
    EXPECT_EQ(bench.selected(), NodeId{3});
    QTest::keyClick(&view, Qt::Key_Space);
    EXPECT_FALSE(view.scene().isVisible(bench.nodes().childrenOf(at(3)).front()));
    QTest::keyClick(&view, Qt::Key_Right); // opens what is folded and goes in
    EXPECT_EQ(bench.nodes().parentOf(bench.selectedIndex()), at(3));
}
