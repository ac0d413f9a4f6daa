// SPDX-License-Identifier: GPL-3.0-only
#include "views/manual_answer.h"

#include "views/format.h"

#include <QClipboard>
#include <QFile>
#include <QFileInfo>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QUrl>
#include <QVBoxLayout>

namespace espalier {

namespace {

constexpr qint64 mostBytes = qint64{8} << 20; // as much as the engine reads

/// A dropped or pasted file counts as its text.
class AnswerField : public QPlainTextEdit
{
protected:
    bool canInsertFromMimeData(const QMimeData* mime) const override
    {
        return mime->hasUrls() || QPlainTextEdit::canInsertFromMimeData(mime);
    }
    void insertFromMimeData(const QMimeData* mime) override
    {
        if (mime->hasUrls() && mime->urls().front().isLocalFile()) {
            QFile file(mime->urls().front().toLocalFile());
            if (QFileInfo(file).isFile() && file.size() <= mostBytes && file.open(QIODevice::ReadOnly)) {
                return insertPlainText(QString::fromUtf8(file.readAll()));
            }
        }
        QPlainTextEdit::insertFromMimeData(mime);
    }
};

} // namespace

ManualAnswer::ManualAnswer(QWidget* parent)
    : QWidget(parent), m_words(new QLabel), m_text(new AnswerField), m_copy(new QPushButton(tr("Copy prompt"))),
      m_hand(new QPushButton(tr("Hand over")))
{
    m_words->setWordWrap(true);
    m_words->setTextFormat(Qt::PlainText);
    m_text->setAccessibleName(tr("Your answer"));
    m_text->setPlaceholderText(tr("Paste the answer here, or drop a file with it"));
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setTabChangesFocus(true);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 4, 12, 4);
    row->addWidget(m_words, 1);
    row->addWidget(m_copy);
    row->addWidget(m_hand);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addLayout(row);
    layout->addWidget(m_text, 1);
    connect(m_copy, &QPushButton::clicked, this, &ManualAnswer::copyPrompt);
    connect(m_hand, &QPushButton::clicked, this, &ManualAnswer::hand);
    connect(m_text, &QPlainTextEdit::textChanged, this, &ManualAnswer::updateButton);
    setExchange(nullptr);
}

void ManualAnswer::setExchange(const Exchange* exchange)
{
    const QString url = exchange ? format::text(exchange->url) : QString();
    const bool waits = exchange && exchange->state == Exchange::State::Sent &&
                       url.startsWith(QStringLiteral("manual:")) && url.endsWith(QStringLiteral(".prompt.md"));
    setVisible(waits);
    if (!waits || exchange->id != m_exchange) {
        m_text->clear();
        m_words->setText(tr("This question waits for you."));
    }
    m_exchange = waits ? exchange->id : 0;
    m_promptFile = waits ? url.mid(7) : QString();
    m_prompt = waits ? format::text(exchange->request.empty() ? exchange->prompt : exchange->request) : QString();
    updateButton();
}

void ManualAnswer::copyPrompt()
{
    QGuiApplication::clipboard()->setText(m_prompt);
    m_words->setText(tr("The prompt is in the clipboard."));
}

void ManualAnswer::hand()
{
    // A session file says where its prompts lie; only beside one that is there anything is written.
    if (!QFileInfo(m_promptFile).isFile()) {
        m_words->setText(
            tr("%1 is not there any more: run the session, then the question is asked again.").arg(m_promptFile));
        return;
    }
    QSaveFile file(m_promptFile.chopped(int(qstrlen(".prompt.md"))) + QStringLiteral(".answer.md"));
    const QByteArray text = m_text->toPlainText().toUtf8();
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit()) {
        m_words->setText(tr("%1 cannot be written: %2.").arg(file.fileName(), file.errorString()));
        return;
    }
    m_text->clear();
    m_words->setText(tr("Handed over: the search goes on with it while the session runs."));
}

void ManualAnswer::updateButton()
{
    m_hand->setEnabled(!m_text->toPlainText().trimmed().isEmpty());
}

} // namespace espalier
