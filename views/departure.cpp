// SPDX-License-Identifier: GPL-3.0-only
#include "views/departure.h"

#include "views/closing_pause.h"
#include "views/format.h"
#include "views/workbench.h"

#include <QMessageBox>
#include <QPushButton>
#include <QStringList>
#include <QWidget>

namespace espalier {

Departure::Departure(Workbench& bench, QWidget* window)
    : QObject(window), m_bench(bench), m_window(window), m_pause(new ClosingPause(bench, this))
{
    connect(m_pause, &ClosingPause::waits, this, &Departure::waiting);
    connect(m_pause, &ClosingPause::closeNow, window, &QWidget::close, Qt::QueuedConnection); // not within closeEvent()
    connect(&bench.bridge(), &EngineBridge::released, this, [this] {
        if (m_waiting) {
            m_ended = true;
            m_window->close();
        }
    });
}

void Departure::askFirst(const QString& what, const QString& act, std::function<void()> then)
{
    if (!m_bench.isSearching()) {
        return then();
    }
    auto* box = new QMessageBox(QMessageBox::Question, tr("A search is running"),
                                tr("The search on %1 is running.").arg(format::text(m_bench.session()->taskId)),
                                QMessageBox::NoButton, m_window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(
        tr("%1 ends it: what is being built or judged now goes back to the queue, everything judged is kept.")
            .arg(what));
    QPushButton* go = box->addButton(act, QMessageBox::AcceptRole);
    box->setDefaultButton(box->addButton(tr("Search on"), QMessageBox::RejectRole));
    connect(&m_bench.nodes(), &NodeStore::statusChanged, box, [this, box, task = m_bench.session()->taskId] {
        if (!m_bench.isSearching()) { // what was asked about is over
            box->setText(tr("The search on %1 has ended meanwhile.").arg(format::text(task)));
            box->setInformativeText(tr("Everything judged is kept."));
        }
    });
    connect(box, &QMessageBox::buttonClicked, this, [box, go, then = std::move(then)] {
        if (box->clickedButton() == go) {
            then();
        }
    });
    box->open();
}

bool Departure::mayClose()
{
    if (m_ended) {
        return true;
    }
    if (m_waiting || m_pause->isWaiting()) {
        m_cutShort = true; // nothing is lost: every finished stage is in the session
        return true;
    }
    if (!m_bench.bridge().isOpen() && !m_bench.bridge().isOpening()) {
        return true;
    }
    if (m_bench.isSearching() && !m_agreed) {
        askFirst(tr("Closing the window"), tr("End the search and close"), [this] {
            m_agreed = true;
            m_window->close();
        });
        return false;
    }
    if (!m_pause->mayClose()) {
        return false;
    }
    m_waiting = true;
    emit waiting(
        tr("Closing: waiting for %1 to end. Close again to end at once; everything judged is kept.").arg(whatRuns()));
    m_bench.closeSession();
    return false;
}

/// What the session has to end before it is closed, in words.
QString Departure::whatRuns() const
{
    const RunStatus& status = m_bench.nodes().status();
    QStringList parts;
    if (status.asking > 0) {
        parts += status.asking == 1 ? tr("a model's answer") : tr("%1 answers of models").arg(status.asking);
    }
    if (status.judging > 0) {
        parts += tr("the judge");
    }
    if (status.building > 0) {
        parts += tr("the compiler");
    }
    return parts.isEmpty() ? tr("the session") : parts.join(QStringLiteral(", "));
}

} // namespace espalier
