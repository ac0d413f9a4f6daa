// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QWidget>

namespace espalier {

class ThemeManager;
struct TextDiff;

/// The strip beside a diff: where the changes are in the whole text, what is on screen, a click goes there. Thread:
/// GUI.
class DiffOverview : public QWidget
{
    Q_OBJECT
public:
    explicit DiffOverview(ThemeManager& themes, QWidget* parent = nullptr);
    void setDiff(const TextDiff* diff); ///< null: empty; must outlive its use here
    void setSeen(int firstRow, int rows);
    void setCurrent(int hunk);
    QSize sizeHint() const override { return {14, 100}; }

signals:
    void rowWanted(int row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    double yOf(int row) const;
    ThemeManager& m_themes;
    const TextDiff* m_diff = nullptr;
    int m_first = 0, m_seen = 0, m_current = -1;
};

} // namespace espalier
