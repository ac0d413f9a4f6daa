// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/base/ids.h"

#include <QFrame>
#include <QMetaType>
#include <optional>

class QLineEdit;
class QPlainTextEdit;

namespace espalier {

/// An idea as it is written: its title and its words.
struct IdeaWords {
    QString title, text;
    std::optional<NodeId> parent; ///< of a new one
    bool operator==(const IdeaWords&) const = default;
};

/// What became of an idea's words in an editor.
struct IdeaEdit {
    IdeaWords before, after;
};

/// Title and words of an idea, edited where they stand. Enter keeps them, Escape leaves them, Shift+Enter begins a
/// line. Thread: GUI.
class IdeaEditor : public QFrame
{
    Q_OBJECT
public:
    explicit IdeaEditor(QWidget* parent = nullptr);
    /// Only the first time: news of the idea must not overwrite what is being typed.
    void setWords(const IdeaWords& words);
    IdeaEdit edit() const;

signals:
    void committed();
    void cancelled();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QLineEdit* m_title;
    QPlainTextEdit* m_text;
    IdeaWords m_before;
    bool m_filled = false;
};

} // namespace espalier

Q_DECLARE_METATYPE(espalier::IdeaWords)
Q_DECLARE_METATYPE(espalier::IdeaEdit)
