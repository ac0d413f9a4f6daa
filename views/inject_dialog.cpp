// SPDX-License-Identifier: GPL-3.0-only
#include "views/inject_dialog.h"

#include "views/code_view.h"
#include "views/format.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace espalier {

namespace {
constexpr qint64 longestSource = 1 << 20; ///< what the engine takes
}

InjectDialog::InjectDialog(ThemeManager& themes, const QString& parent, QWidget* owner)
    : QDialog(owner), m_title(new QLineEdit), m_source(new CodeView(themes)), m_when(new QLabel), m_problem(new QLabel)
{
    setWindowTitle(tr("Own kernel"));
    auto* where = new QLabel(parent.isEmpty() ? tr("As a new root") : tr("Under %1").arg(parent));
    where->setTextFormat(Qt::PlainText);
    where->setWordWrap(true);
    m_title->setPlaceholderText(tr("Own kernel"));
    m_title->setAccessibleName(tr("Title"));
    m_source->setReadOnly(false);
    m_source->setFrameShape(QFrame::StyledPanel);
    m_source->setAccessibleName(tr("Source"));
    m_source->setMinimumHeight(280);
    m_problem->setTextFormat(Qt::PlainText);
    m_problem->setWordWrap(true);
    auto* form = new QFormLayout;
    form->setSpacing(8);
    form->addRow(tr("Place"), where);
    form->addRow(tr("&Title"), m_title);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_inject = buttons->addButton(tr("Judge it"), QDialogButtonBox::AcceptRole);
    auto* file = buttons->addButton(tr("From a &file…"), QDialogButtonBox::ActionRole);
    auto* clip = buttons->addButton(tr("&Paste"), QDialogButtonBox::ActionRole);
    for (QPushButton* button : {file, clip}) {
        button->setAutoDefault(false);
    }
    m_inject->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 12);
    layout->setSpacing(8);
    layout->addLayout(form);
    m_when->setTextFormat(Qt::PlainText);
    m_when->setWordWrap(true);
    m_when->hide();
    layout->addWidget(m_when);
    layout->addWidget(m_source, 1);
    layout->addWidget(m_problem);
    layout->addWidget(buttons);
    resize(720, 560);

    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(file, &QPushButton::clicked, this, &InjectDialog::chooseFile);
    connect(clip, &QPushButton::clicked, this, &InjectDialog::paste);
    connect(m_source, &QsciScintilla::textChanged, this, &InjectDialog::check);
    m_source->showPlainNumbers(1);
    m_source->setFocus();
    check();
}

QString InjectDialog::title() const
{
    const QString title = m_title->text().trimmed();
    return title.isEmpty() ? tr("Own kernel") : title;
}

QString InjectDialog::source() const
{
    return m_source->text();
}

void InjectDialog::chooseFile()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("A kernel's source"), QString(),
                                                      tr("CUDA sources (*.cu);;All files (*)"));
    if (!file.isEmpty()) {
        readFile(file);
    }
}

void InjectDialog::readFile(const QString& file)
{
    QFile stream(file);
    if (!stream.open(QIODevice::ReadOnly)) {
        return m_problem->setText(tr("%1 cannot be read (%2): choose another file.").arg(file, stream.errorString()));
    }
    if (stream.size() > longestSource) {
        return m_problem->setText(tr("%1 is longer than 1 MiB: choose the kernel's own source.").arg(file));
    }
    m_source->setText(QString::fromUtf8(stream.readAll()));
    if (m_title->text().trimmed().isEmpty()) {
        m_title->setText(QFileInfo(file).completeBaseName());
    }
}

void InjectDialog::startFrom(const QString& source, const QString& name)
{
    m_start = source;
    m_startName = name;
    m_source->setText(source);
}

void InjectDialog::sayWhen(const QString& words)
{
    m_when->setText(words);
    m_when->show();
}

void InjectDialog::accept()
{
    m_inject->setEnabled(false); // once is enough
    emit wanted();
}

void InjectDialog::answer(const std::optional<Error>& refusal)
{
    if (!refusal) {
        return QDialog::accept();
    }
    check();
    m_problem->setText(format::text(refusal->message));
}

void InjectDialog::paste()
{
    const QString text = QApplication::clipboard()->text();
    if (text.trimmed().isEmpty()) {
        return m_problem->setText(tr("The clipboard holds no text: copy the kernel's source first."));
    }
    m_source->setText(text);
}

void InjectDialog::check()
{
    m_source->showPlainNumbers(m_source->lines());
    const QString text = source();
    const bool empty = text.trimmed().isEmpty(), tooLong = text.toUtf8().size() > longestSource;
    const bool unchanged = !m_start.isEmpty() && text == m_start;
    m_inject->setEnabled(!empty && !tooLong && !unchanged);
    m_problem->setText(
        empty       ? tr("Give a whole .cu source with the task's entry point.")
        : tooLong   ? tr("The source is longer than 1 MiB: shorten it.")
        : unchanged ? tr("This is the source of %1 as it stands: change it, or take another one.").arg(m_startName)
                    : QString());
}

} // namespace espalier
