// SPDX-License-Identifier: GPL-3.0-only
#include "views/metric_panel.h"

#include "views/format.h"
#include "views/metric_model.h"
#include "views/profile_shelf.h"
#include "views/sign_icon.h"
#include "views/workbench.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QSettings>
#include <QShortcut>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QTreeView>

namespace espalier {

namespace {

/// A bar behind the figure: how much of its peak, or of the row's largest, it is.
class BarDelegate : public QStyledItemDelegate
{
public:
    BarDelegate(ThemeManager& themes, QObject* parent) : QStyledItemDelegate(parent), m_themes(themes) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const QVariant fill = index.data(MetricModel::FillRole);
        if (fill.isValid() && fill.toDouble() > 0 && !(option.state & QStyle::State_Selected)) {
            QRectF bar = QRectF(option.rect).adjusted(4, 3, -2, -3);
            bar.setLeft(bar.right() - bar.width() * fill.toDouble());
            painter->fillRect(bar, m_themes.theme()[Token::Selection]);
        }
        QStyledItemDelegate::paint(painter, option, index);
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        return QStyledItemDelegate::sizeHint(option, index) + QSize(8, 6); // air between figures, as in the leaderboard
    }

private:
    ThemeManager& m_themes;
};

} // namespace

MetricPanel::MetricPanel(Workbench& bench, ProfileShelf& shelf, Comparison& comparison, QSettings& settings,
                         QWidget* parent)
    : QWidget(parent), m_bench(bench), m_shelf(shelf), m_comparison(comparison), m_settings(settings),
      m_model(new MetricModel(bench.themes(), this)), m_proxy(new MetricProxy(*m_model, this)), m_view(new QTreeView),
      m_empty(new QLabel), m_note(new QLabel), m_pages(new QStackedLayout), m_against(new QComboBox),
      m_filter(new QLineEdit), m_noise(new QDoubleSpinBox), m_keep(new QToolButton), m_onlyChanged(new QToolButton),
      m_copy(new QToolButton)
{
    m_model->setNoise(settings.value(QStringLiteral("metrics/noise"), 2.0).toDouble());
    m_model->setPinnedIds(settings.value(QStringLiteral("metrics/pinned")).toStringList());
    m_view->setModel(m_proxy);
    m_view->setItemDelegate(new BarDelegate(bench.themes(), m_view));
    m_view->setAccessibleName(tr("Metrics"));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setRootIsDecorated(false);
    m_view->setUniformRowHeights(true);
    m_view->setAllColumnsShowFocus(true);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(0, Qt::AscendingOrder);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->header()->setTextElideMode(Qt::ElideRight);

    auto* pin = new QAction(tr("Pin or unpin the row"), m_view);
    pin->setShortcut(QKeySequence(Qt::Key_Space));
    pin->setShortcutContext(Qt::WidgetShortcut);
    connect(pin, &QAction::triggered, this, &MetricPanel::pinCurrent);
    auto* markdown = new QAction(tr("Copy the table as Markdown"), m_view);
    markdown->setShortcut(QKeySequence::Copy);
    markdown->setShortcutContext(Qt::WidgetShortcut);
    connect(markdown, &QAction::triggered, this, &MetricPanel::copyMarkdown);
    auto* csv = new QAction(tr("Copy the table as CSV"), m_view);
    connect(csv, &QAction::triggered, this, &MetricPanel::copyCsv);
    m_view->addActions({pin, markdown, csv});
    m_copy->addActions({markdown, csv});

    auto* bar = new QHBoxLayout;
    buildBar(bar);
    m_note->setWordWrap(true);
    m_note->setContentsMargins(12, 4, 12, 4);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(24);
    m_pages->addWidget(m_view);
    m_pages->addWidget(m_empty);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addLayout(m_pages, 1);
    layout->addWidget(m_note);

    connect(&shelf, &ProfileShelf::changed, this, &MetricPanel::refresh);
    connect(&comparison, &Comparison::changed, this, &MetricPanel::refresh);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, &MetricPanel::restyle);
    restyle();
    refresh();
}

