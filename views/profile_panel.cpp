// SPDX-License-Identifier: GPL-3.0-only
#include "views/profile_panel.h"

#include "views/candidate_facts.h"
#include "views/diagnosis_text.h"
#include "views/kernel_model.h"
#include "views/theme.h"

#include <QHeaderView>
#include <QLabel>
#include <QTextBrowser>
#include <QTextDocument>
#include <QTreeView>
#include <QUrl>
#include <QVBoxLayout>

namespace espalier {

ProfilePanel::ProfilePanel(ThemeManager& themes, QWidget* parent)
    : QWidget(parent), m_themes(themes), m_findings(new QTextBrowser), m_table(new QTreeView),
      m_kernels(new KernelModel(themes, this))
{
    m_findings->setFrameShape(QFrame::NoFrame);
    m_findings->document()->setDocumentMargin(12);
    m_findings->setOpenLinks(false);
    m_findings->setAccessibleName(tr("Diagnosis"));
    connect(m_findings, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        if (link.scheme() == QLatin1String("line")) {
            emit lineWanted(link.path().toInt());
        }
    });
    m_table->setModel(m_kernels);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setRootIsDecorated(false);
    m_table->setUniformRowHeights(true);
    m_table->setAllColumnsShowFocus(true);
    m_table->setAccessibleName(tr("Kernels"));
    m_table->header()->setStretchLastSection(true);
    auto* title = new QLabel(tr("Kernels, as ptxas and the launch say"));
    title->setContentsMargins(12, 6, 12, 4);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_findings, 3);
    layout->addWidget(title);
    layout->addWidget(m_table, 1);
    connect(&themes, &ThemeManager::themeChanged, this, &ProfilePanel::refresh); // links have colours of their own
}

void ProfilePanel::setDetail(const std::shared_ptr<const NodeDetail>& detail)
{
    m_detail = detail;
    refresh();
}

void ProfilePanel::refresh()
{
    const bool candidate = m_detail && m_detail->summary.kind != NodeKind::Idea;
    m_kernels->setRows(candidate ? kernelRows(m_detail->evaluation) : std::vector<KernelRow>());
    for (int column = 0; column < KernelModel::columns - 1; ++column) {
        m_table->resizeColumnToContents(column);
        m_table->setColumnWidth(column, m_table->columnWidth(column) + 16);
    }
    const QString link =
        QStringLiteral("a { color: %1; text-decoration: none; }").arg(m_themes.theme()[Token::Accent].name());
    m_findings->document()->setDefaultStyleSheet(link);
    if (!candidate) {
        m_findings->setPlainText(tr("Select a candidate to see what keeps it from being faster."));
    } else if (const QString page = diagnosisPage(*m_detail, m_themes.theme()); !page.isEmpty()) {
        m_findings->setHtml(page);
    } else {
        m_findings->setPlainText(factsOf(*m_detail).why);
    }
}

QString ProfilePanel::findings() const
{
    return m_findings->toPlainText();
}

} // namespace espalier
