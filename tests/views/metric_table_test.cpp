// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/metric_model.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>

using namespace espalier;

namespace {

MetricColumn column(std::int64_t node, const char* title, Provenance provenance = Provenance::Measured,
                    const char* of = "4096x65536")
{
    return {NodeId{node}, QString::fromLatin1(title), provenance, QStringLiteral("CUPTI 13.0.1 on GH100"),
            QString::fromLatin1(of)};
}

MetricRow row(const char* id, const char* name, const char* unit, BetterWhen better, std::vector<double> values,
              double peak = 0)
{
    MetricRow one;
    one.id = id;
    one.group = QStringLiteral("memory");
    one.name = QString::fromLatin1(name);
    one.unit = QString::fromLatin1(unit);
    one.description = QStringLiteral("About %1.").arg(one.name);
    one.better = better;
    for (const double value : values) {
        one.cells.push_back(value < 0 ? std::nullopt : std::optional(MetricCell{value, peak}));
    }
    return one;
}

MetricTable sample()
{
    MetricTable table;
    table.columns = {column(3, "parent"), column(7, "child"), column(9, "modelled", Provenance::Model)};
    table.rows = {
        row("dram_read_bytes", "DRAM read", "B", BetterWhen::Lower, {2.147e9, 1.074e9, 1.0e9}),
        row("dram_percent", "DRAM busy", "%", BetterWhen::Neither, {80, 92, 90}, 100),
        row("l2_hit_percent", "L2 hits", "%", BetterWhen::Higher, {50, 40, 50}, 100),
        row("warp_instructions", "Warp instructions", "instructions", BetterWhen::Lower, {1.0e6, 1.01e6, 1e6}),
        row("local_bytes", "Local memory traffic", "B", BetterWhen::Lower, {0, 4096, 0}),
        row("tensor", "Tensor", "FLOP", BetterWhen::Neither, {-1, 5, -1})};
    return table;
}

class MetricTableTest : public ViewFixture
{
protected:
    /// Name and texts of the rows as they are shown.
    static std::string shown(const QAbstractItemModel& model, int columns = 4)
    {
        std::string out;
        for (int i = 0; i < model.rowCount(); ++i) {
            for (int k = 0; k < columns; ++k) {
                QString text = model.index(i, k).data().toString();
                out += (k ? " | " : "") + text.replace(QChar(0xa0), QLatin1Char(' ')).toStdString();
            }
            out += "\n";
        }
        return out;
    }
};

} // namespace

