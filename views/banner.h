// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/theme.h"

#include <QFrame>
#include <QList>

class QAction;
class QLabel;
class QToolButton;

namespace espalier {

/// One sentence across the top of the window: why something could not be done, or what was, with what one may do next.
/// Never a dialog. A newer message replaces the older. Thread: GUI.
class Banner : public QFrame
{
    Q_OBJECT
public:
    enum class Kind { Problem, Note };
    explicit Banner(ThemeManager& themes, QWidget* parent = nullptr);
    /// `next`: as buttons, those that can be done; an act that is done dismisses the message.
    void say(Kind kind, const QString& sentence, const QList<QAction*>& next = {});
    void dismiss() { setVisible(false); }
    QString text() const;

private:
    void restyle();
    ThemeManager& m_themes;
    QLabel* m_icon;
    QLabel* m_text;
    QWidget* m_next; ///< the row of buttons below the sentence
    QToolButton* m_close;
    Kind m_kind = Kind::Note;
};

} // namespace espalier
