// SPDX-License-Identifier: GPL-3.0-only
#include "views/new_session_dialog.h"

#include "core/model/task_loader.h"
#include "views/format.h"
#include "views/session_actions.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>

namespace espalier {

namespace {

QSpinBox* limit(const QString& suffix, int most, int value)
{
    auto* box = new QSpinBox;
    box->setRange(0, most);
    box->setSpecialValueText(NewSessionDialog::tr("no limit"));
    box->setSuffix(suffix);
    box->setValue(value);
    return box;
}

QWidget* withButton(QWidget* field, QToolButton* button)
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(field, 1);
    layout->addWidget(button);
    return row;
}

} // namespace

NewSessionDialog::NewSessionDialog(const QString& folder, const QStringList& models, QWidget* parent)
    : QDialog(parent), m_folder(folder), m_task(new QComboBox), m_device(new QComboBox), m_strategy(new QComboBox),
      m_evaluations(limit(tr(" evaluations"), 1000000, 40)), m_minutes(limit(tr(" minutes"), 100000, 0)),
      m_playbook(new QCheckBox(tr("Playbook: ideas that ship with the task"))),
      m_tuner(new QCheckBox(tr("Tuner: values of the kernels' tunables"))), m_model(new QComboBox),
      m_usd(new QDoubleSpinBox), m_file(new QLineEdit), m_problem(new QLabel)
{
    setWindowTitle(tr("New session"));
    for (const std::string& name : listTasks()) {
        m_task->addItem(format::text(name), format::text(name));
    }
    m_device->addItem(tr("Automatic: the GPU if there is one, else simulated"), QStringLiteral("auto"));
    m_device->addItem(tr("Simulated device: figures are modelled"), QStringLiteral("sim"));
    for (int gpu = 0; gpu < 4; ++gpu) {
        m_device->addItem(tr("GPU %1 (cuda:%1)").arg(gpu), QStringLiteral("cuda:%1").arg(gpu));
    }
    m_strategy->setSizeAdjustPolicy(
        QComboBox::AdjustToMinimumContentsLengthWithIcon); // long words do not widen the dialog
    m_strategy->setMinimumContentsLength(12);
    setModels(models);
    m_usd->setRange(0, 100000);
    m_usd->setDecimals(2);
    m_usd->setPrefix(tr("USD "));
    m_usd->setSpecialValueText(tr("no limit"));
    m_usd->setEnabled(false);
    m_playbook->setChecked(true);
    m_tuner->setChecked(true);
    m_problem->setWordWrap(true);
    m_problem->setTextFormat(Qt::PlainText);

    auto* browseTask = new QToolButton;
    browseTask->setText(QStringLiteral("…"));
    browseTask->setToolTip(tr("A task folder of your own"));
    auto* browseFile = new QToolButton;
    browseFile->setText(QStringLiteral("…"));
    browseFile->setToolTip(tr("Where to keep the session"));
    auto* browseModels = new QToolButton;
    browseModels->setText(QStringLiteral("…"));
    browseModels->setToolTip(tr("Add, change and test models"));
    connect(browseModels, &QToolButton::clicked, this, &NewSessionDialog::modelsWanted);
    auto* form = new QFormLayout;
    form->setSpacing(8);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("&Task"), withButton(m_task, browseTask));
    form->addRow(tr("&Device"), m_device);
    form->addRow(tr("&Strategy"), m_strategy);
    form->addRow(tr("Proposers"), m_playbook);
    form->addRow(QString(), m_tuner);
    form->addRow(tr("&Model"), withButton(m_model, browseModels));
    form->addRow(tr("M&oney"), m_usd);
    form->addRow(tr("&Evaluations"), m_evaluations);
    form->addRow(tr("Ti&me"), m_minutes);
    form->addRow(tr("&File"), withButton(m_file, browseFile));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_create = buttons->addButton(tr("Create and run"), QDialogButtonBox::AcceptRole);
    m_create->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 12);
    layout->setSpacing(12);
    layout->addLayout(form);
    layout->addWidget(m_problem);
    layout->addWidget(buttons);
    setMinimumWidth(540);

    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(browseTask, &QToolButton::clicked, this, &NewSessionDialog::chooseTaskFolder);
    connect(browseFile, &QToolButton::clicked, this, &NewSessionDialog::chooseFile);
    connect(m_task, &QComboBox::currentIndexChanged, this, &NewSessionDialog::suggestFile);
    connect(m_file, &QLineEdit::textEdited, this, [this] { m_fileEdited = true; });
    connect(m_file, &QLineEdit::textChanged, this, &NewSessionDialog::check);
    connect(m_playbook, &QCheckBox::toggled, this, &NewSessionDialog::check);
    connect(m_tuner, &QCheckBox::toggled, this, &NewSessionDialog::check);
    connect(m_model, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_usd->setEnabled(index > 0);
        check();
    });
    suggestFile();
    check();
}

