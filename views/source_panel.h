// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/line_figures.h"

#include <QWidget>
#include <memory>
#include <vector>

class QHBoxLayout;
class QAction;
class QLabel;
class QLineEdit;
class QSplitter;

namespace espalier {

class CodePane;
class CodeView;
class Workbench;

/// The Source tab: a candidate's whole text with figures by line, the compiler's messages below their lines, a find
/// field, and beside it the PTX and the machine code, linked line by line in both directions. Thread: GUI; listings are
/// asked for only while one is shown.
class SourcePanel : public QWidget
{
    Q_OBJECT
public:
    explicit SourcePanel(Workbench& bench, QWidget* parent = nullptr);
    void setDetail(const std::shared_ptr<const NodeDetail>& detail); ///< null: empty
    void showListings(bool shown);
    void goToLine(int line); ///< 1-based, as a compiler counts
    QAction* nextHot() { return m_nextHot; }
    QAction* previousHot() { return m_previousHot; }
    CodePane& source() { return *m_source; }
    CodePane& ptx() { return *m_ptx; }
    CodePane& sass() { return *m_sass; }

public slots:
    void startFind();
    void copySource();

protected:
    void showEvent(QShowEvent* event) override;

private:
    void buildBar(QHBoxLayout* bar);
    void annotate();
    void find(bool forward);
    void markAll();
    void updateListings();
    void showFigures();
    void fill(CodePane& pane, const Listing& listing);
    void linkFromSource(int line);
    void linkFromListing(CodePane& pane, const std::vector<ListingLine>& lines, int line);
    void markLine(int ownLine, CodePane* origin);
    void stepHot(int step);
    void resetHot();

    Workbench& m_bench;
    QSplitter* m_panes;
    CodePane *m_source, *m_ptx, *m_sass;
    CodeView* m_code; ///< the source pane's
    QLineEdit* m_find;
    QLabel* m_found;
    QLabel* m_hot;
    QAction *m_nextHot, *m_previousHot, *m_ptxShown, *m_sassShown;
    std::shared_ptr<const NodeDetail> m_detail;
    std::shared_ptr<const CodeListings> m_listings;
    std::vector<int> m_hottest; ///< lines from 0, heaviest first
    int m_hotIndex = -1;
};

} // namespace espalier