TEST_F(MetricTableTest, ModelKeepsTheRules)
{
    MetricModel model(themes);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    MetricProxy proxy(model);
    QAbstractItemModelTester proxyTester(&proxy, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setTable(sample());
    proxy.setWords(QStringLiteral("dram"));
    EXPECT_EQ(proxy.rowCount(), 2);
    model.setPinned(model.index(1, 0), true);
    proxy.setOnlyChanged(true);
    model.setNoise(30);
    proxy.setWords({});
    themes.setMode(ThemeMode::Dark);
    proxy.sort(3, Qt::DescendingOrder);
    model.setTable({});
    EXPECT_EQ(proxy.rowCount(), 0);
    EXPECT_EQ(model.columnCount(), 0);
}

TEST_F(MetricTableTest, ValuesChangesAndPercent)
{
    MetricModel model(themes);
    MetricTable table = sample();
    table.columns.pop_back();
    for (MetricRow& one : table.rows) {
        one.cells.pop_back();
    }
    model.setTable(table);
    EXPECT_EQ(shown(model, 5), "DRAM read | 2.15 GB | 1.07 GB | −1.07 GB | −50 %\n"
                               "DRAM busy | 80.0 % | 92.0 % | +12.0 % | +15 %\n"
                               "L2 hits | 50.0 % | 40.0 % | −10.0 % | −20 %\n"
                               "Warp instructions | 1.00 M | 1.01 M | +10.0 k | +1.0 %\n"
                               "Local memory traffic | 0 B | 4096 B | +4096 B | \n"
                               "Tensor | – | 5 FLOP |  | \n");
}

TEST_F(MetricTableTest, DirectionAndNoiseDecideTheWord)
{
    const MetricTable table = sample();
    const auto kind = [&](std::size_t at, double noise) { return changeOf(table, table.rows[at], 1, noise).kind; };
    EXPECT_EQ(kind(0, 2), Change::Better);    // fewer bytes
    EXPECT_EQ(kind(1, 2), Change::Different); // busier is no merit
    EXPECT_EQ(kind(2, 2), Change::Worse);     // fewer hits
    EXPECT_EQ(kind(3, 2), Change::Noise);     // 1 %
    EXPECT_EQ(kind(3, 0.5), Change::Worse);
    EXPECT_EQ(kind(4, 2), Change::Worse); // from nothing to something is no noise
    EXPECT_EQ(kind(5, 2), Change::None);
    EXPECT_EQ(changeOf(table, table.rows[0], 2, 2).kind, Change::Incomparable); // measured beside modelled
    EXPECT_EQ(changeOf(table, table.rows[0], 0, 2).kind, Change::None);
    MetricTable other = sample();
    other.columns[1].comparable = QStringLiteral("another case");
    EXPECT_EQ(changeOf(other, other.rows[0], 1, 2).kind, Change::Incomparable);
}

TEST_F(MetricTableTest, ModelledIsMarkedAndNeverSubtractedFromMeasured)
{
    MetricModel model(themes);
    model.setTable(sample());
    const int value = 5, delta = 6;
    EXPECT_EQ(model.kindOf(value), MetricModel::Kind::Value);
    EXPECT_EQ(model.candidateOf(value), 2u);
    EXPECT_TRUE(model.index(0, value).data().toString().startsWith(QStringLiteral("≈ ")));
    EXPECT_TRUE(model.index(0, value).data(Qt::FontRole).value<QFont>().italic());
    EXPECT_FALSE(model.index(0, 1).data(Qt::FontRole).value<QFont>().italic());
    EXPECT_EQ(model.index(0, delta).data().toString(), QStringLiteral("–"));
    EXPECT_FALSE(model.index(0, delta).data(MetricModel::FigureRole).isValid());
    EXPECT_TRUE(
        model.headerData(value, Qt::Horizontal, Qt::ToolTipRole).toString().contains(QStringLiteral("modelled")));
}

TEST_F(MetricTableTest, AColumnIsHeadedByItsWholeNodeNumber)
{
    MetricModel model(themes);
    MetricTable table = sample();
    table.columns[0].node = NodeId{1031};
    table.columns[0].title = QStringLiteral("BLOCK=256 HELD=8 VEC=4 of the first kernel that was tuned");
    model.setTable(std::move(table));
    for (int column = 0; column < model.columnCount(); ++column) {
        if (model.kindOf(column) != MetricModel::Kind::Value) {
            continue;
        }
        const QString title = model.headerData(column, Qt::Horizontal).toString();
        EXPECT_TRUE(title.startsWith(QString::number(model.table().columns[model.candidateOf(column)].node.value)));
        // What is cut off for want of room is cut at its end: the header is left-aligned.
        EXPECT_TRUE(model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignLeft);
    }
    EXPECT_TRUE(model.headerData(1, Qt::Horizontal).toString().endsWith(QStringLiteral("tuned")))
        << "the width decides";
}

TEST_F(MetricTableTest, ColoursFollowMeritAndTheme)
{
    MetricModel model(themes);
    model.setTable(sample());
    for (const ThemeMode mode : {ThemeMode::Light, ThemeMode::Dark}) {
        themes.setMode(mode);
        EXPECT_EQ(model.index(0, 3).data(Qt::ForegroundRole).value<QColor>(), themes.theme()[Token::Passed]);
        EXPECT_EQ(model.index(2, 3).data(Qt::ForegroundRole).value<QColor>(), themes.theme()[Token::Incorrect]);
        EXPECT_EQ(model.index(3, 3).data(Qt::ForegroundRole).value<QColor>(), themes.theme()[Token::Muted]);
        EXPECT_FALSE(model.index(1, 3).data(Qt::ForegroundRole).isValid());
    }
    EXPECT_TRUE(model.index(0, 3).data(Qt::AccessibleTextRole).toString().endsWith(QStringLiteral("better")));
}

TEST_F(MetricTableTest, BarsAreOfThePeakOrTheLargest)
{
    const MetricTable table = sample();
    EXPECT_DOUBLE_EQ(fillOf(table.rows[1], 0), 0.8);
    EXPECT_DOUBLE_EQ(fillOf(table.rows[0], 0), 1);
    EXPECT_NEAR(fillOf(table.rows[0], 1), 0.5, 0.001);
    EXPECT_EQ(fillOf(table.rows[5], 0), 0);
}

TEST_F(MetricTableTest, PinnedRowsStayOnTopInBothOrders)
{
    MetricModel model(themes);
    model.setTable(sample());
    MetricProxy proxy(model);
    model.setPinned(model.index(3, 0), true);
    const auto first = [&] { return proxy.index(0, 0).data().toString().toStdString(); };
    EXPECT_EQ(first(), "Warp instructions");
    proxy.sort(4, Qt::DescendingOrder);
    EXPECT_EQ(first(), "Warp instructions");
    EXPECT_EQ(proxy.index(1, 0).data().toString().toStdString(), "DRAM busy"); // + 15 %
    EXPECT_EQ(proxy.index(5, 0).data().toString().toStdString(), "Tensor");    // no figure: at the end
    proxy.sort(4, Qt::AscendingOrder);
    EXPECT_EQ(first(), "Warp instructions");
    EXPECT_EQ(proxy.index(1, 0).data().toString().toStdString(), "DRAM read"); // − 50 %
    model.setPinned(model.index(3, 0), false);
    proxy.sort(0, Qt::AscendingOrder);
    EXPECT_EQ(first(), "DRAM read");
    EXPECT_TRUE(model.pinnedIds().isEmpty());
}

TEST_F(MetricTableTest, CopiesWhatIsShown)
{
    MetricModel model(themes);
    model.setTable(sample());
    MetricProxy proxy(model);
    proxy.setWords(QStringLiteral("dram read"));
    const std::string markdown = markdownOf(proxy).toStdString();
    EXPECT_EQ(markdown, "| Metric | 3  parent | 7  child | Change | % | 9  modelled | Change | % |\n"
                        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
                        "| DRAM read | 2.15 GB | 1.07 GB | −1.07 GB | −50 % | ≈ 1.00 GB | – | – |\n");
    const std::string csv = csvOf(proxy, model).toStdString();
    EXPECT_EQ(csv,
              "id,unit,3 parent (measured),7 child (measured),7 child (measured) change,7 child (measured) change %,"
              "9 modelled (model),9 modelled (model) change,9 modelled (model) change %\n"
              "dram_read_bytes,B,2147000000,1074000000,-1073000000,-49.9767116907,1000000000,,\n");
}