void NewSessionDialog::setStrategies(const std::vector<StrategyDescription>& strategies)
{
    m_strategy->clear();
    for (const StrategyDescription& strategy : strategies) {
        const QString name = format::text(strategy.name),
                      words = tr("%1: %2").arg(name, format::text(strategy.meaning));
        m_strategy->addItem(words, name);
        m_strategy->setItemData(m_strategy->count() - 1, words, Qt::ToolTipRole);
    }
}

void NewSessionDialog::chooseTaskFolder()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Task folder"), m_folder);
    if (folder.isEmpty()) {
        return;
    }
    m_task->addItem(QDir(folder).dirName(), folder);
    m_task->setCurrentIndex(m_task->count() - 1);
    check();
}

void NewSessionDialog::chooseFile()
{
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Session file"), m_file->text(), tr("Sessions (*.espalier)"), nullptr,
                                     QFileDialog::DontConfirmOverwrite);
    if (!file.isEmpty()) {
        m_fileEdited = true;
        m_file->setText(file.endsWith(QStringLiteral(".espalier")) ? file : file + QStringLiteral(".espalier"));
    }
}

/// The first free name in the folder; a name the user typed stays.
void NewSessionDialog::suggestFile()
{
    if (m_fileEdited || m_task->currentIndex() < 0) {
        return check();
    }
    m_file->setText(freeFile(QDir(m_folder), m_task->currentText()));
}

void NewSessionDialog::check()
{
    QString problem;
    const QFileInfo file(m_file->text());
    if (m_task->currentIndex() < 0) {
        problem = tr("No built-in task was found: choose a task folder with the button beside the field.");
    } else if (const QString task = m_task->currentData().toString();
               task.contains(QLatin1Char('/')) &&
               !QFileInfo::exists(QDir(task).filePath(QStringLiteral("task.json")))) {
        problem = tr("%1 holds no task.json: choose a task folder.").arg(task);
    } else if (m_file->text().trimmed().isEmpty()) {
        problem = tr("Name a file to keep the session in.");
    } else if (file.exists()) {
        problem = tr("%1 exists already: choose another name, or open it instead.").arg(file.fileName());
    } else if (!QFileInfo(file.absolutePath()).isDir()) {
        problem = tr("The folder %1 does not exist.").arg(file.absolutePath());
    } else if (!QFileInfo(file.absolutePath()).isWritable()) {
        problem = tr("The folder %1 cannot be written to: choose another one.").arg(file.absolutePath());
    } else if (!m_playbook->isChecked() && !m_tuner->isChecked() && m_model->currentIndex() <= 0) {
        problem = tr("Choose at least one proposer.");
    }
    m_problem->setText(problem);
    if (m_create) {
        m_create->setEnabled(problem.isEmpty());
    }
}

/// What was chosen stays chosen where it is still there.
void NewSessionDialog::setModels(const QStringList& models)
{
    const QString chosen = m_model->currentText();
    m_model->clear();
    m_model->addItem(tr("No language model"));
    for (const QString& model : models) {
        m_model->addItem(model, model);
    }
    if (models.size() > 1) {
        m_model->addItem(tr("All %1 models, by gain per cost").arg(models.size()), models);
    }
    m_model->setCurrentIndex(std::max(0, m_model->findText(chosen)));
    m_model->setEnabled(!models.isEmpty());
    m_model->setToolTip(models.isEmpty() ? tr("No model is saved: add one with the button beside the field")
                                         : tr("A saved model that proposes ideas and writes kernels"));
}

void NewSessionDialog::setFile(const QString& file)
{
    m_fileEdited = true;
    m_file->setText(file);
}

EngineOptions NewSessionDialog::options() const
{
    EngineOptions options;
    options.session = m_file->text().toStdString();
    options.task = m_task->currentData().toString().toStdString();
    options.device = m_device->currentData().toString().toStdString();
    if (m_strategy->currentIndex() >= 0) {
        options.strategy = m_strategy->currentData().toString().toStdString();
    }
    options.proposers.emplace();
    if (m_playbook->isChecked()) {
        options.proposers->push_back("playbook");
    }
    if (m_tuner->isChecked()) {
        options.proposers->push_back("tuner");
    }
    if (m_model->currentIndex() > 0) {
        options.proposers->push_back("llm");
        for (const QString& model : m_model->currentData().toStringList()) {
            options.modelNames.push_back(model.toStdString());
        }
    }
    Budget budget;
    if (m_model->currentIndex() > 0 && m_usd->value() > 0) {
        budget.usd = m_usd->value();
    }
    if (m_evaluations->value() > 0) {
        budget.evaluations = m_evaluations->value();
    }
    if (m_minutes->value() > 0) {
        budget.seconds = 60.0 * m_minutes->value();
    }
    options.budget = budget;
    return options;
}

} // namespace espalier
