// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/theme.h"

#include <QFrame>

class QLabel;
class QToolButton;

namespace espalier {

/// One sentence across the top of the window: why something could not be done, or what was. Never a dialog. A newer
/// message replaces the older. Thread: GUI.
class Banner : public QFrame
{
    Q_OBJECT
public:
    enum class Kind { Problem, Note };
    explicit Banner(ThemeManager& themes, QWidget* parent = nullptr);
    void say(Kind kind, const QString& sentence);
    void dismiss() { setVisible(false); }
    QString text() const;

private:
    void restyle();
    ThemeManager& m_themes;
    QLabel* m_icon;
    QLabel* m_text;
    QToolButton* m_close;
    Kind m_kind = Kind::Note;
};

} // namespace espalier
