// SPDX-License-Identifier: GPL-3.0-only
#include "views/models_dialog.h"

#include "views/format.h"
#include "views/model_key.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QtConcurrent>
#include <algorithm>
#include <set>

namespace espalier {

namespace {

struct Channel {
    const char* name;
    const char* words;
};
/// What an engineer may hold back. The others make the question itself and are always sent.
constexpr Channel heldBack[] = {{"device", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Device sheet")},
                                {"metrics", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Metrics")},
                                {"exemplars", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Other kernels")},
                                {"tried", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Tried ideas")},
                                {"ideas", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Known ideas")},
                                {"hints", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Hints")},
                                {"lessons", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Lessons")},
                                {"errors", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Compiler errors")},
                                {"evidence", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Judge's evidence")},
                                {"attachments", QT_TRANSLATE_NOOP("espalier::ModelsDialog", "Attached files")}};
constexpr const char* alwaysSent[] = {"task", "contract", "parent", "idea", "failed", "mismatch", "second"};

bool allows(const std::vector<std::string>& channels, const std::string& name)
{
    return channels.empty() || std::find(channels.begin(), channels.end(), name) != channels.end();
}

std::string textOf(const QString& text)
{
    return text.trimmed().toStdString();
}

bool overNetwork(const std::string& provider)
{
    return provider != "command" && provider != "manual" && provider != "replay";
}

/// As a shell reads it back, with quotes around what holds blanks.
QString commandLine(const std::vector<std::string>& command)
{
    QStringList words;
    for (const std::string& word : command) {
        const QString text = format::text(word).replace(QLatin1Char('"'), QStringLiteral("\"\"\""));
        words += text.isEmpty() || text.contains(QLatin1Char(' ')) ? QLatin1Char('"') + text + QLatin1Char('"') : text;
    }
    return words.join(QLatin1Char(' '));
}

} // namespace

ModelsDialog::ModelsDialog(std::shared_ptr<ModelShelf> shelf, QWidget* parent)
    : QDialog(parent), m_shelf(std::move(shelf)), m_list(new QListWidget), m_name(new QLineEdit),
      m_provider(new QComboBox), m_baseUrl(new QLineEdit), m_model(new QComboBox), m_command(new QLineEdit),
      m_folder(new QLineEdit), m_variable(new QLineEdit), m_key(new QLineEdit), m_weight(new QDoubleSpinBox),
      m_channelBox(new QWidget), m_remove(new QPushButton(tr("&Remove"))), m_test(new QPushButton(tr("&Test"))),
      m_found(new QPlainTextEdit), m_problem(new QLabel), m_form(buildForm())
{
    setWindowTitle(tr("Models"));
    m_problem->setWordWrap(true);
    m_problem->setTextFormat(Qt::PlainText);
    m_found->setReadOnly(true);
    m_found->setAccessibleName(tr("What the test found"));
    m_found->setPlaceholderText(tr("Test asks the provider for its models; it costs nothing."));
    m_found->setMinimumHeight(130);

    auto* right = new QVBoxLayout;
    right->setSpacing(8);
    right->addLayout(m_form);
    right->addWidget(m_test, 0, Qt::AlignLeft);
    right->addWidget(m_found, 1);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(16);
    columns->addWidget(listSide());
    columns->addLayout(right, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
    m_save = buttons->button(QDialogButtonBox::Save);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 12);
    layout->setSpacing(12);
    layout->addLayout(columns, 1);
    layout->addWidget(m_problem);
    layout->addWidget(buttons);
    resize(820, 680);

    connect(buttons, &QDialogButtonBox::accepted, this, &ModelsDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_list, &QListWidget::currentRowChanged, this, &ModelsDialog::fill);
    connect(m_test, &QPushButton::clicked, this, &ModelsDialog::test);
    connect(&m_check, &QFutureWatcherBase::finished, this, &ModelsDialog::showCheck);
    for (QLineEdit* field : {m_name, m_baseUrl, m_command, m_folder, m_variable}) {
        connect(field, &QLineEdit::textEdited, this, &ModelsDialog::takeOver);
    }
    connect(m_provider, &QComboBox::currentIndexChanged, this, &ModelsDialog::takeOver);
    connect(m_model, &QComboBox::currentTextChanged, this, &ModelsDialog::takeOver);
    connect(m_weight, &QDoubleSpinBox::valueChanged, this, &ModelsDialog::takeOver);

    auto loaded = m_shelf->load();
    if (loaded) {
        m_profiles = std::move(*loaded);
    } else {
        // What cannot be read is not written over.
        m_problem->setText(format::text(loaded.error().message));
        m_save->setEnabled(false);
    }
    for (const llm::ModelProfile& profile : m_profiles) {
        m_list->addItem(format::text(profile.name));
    }
    m_list->setCurrentRow(m_profiles.empty() ? -1 : 0);
    fill(m_list->currentRow());
}

QWidget* ModelsDialog::listSide()
{
    auto* side = new QWidget;
    auto* addButton = new QPushButton(tr("&Add"));
    addButton->setObjectName(QStringLiteral("add"));
    addButton->setAutoDefault(false);
    m_remove->setAutoDefault(false);
    m_test->setAutoDefault(false);
    m_list->setSpacing(2);
    m_list->setAccessibleName(tr("Saved models"));
    auto* layout = new QGridLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(m_list, 0, 0, 1, 2);
    layout->addWidget(addButton, 1, 0);
    layout->addWidget(m_remove, 1, 1);
    side->setFixedWidth(200);
    connect(addButton, &QPushButton::clicked, this, &ModelsDialog::add);
    connect(m_remove, &QPushButton::clicked, this, &ModelsDialog::remove);
    return side;
}

QFormLayout* ModelsDialog::buildForm()
{
    for (const auto& [name, words] :
         {std::pair{"openai", tr("OpenAI-compatible chat")}, std::pair{"openai-responses", tr("OpenAI responses")},
          std::pair{"anthropic", tr("Anthropic messages")}, std::pair{"gemini", tr("Google Gemini")},
          std::pair{"command", tr("A program: prompt in, answer out")},
          std::pair{"manual", tr("By hand: files in a folder")},
          std::pair{"replay", tr("Replay of recorded answers")}}) {
        m_provider->addItem(words, QString::fromLatin1(name));
    }
    m_model->setEditable(true);
    m_model->setInsertPolicy(QComboBox::NoInsert);
    m_baseUrl->setPlaceholderText(tr("the provider's own"));
    m_command->setPlaceholderText(tr("program and arguments"));
    m_key->setEchoMode(QLineEdit::Password);
    m_key->setPlaceholderText(tr("goes into the system keychain, never into a file"));
    m_key->setToolTip(tr("Kept under the model's name when Test or Save is pressed"));
    m_weight->setRange(0, 1000);
    m_weight->setToolTip(tr("Share of the requests where several models take part"));
    auto* grid = new QGridLayout(m_channelBox);
    grid->setContentsMargins(0, 0, 0, 0);
    int place = 0;
    for (const Channel& channel : heldBack) {
        auto* box = new QCheckBox(tr(channel.words));
        box->setObjectName(QString::fromLatin1(channel.name));
        grid->addWidget(box, place / 3, place % 3);
        ++place;
        m_channels.push_back(box);
        connect(box, &QCheckBox::toggled, this, [this] {
            llm::ModelProfile* profile = m_filling ? nullptr : current();
            if (!profile) {
                return;
            }
            std::set<std::string> names(std::begin(alwaysSent), std::end(alwaysSent));
            bool usual = true;
            for (const QCheckBox* each : m_channels) {
                const std::string name = each->objectName().toStdString();
                usual = usual && each->isChecked() == allows({}, name);
                if (each->isChecked()) {
                    names.insert(name);
                }
            }
            profile->channels =
                usual ? std::vector<std::string>() : std::vector<std::string>(names.begin(), names.end());
        });
    }
    auto* form = new QFormLayout;
    form->setSpacing(8);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("&Name"), m_name);
    form->addRow(tr("&Provider"), m_provider);
    form->addRow(tr("A&ddress"), m_baseUrl);
    form->addRow(tr("&Model"), m_model);
    form->addRow(tr("&Command"), m_command);
    form->addRow(tr("&Folder"), m_folder);
    form->addRow(tr("Key &variable"), m_variable);
    form->addRow(tr("&Key"), m_key);
    form->addRow(tr("&Weight"), m_weight);
    form->addRow(tr("May be sent"), m_channelBox);
    return form;
}

llm::ModelProfile* ModelsDialog::current()
{
    const int row = m_list->currentRow();
    return row >= 0 && row < int(m_profiles.size()) ? &m_profiles[std::size_t(row)] : nullptr;
}

void ModelsDialog::add()
{
    llm::ModelProfile profile;
    profile.provider = "openai";
    const auto taken = [this](const std::string& name) {
        return std::any_of(m_profiles.begin(), m_profiles.end(), [&](const auto& each) { return each.name == name; });
    };
    const std::string base = tr("model").toStdString();
    profile.name = base;
    for (int i = 2; taken(profile.name); ++i) {
        profile.name = base + "-" + std::to_string(i);
    }
    m_profiles.push_back(profile);
    m_list->addItem(format::text(profile.name));
    m_list->setCurrentRow(m_list->count() - 1);
    m_name->setFocus();
    m_name->selectAll();
}

void ModelsDialog::remove()
{
    const int row = m_list->currentRow();
    if (current()) {
        m_profiles.erase(m_profiles.begin() + row);
        {
            const QSignalBlocker quiet(m_list); // the row is gone from both before anybody looks at it
            delete m_list->takeItem(row);
        }
        fill(m_list->currentRow());
    }
}

void ModelsDialog::fill(int)
{
    m_filling = true;
    const llm::ModelProfile* profile = current();
    const llm::ModelProfile shown = profile ? *profile : llm::ModelProfile{};
    m_name->setText(format::text(shown.name));
    m_provider->setCurrentIndex(m_provider->findData(format::text(shown.provider)));
    m_baseUrl->setText(format::text(shown.baseUrl));
    m_model->clear();
    m_model->setEditText(format::text(shown.model));
    m_command->setText(commandLine(shown.command));
    m_folder->setText(format::text(shown.folder));
    m_variable->setText(format::text(shown.keyVariable));
    m_key->clear();
    m_weight->setValue(shown.weight);
    for (QCheckBox* box : m_channels) {
        box->setChecked(profile && allows(shown.channels, box->objectName().toStdString()));
    }
    m_found->clear();
    for (int row = 0; row < m_form->rowCount(); ++row) {
        m_form->itemAt(row, QFormLayout::FieldRole)->widget()->setEnabled(profile != nullptr);
    }
    m_remove->setEnabled(profile != nullptr);
    m_test->setEnabled(profile != nullptr && !m_check.isRunning());
    m_filling = false;
    showRows();
}

void ModelsDialog::takeOver()
{
    llm::ModelProfile* profile = m_filling ? nullptr : current();
    if (!profile) {
        return;
    }
    profile->name = textOf(m_name->text());
    profile->provider = m_provider->currentData().toString().toStdString();
    profile->baseUrl = textOf(m_baseUrl->text());
    profile->model = textOf(m_model->currentText());
    profile->command.clear();
    for (const QString& word : QProcess::splitCommand(m_command->text())) {
        profile->command.push_back(word.toStdString());
    }
    profile->folder = textOf(m_folder->text());
    profile->keyVariable = textOf(m_variable->text());
    profile->weight = m_weight->value();
    m_list->currentItem()->setText(format::text(profile->name));
    showRows();
}

/// Only the fields that the provider knows.
void ModelsDialog::showRows()
{
    const llm::ModelProfile* profile = current();
    const std::string provider = profile ? profile->provider : "openai";
    const bool network = overNetwork(provider);
    for (QWidget* field :
         {static_cast<QWidget*>(m_baseUrl), static_cast<QWidget*>(m_variable), static_cast<QWidget*>(m_key)}) {
        m_form->setRowVisible(field, network);
    }
    m_form->setRowVisible(m_command, provider == "command");
    m_form->setRowVisible(m_folder, provider == "manual" || provider == "replay");
    const auto variables = profile ? m_shelf->keyVariables(*profile) : std::vector<std::string>();
    m_variable->setPlaceholderText(variables.empty() ? QString() : format::text(variables.back()));
}

QString ModelsDialog::keyName() const
{
    const QString name = m_name->text().trimmed();
    return name.isEmpty() ? m_provider->currentData().toString() : name;
}

void ModelsDialog::test()
{
    m_test->setEnabled(false);
    if (m_key->text().isEmpty() || !overNetwork(current()->provider)) {
        return look();
    }
    const auto variables = m_shelf->keyVariables(*current());
    keepModelKey(keyName(), m_key->text(), variables.empty() ? QString() : format::text(variables.back()), this,
                 [this](const QString& problem) {
                     m_problem->setText(problem);
                     if (problem.isEmpty()) {
                         m_key->clear();
                     }
                     look();
                 });
}

void ModelsDialog::look()
{
    const llm::ModelProfile* profile = current();
    if (!profile) {
        return;
    }
    m_found->setPlainText(tr("Asking…"));
    m_asked = profile->name;
    m_check.setFuture(QtConcurrent::run(
        [shelf = std::shared_ptr<const ModelShelf>(m_shelf), asked = *profile] { return shelf->check(asked); }));
}

void ModelsDialog::showCheck()
{
    m_test->setEnabled(current() != nullptr);
    if (!current() || current()->name != m_asked) {
        return; // another model is looked at by now
    }
    const ModelCheck check = m_check.result();
    QStringList lines;
    for (const std::string& url : check.urls) {
        lines += tr("Tried %1").arg(format::text(url));
    }
    lines += check.good ? tr("It answers.") : format::text(check.error);
    lines += check.keySource.empty() ? tr("No key was sent.") : tr("Key from %1.").arg(format::text(check.keySource));
    if (check.offered) {
        lines += *check.offered ? tr("The model is offered.") : tr("The model is not among those offered.");
    }
    if (!check.models.empty()) {
        QStringList models;
        for (const std::string& model : check.models) {
            models += format::text(model);
        }
        lines += tr("Models: %1").arg(models.join(QStringLiteral(", ")));
        const QSignalBlocker quiet(m_model);
        const QString chosen = m_model->currentText();
        m_model->clear();
        m_model->addItems(models);
        m_model->setEditText(chosen);
    }
    m_found->setPlainText(lines.join(QLatin1Char('\n')));
}

void ModelsDialog::accept()
{
    std::set<std::string> names;
    for (const llm::ModelProfile& profile : m_profiles) {
        if (profile.name.empty() || !names.insert(profile.name).second) {
            m_problem->setText(profile.name.empty()
                                   ? tr("Every model needs a name.")
                                   : tr("Two models are called %1: rename one.").arg(format::text(profile.name)));
            return;
        }
    }
    if (const auto saved = m_shelf->save(m_profiles); !saved) {
        m_problem->setText(format::text(saved.error().message));
        return;
    }
    if (!current() || m_key->text().isEmpty() || !overNetwork(current()->provider)) {
        return QDialog::accept();
    }
    const auto variables = m_shelf->keyVariables(*current());
    keepModelKey(keyName(), m_key->text(), variables.empty() ? QString() : format::text(variables.back()), this,
                 [this](const QString& problem) {
                     m_key->clear(); // Save pressed again closes
                     m_problem->setText(problem);
                     if (problem.isEmpty()) {
                         QDialog::accept();
                     }
                 });
}

} // namespace espalier
