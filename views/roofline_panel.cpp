// SPDX-License-Identifier: GPL-3.0-only
#include "views/roofline_panel.h"

#include "views/profile_shelf.h"
#include "views/roofline_view.h"
#include "views/sign_icon.h"
#include "views/workbench.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <QSaveFile>
#include <QStackedLayout>
#include <QToolButton>
#include <algorithm>

namespace espalier {

RooflinePanel::RooflinePanel(Workbench& bench, ProfileShelf& shelf, Comparison& comparison, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_shelf(shelf), m_comparison(comparison),
      m_view(new RooflineView(bench.themes())), m_verdict(new QLabel), m_count(new QLabel), m_empty(new QLabel),
      m_level(new QComboBox), m_isolate(new QToolButton), m_export(new QToolButton), m_pages(new QStackedLayout)
{
    m_level->addItems({tr("DRAM bytes"), tr("L2 bytes"), tr("L1 bytes"), tr("All levels")});
    m_level->setAccessibleName(tr("Memory level that gives the intensity"));
    m_level->setToolTip(tr("Which level's bytes give the FLOP per byte (L in the chart)"));
    connect(m_level, &QComboBox::currentIndexChanged, this, &RooflinePanel::refocus);
    m_isolate->setText(tr("Isolate lineage"));
    m_isolate->setToolTip(tr("Only the selected candidate, those above it, and the best one's line (I in the chart)"));
    m_isolate->setCheckable(true);
    m_isolate->setAutoRaise(true);
    connect(m_isolate, &QToolButton::toggled, this, &RooflinePanel::refocus);
    m_export->setPopupMode(QToolButton::InstantPopup);
    m_export->setAutoRaise(true);
    m_export->setToolTip(tr("Export the chart"));
    m_export->setAccessibleName(m_export->toolTip());
    const std::pair<const char*, QString> forms[] = {
        {"png", tr("Export as PNG…")}, {"svg", tr("Export as SVG…")}, {"csv", tr("Export the figures as CSV…")}};
    for (const auto& [ending, text] : forms) {
        auto* action = new QAction(text, m_export);
        connect(action, &QAction::triggered, this, [this, form = QString::fromLatin1(ending)] { chooseFile(form); });
        m_export->addAction(action);
    }
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(8, 4, 8, 4);
    bar->setSpacing(8);
    bar->addWidget(m_level);
    bar->addWidget(m_isolate);
    bar->addStretch(1);
    bar->addWidget(m_count);
    bar->addWidget(m_export);
    m_verdict->setTextFormat(Qt::RichText);
    m_verdict->setWordWrap(true);
    m_verdict->setContentsMargins(12, 2, 12, 4);
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_verdict->setAccessibleName(tr("Roofline verdict"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(24);
    m_pages->addWidget(m_view);
    m_pages->addWidget(m_empty);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_verdict);
    layout->addLayout(m_pages, 1);

    connect(&shelf, &ProfileShelf::changed, this, &RooflinePanel::rebuild);
    connect(&comparison, &Comparison::changed, this, &RooflinePanel::refocus);
    connect(&bench.nodes(), &NodeStore::statusChanged, this, [this] {
        if (m_bench.nodes().status().best != m_view->focusOn().best) {
            refocus();
        }
    });
    connect(m_view, &RooflineView::nodeChosen, &bench, [&bench](NodeId node) { bench.select(node); });
    connect(m_view, &RooflineView::isolationWanted, m_isolate, &QToolButton::setChecked);
    connect(m_view, &RooflineView::levelWanted, this, [this](int step) {
        m_level->setCurrentIndex((m_level->currentIndex() + step + m_level->count()) % m_level->count());
    });
    connect(&bench.themes(), &ThemeManager::themeChanged, this, &RooflinePanel::restyle);
    restyle();
    rebuild();
}

void RooflinePanel::restyle()
{
    m_export->setIcon(themedIcon(QStringLiteral("export"), m_bench.theme()));
    QPalette muted = palette();
    muted.setColor(QPalette::WindowText, m_bench.theme()[Token::Muted]);
    m_count->setPalette(muted);
    m_empty->setPalette(muted);
    refocus(); // the verdict's rich text has colours in it
}

QString RooflinePanel::verdict() const
{
    QString plain = m_verdict->text();
    static const QRegularExpression tags(QStringLiteral("<[^>]*>"));
    return plain.remove(tags);
}

void RooflinePanel::setLevel(int choice)
{
    m_level->setCurrentIndex(choice);
}

void RooflinePanel::setIsolated(bool on)
{
    m_isolate->setChecked(on);
}

void RooflinePanel::rebuild()
{
    if (!isVisible()) {
        return; // made up for when it is shown
    }
    RooflineChart chart;
    for (const auto& [node, facts] : m_shelf.all()) {
        if (facts->point) {
            chart.points.push_back(*facts->point);
        }
        // One device, one set of roofs: the fullest one that a candidate was given.
        if (facts->bandwidths.size() > chart.bandwidths.size()) {
            chart.bandwidths = facts->bandwidths;
        }
        if (facts->rates.size() > chart.rates.size()) {
            chart.rates = facts->rates;
        }
    }
    std::sort(chart.points.begin(), chart.points.end(),
              [](const RooflinePoint& a, const RooflinePoint& b) { return a.node < b.node; });
    const int passed = m_shelf.candidates();
    m_count->setText(passed == 0 ? QString() : tr("%1 of %2 profiled").arg(m_shelf.profiled()).arg(passed));
    m_export->setEnabled(!chart.points.empty());
    m_view->setChart(std::move(chart));
    refocus();
}

void RooflinePanel::refocus()
{
    RooflineFocus focus;
    const int choice = m_level->currentIndex();
    focus.level = choice < int(memoryLevels.size()) ? std::optional(memoryLevels[std::size_t(choice)]) : std::nullopt;
    focus.selected = m_bench.selected();
    focus.baseline = m_comparison.baseline();
    focus.best = m_bench.nodes().status().best;
    focus.isolated = m_isolate->isChecked();
    focus.kept = m_comparison.kept();
    m_view->setFocusOn(focus);

    const RooflineChart& chart = m_view->chart();
    const RooflinePoint* point = chart.find(focus.selected);
    QString text;
    if (point) {
        const QString colour = m_bench.theme()[Token::Suspicious].name();
        const bool model = point->provenance == Provenance::Model;
        text = point->sentence.toHtmlEscaped();
        text = text.left(1).toUpper() + text.mid(1);
        text = model ? tr("<i>≈ %1 (modelled, not measured)</i>").arg(text) : text;
        for (const QString& check : point->checks) {
            text += QStringLiteral("<br><span style='color:%1'>%2</span>")
                        .arg(colour, tr("To be checked before it is believed: %1").arg(check).toHtmlEscaped());
        }
        if (focus.level && !point->drawable(*focus.level)) {
            text +=
                QStringLiteral("<br>") +
                (point->gflops <= 0 ? tr("It does no counted arithmetic, so it has no place on this chart; its share "
                                         "of the memory roofs is in the sentence above.")
                                    : tr("No %1 bytes were counted for it.").arg(nameOf(*focus.level)));
        }
    } else if (const auto facts = focus.selected ? m_shelf.find(*focus.selected) : nullptr; facts) {
        text = (facts->why.isEmpty() ? tr("The selected candidate has no place on the chart.") : facts->why)
                   .toHtmlEscaped();
    }
    m_verdict->setText(text);
    m_verdict->setVisible(!text.isEmpty() && !chart.points.empty());
    if (chart.points.empty()) {
        const auto facts = focus.selected ? m_shelf.find(*focus.selected) : nullptr;
        m_empty->setText(!m_shelf.complete()              ? tr("Loading…")
                         : facts && !facts->why.isEmpty() ? facts->why
                                                          : tr("No candidate of this session was profiled yet."));
        m_pages->setCurrentWidget(m_empty);
    } else {
        m_pages->setCurrentWidget(m_view);
    }
}

void RooflinePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_shelf.setWanted(this, true);
    rebuild();
}

void RooflinePanel::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_shelf.setWanted(this, false);
}

void RooflinePanel::chooseFile(const QString& ending)
{
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Export the chart"), QStringLiteral("roofline.") + ending);
    if (file.isEmpty()) {
        return;
    }
    if (const QString problem = exportTo(file); problem.isEmpty()) {
        emit exported(file);
    } else {
        emit exportFailed(problem);
    }
}

QString RooflinePanel::exportTo(const QString& file) const
{
    const QSize size = m_view->size().expandedTo({900, 560});
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) {
        return tr("%1 cannot be written: %2.").arg(file, out.errorString());
    }
    if (file.endsWith(QLatin1String(".csv"))) {
        out.write(csvOf(m_view->chart()).toUtf8());
    } else if (file.endsWith(QLatin1String(".svg"))) {
        out.write(m_view->svg(size));
    } else if (!m_view->image(size).save(&out, "PNG")) {
        return tr("The picture could not be written to %1.").arg(file);
    }
    return out.commit() ? QString() : tr("%1 cannot be written: %2.").arg(file, out.errorString());
}

} // namespace espalier
