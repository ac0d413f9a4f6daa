// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/diff_job.h"

#include <QWidget>

namespace espalier {

class CodeView;
class DiffOverview;
class ThemeManager;

/// Two source panes side by side, equal lines opposite each other. Fillers are annotations below the line before them;
/// an annotation cannot stand above the first line, so both documents begin with a comment line that names the version.
/// The panes follow each other's scrolling through SCN_UPDATEUI, which fires for the keyboard and for programs too.
/// Thread: GUI.
class DiffView : public QWidget
{
    Q_OBJECT
public:
    explicit DiffView(ThemeManager& themes, QWidget* parent = nullptr);

    void setCompared(const std::shared_ptr<const ComparedTexts>& compared); ///< null: empty
    int hunks() const { return m_compared ? int(m_compared->diff.hunks.size()) : 0; }
    int currentHunk() const { return m_hunk; } ///< -1: none
    void showHunk(int hunk);
    CodeView* left() { return m_left; }
    CodeView* right() { return m_right; }

signals:
    void hunkChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fill(CodeView* pane, bool isLeft);
    void addFillers();
    void addFiller(CodeView* pane, int line, int rows);
    void markWords(CodeView* pane, bool isLeft);
    void followed(CodeView* source, CodeView* target, int updated);
    void scrollToRow(int row);

    ThemeManager& m_themes;
    CodeView* m_left;
    CodeView* m_right;
    DiffOverview* m_overview;
    std::shared_ptr<const ComparedTexts> m_compared;
    int m_hunk = -1;
    long m_placedAt = -1; ///< first line shown since the last jump; who scrolled away is left there
    bool m_following = false;
};

} // namespace espalier