void MetricPanel::buildBar(QHBoxLayout* bar)
{
    bar->setContentsMargins(8, 4, 8, 4);
    bar->setSpacing(6);
    m_against->addItems({tr("against its parent"), tr("against the root"), tr("against the best")});
    m_against->setAccessibleName(tr("What the selected candidate is compared with"));
    connect(m_against, &QComboBox::activated, this,
            [this](int choice) { m_comparison.setAgainst(static_cast<Comparison::Against>(choice)); });
    m_keep->setText(tr("Keep"));
    m_keep->setToolTip(tr("Keep the selected candidate as a column while others are selected"));
    m_keep->setCheckable(true);
    m_keep->setAutoRaise(true);
    connect(m_keep, &QToolButton::clicked, this, [this](bool on) {
        if (const auto selected = m_bench.selected()) {
            m_comparison.keep(*selected, on);
        }
    });
    m_filter->setPlaceholderText(tr("Filter metrics"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(tr("Filter metrics"));
    connect(m_filter, &QLineEdit::textChanged, m_proxy, &MetricProxy::setWords);
    m_noise->setRange(0, 50);
    m_noise->setDecimals(1);
    m_noise->setSingleStep(0.5);
    m_noise->setPrefix(tr("noise "));
    m_noise->setSuffix(tr(" %"));
    m_noise->setValue(m_model->noise());
    m_noise->setAccessibleName(tr("Changes up to this many percent count as noise"));
    m_noise->setToolTip(m_noise->accessibleName());
    connect(m_noise, &QDoubleSpinBox::valueChanged, this, [this](double percent) {
        m_model->setNoise(percent);
        m_settings.setValue(QStringLiteral("metrics/noise"), percent);
    });
    m_onlyChanged->setText(tr("Changed only"));
    m_onlyChanged->setCheckable(true);
    m_onlyChanged->setAutoRaise(true);
    connect(m_onlyChanged, &QToolButton::toggled, m_proxy, &MetricProxy::setOnlyChanged);
    m_copy->setPopupMode(QToolButton::InstantPopup);
    m_copy->setAutoRaise(true);
    m_copy->setToolTip(tr("Copy the table"));
    m_copy->setAccessibleName(m_copy->toolTip());
    bar->addWidget(m_against);
    bar->addWidget(m_keep);
    bar->addWidget(m_filter, 1);
    bar->addWidget(m_onlyChanged);
    bar->addWidget(m_noise);
    bar->addWidget(m_copy);
}

void MetricPanel::restyle()
{
    m_copy->setIcon(themedIcon(QStringLiteral("copy"), m_bench.theme()));
    QPalette muted = palette();
    muted.setColor(QPalette::WindowText, m_bench.theme()[Token::Muted]);
    m_note->setPalette(muted);
    m_empty->setPalette(muted);
}

QString MetricPanel::whyEmpty() const
{
    const auto selected = m_bench.selected();
    const int index = m_bench.selectedIndex();
    if (!selected || index < 0) {
        return tr("Select a candidate to see its counters beside its parent's.");
    }
    const NodeSummary& node = m_bench.nodes().at(index);
    if (node.kind == NodeKind::Idea) {
        return tr("An idea has no counters of its own: select one of its candidates.");
    }
    if (node.state != NodeState::Done) {
        return tr("Counters are taken after timing: this candidate is not there yet.");
    }
    if (node.outcome != Outcome::Passed) {
        return tr("Only candidates that pass are profiled. Stages says where this one ended.");
    }
    const auto facts = m_shelf.find(*selected);
    if (!facts) {
        return tr("Loading…");
    }
    return facts->why.isEmpty() ? tr("This candidate was not profiled.") : facts->why;
}

QString MetricPanel::emptyText() const
{
    return m_pages->currentWidget() == m_empty ? m_empty->text() : QString();
}

void MetricPanel::refresh()
{
    if (!isVisible()) {
        return; // made up for when it is shown
    }
    const auto selected = m_bench.selected();
    m_against->setCurrentIndex(int(m_comparison.against()));
    m_keep->setEnabled(selected.has_value());
    m_keep->setChecked(selected && m_comparison.isKept(*selected));
    std::vector<std::shared_ptr<const CandidateFacts>> facts;
    std::vector<NodeId> shown;
    QStringList notes;
    bool own = false;
    for (const NodeId node : m_comparison.candidates()) {
        const auto one = m_shelf.find(node);
        if (one && !one->metrics.empty()) {
            facts.push_back(one);
            shown.push_back(node);
            own = own || node == selected;
        }
        if (one && !one->why.isEmpty() && node == selected) {
            notes += one->why;
        } else if (one && one->metrics.empty() && node != selected) {
            notes += tr("Candidate %1 has no counters to compare with.").arg(node.value);
        }
    }
    if (!own) {
        m_empty->setText(whyEmpty());
        m_pages->setCurrentWidget(m_empty);
        m_note->hide();
        m_shown.clear();
        m_model->setTable({});
        return;
    }
    showTable(tableOf(facts));
    m_pages->setCurrentWidget(m_view);
    m_note->setText(notes.join(QLatin1Char(' ')));
    m_note->setVisible(!notes.isEmpty());
    if (shown != m_shown) {
        m_shown = shown;
        m_view->header()->setStretchLastSection(false);
        shareWidth();
    }
}

/// Figures first: a long name must not push them out of sight. What is free then goes to the names.
void MetricPanel::shareWidth()
{
    const int widest = fontMetrics().horizontalAdvance(QStringLiteral("≈ 1007.5 GFLOP")) + 8;
    QList<int> named;
    int free = m_view->viewport()->width();
    for (int column = 0; column < m_model->columnCount(); ++column) {
        m_view->resizeColumnToContents(column);
        if (column > 0) {
            m_view->setColumnWidth(column, std::min(m_view->columnWidth(column), widest));
        }
        free -= m_view->columnWidth(column);
        if (m_model->kindOf(column) == MetricModel::Kind::Value) {
            named += column;
        }
    }
    for (qsizetype i = 0; i < named.size() && free > 0; ++i) {
        const int wanted = m_view->header()->sectionSizeHint(named[i]) - m_view->columnWidth(named[i]);
        const int given = std::clamp(wanted, 0, free / int(named.size() - i));
        m_view->setColumnWidth(named[i], m_view->columnWidth(named[i]) + given);
        free -= given;
    }
}

void MetricPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (!m_shown.empty()) {
        shareWidth();
    }
}

/// Whoever walks over the candidates keeps looking at the same rows.
void MetricPanel::showTable(MetricTable table)
{
    if (table == m_model->table()) {
        return;
    }
    const int scrolled = m_view->verticalScrollBar()->value();
    const QString current = m_view->currentIndex().data(MetricModel::IdRole).toString();
    m_model->setTable(std::move(table));
    for (int row = 0; !current.isEmpty() && row < m_proxy->rowCount(); ++row) {
        if (m_proxy->index(row, 0).data(MetricModel::IdRole).toString() == current) {
            m_view->setCurrentIndex(m_proxy->index(row, 0));
        }
    }
    m_view->verticalScrollBar()->setValue(scrolled);
}

void MetricPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_shelf.setWanted(this, true);
    refresh();
}

void MetricPanel::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_shelf.setWanted(this, false);
}

void MetricPanel::copyMarkdown()
{
    QApplication::clipboard()->setText(markdownOf(*m_proxy));
}

void MetricPanel::copyCsv()
{
    QApplication::clipboard()->setText(csvOf(*m_proxy, *m_model));
}

void MetricPanel::pinCurrent()
{
    const QModelIndex index = m_proxy->mapToSource(m_view->currentIndex());
    if (index.isValid()) {
        m_model->setPinned(index, !index.data(MetricModel::PinnedRole).toBool());
        m_settings.setValue(QStringLiteral("metrics/pinned"), m_model->pinnedIds());
    }
}

} // namespace espalier
