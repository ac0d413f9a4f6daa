// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/models_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSemaphore>
#include <QTest>
#include <QThread>

namespace espalier {

/// Models in memory; a check that waits until the test lets it go.
class ScriptedShelf : public ModelShelf
{
public:
    Result<std::vector<llm::ModelProfile>> load() const override
    {
        if (unreadable) {
            return std::unexpected(*unreadable);
        }
        return profiles;
    }
    Result<void> save(const std::vector<llm::ModelProfile>& given) override
    {
        profiles = given;
        ++saves;
        return {};
    }
    ModelCheck check(const llm::ModelProfile&) const override
    {
        checkedOn = QThread::currentThread();
        release.acquire();
        return found;
    }
    std::vector<std::string> keyVariables(const llm::ModelProfile& profile) const override
    {
        return profile.provider == "manual" ? std::vector<std::string>()
                                            : std::vector<std::string>{"ESPALIER_API_KEY", "OPENAI_API_KEY"};
    }

    std::vector<llm::ModelProfile> profiles;
    std::optional<Error> unreadable;
    ModelCheck found;
    int saves = 0;
    mutable QSemaphore release;
    mutable std::atomic<QThread*> checkedOn = nullptr;
};

llm::ModelProfile profile(const char* name, const char* provider)
{
    llm::ModelProfile made;
    made.name = name;
    made.provider = provider;
    return made;
}

class ModelsDialogTest : public ViewFixture
{
protected:
    ModelsDialogTest()
    {
        shelf->profiles = {profile("fast", "openai"), profile("me", "manual")};
        shelf->profiles[0].model = "small-1";
        shelf->profiles[0].baseUrl = "http://localhost:8000/v1";
        shelf->profiles[0].headers = {{"X-Team", "kernels"}};
    }
    void show()
    {
        dialog = std::make_unique<ModelsDialog>(shelf);
        dialog->show();
        settle();
    }
    void press(const QString& words)
    {
        for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
            if (button->text().remove(QLatin1Char('&')) == words) {
                ASSERT_TRUE(button->isEnabled()) << words.toStdString();
                button->click();
                return;
            }
        }
        FAIL() << "no button " << words.toStdString();
    }
    QLineEdit* field(const QString& label)
    {
        for (const QLabel* each : dialog->findChildren<QLabel*>()) {
            if (each->text().remove(QLatin1Char('&')) == label) {
                return qobject_cast<QLineEdit*>(each->buddy());
            }
        }
        return nullptr;
    }
    static void type(QLineEdit* into, const QString& text)
    {
        ASSERT_NE(into, nullptr);
        into->selectAll();
        QTest::keyClicks(into, text);
    }
    QString found() { return dialog->findChild<QPlainTextEdit*>()->toPlainText(); }
    bool says(const QString& words)
    {
        for (const QLabel* each : dialog->findChildren<QLabel*>()) {
            if (each->text().contains(words)) {
                return true;
            }
        }
        return false;
    }

    std::shared_ptr<ScriptedShelf> shelf = std::make_shared<ScriptedShelf>();
    std::unique_ptr<ModelsDialog> dialog;
};

TEST_F(ModelsDialogTest, AddsChangesAndRemoves)
{
    show();
    type(field(QStringLiteral("Address")), QStringLiteral("http://localhost:9000"));
    press(QStringLiteral("Add"));
    type(field(QStringLiteral("Name")), QStringLiteral("claude"));
    auto* provider = dialog->findChild<QComboBox*>();
    provider->setCurrentIndex(provider->findData(QStringLiteral("anthropic")));
    type(field(QStringLiteral("Key variable")), QStringLiteral("MY_KEY"));
    dialog->findChild<QListWidget*>()->setCurrentRow(1);
    press(QStringLiteral("Remove"));
    press(QStringLiteral("Save"));
    ASSERT_EQ(shelf->saves, 1);
    ASSERT_EQ(shelf->profiles.size(), 2u);
    EXPECT_EQ(shelf->profiles[0].baseUrl, "http://localhost:9000");
    EXPECT_EQ(shelf->profiles[0].model, "small-1");
    EXPECT_EQ(shelf->profiles[0].headers.size(), 1u); // not shown, not lost
    EXPECT_TRUE(shelf->profiles[0].channels.empty());
    EXPECT_EQ(shelf->profiles[1].name, "claude");
    EXPECT_EQ(shelf->profiles[1].provider, "anthropic");
    EXPECT_EQ(shelf->profiles[1].keyVariable, "MY_KEY");
    EXPECT_FALSE(dialog->isVisible());
}

TEST_F(ModelsDialogTest, AChannelHeldBackIsNotAmongThoseThatMayBeSent)
{
    show();
    dialog->findChild<QCheckBox*>(QStringLiteral("exemplars"))->click();
    press(QStringLiteral("Save"));
    const auto& channels = shelf->profiles[0].channels;
    const auto has = [&](const char* name) { return std::count(channels.begin(), channels.end(), name) == 1; };
    EXPECT_FALSE(has("exemplars"));
    EXPECT_TRUE(has("attachments"));
    for (const char* name : {"task", "contract", "parent", "device", "hints"}) {
        EXPECT_TRUE(has(name)) << name;
    }
    show();
    EXPECT_FALSE(dialog->findChild<QCheckBox*>(QStringLiteral("exemplars"))->isChecked());
    dialog->findChild<QCheckBox*>(QStringLiteral("exemplars"))->click();
    press(QStringLiteral("Save"));
    EXPECT_TRUE(shelf->profiles[0].channels.empty()); // the usual rule again
}

TEST_F(ModelsDialogTest, TwoOfOneNameAreNotSaved)
{
    show();
    type(field(QStringLiteral("Name")), QStringLiteral("me"));
    press(QStringLiteral("Save"));
    EXPECT_EQ(shelf->saves, 0);
    EXPECT_TRUE(says(QStringLiteral("Two models are called me")));
}

TEST_F(ModelsDialogTest, AFileThatCannotBeReadIsNotWrittenOver)
{
    shelf->unreadable = Error{ErrorCode::InvalidInput, "models.json: models[0].weight is no number."};
    show();
    EXPECT_TRUE(says(QStringLiteral("weight is no number")));
    EXPECT_FALSE(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save)->isEnabled());
}

TEST_F(ModelsDialogTest, TestShowsTheAddressTheErrorAndTheModelsAndBlocksNothing)
{
    shelf->found = {false,
                    {"http://localhost:8000/v1/models"},
                    "HTTP 401: the key is not valid",
                    "OPENAI_API_KEY",
                    {"large-1", "small-1"},
                    true};
    show();
    press(QStringLiteral("Test"));
    ASSERT_TRUE(waitFor([&] { return shelf->checkedOn.load() != nullptr; }));
    EXPECT_NE(shelf->checkedOn.load(), QThread::currentThread());
    EXPECT_EQ(found(), QStringLiteral("Asking…"));
    type(field(QStringLiteral("Key variable")), QStringLiteral("OTHER")); // the dialog is alive meanwhile
    EXPECT_EQ(field(QStringLiteral("Key variable"))->text(), QStringLiteral("OTHER"));
    shelf->release.release();
    ASSERT_TRUE(waitFor([&] { return found() != QStringLiteral("Asking…"); }));
    for (const char* words : {"http://localhost:8000/v1/models", "HTTP 401: the key is not valid", "OPENAI_API_KEY",
                              "large-1, small-1", "The model is offered."}) {
        EXPECT_TRUE(found().contains(QString::fromLatin1(words))) << words << "\n" << found().toStdString();
    }
}

TEST_F(ModelsDialogTest, AnAnswerForAnotherModelIsNotShown)
{
    shelf->found.error = "late";
    show();
    press(QStringLiteral("Test"));
    dialog->findChild<QListWidget*>()->setCurrentRow(1);
    shelf->release.release();
    ASSERT_TRUE(waitFor([&] {
        for (const QPushButton* button : dialog->findChildren<QPushButton*>()) {
            if (button->text() == QStringLiteral("&Test")) {
                return button->isEnabled();
            }
        }
        return false;
    }));
    EXPECT_EQ(found(), QString());
}

TEST_F(ModelsDialogTest, WithoutAKeychainAKeyIsNotKeptAndTheVariableIsNamed)
{
    qputenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=" + folder.filePath(QStringLiteral("no-bus")).toUtf8());
    show();
    type(field(QStringLiteral("Key")), QStringLiteral("sk-not-to-be-kept"));
    press(QStringLiteral("Save"));
    ASSERT_TRUE(waitFor([&] { return says(QStringLiteral("OPENAI_API_KEY")); }));
    EXPECT_TRUE(dialog->isVisible());
    for (const QFileInfo& file : QDir(folder.path()).entryInfoList(QDir::Files)) {
        QFile opened(file.filePath());
        ASSERT_TRUE(opened.open(QIODevice::ReadOnly));
        EXPECT_FALSE(opened.readAll().contains("sk-not-to-be-kept"));
    }
    press(QStringLiteral("Save"));
    EXPECT_FALSE(dialog->isVisible());
}

TEST_F(ModelsDialogTest, Pictures)
{
    shelf->found = {false,
                    {"https://api.openai.com/v1/models"},
                    "api.openai.com refused the key (HTTP 401): Incorrect API key provided.",
                    "the keychain",
                    {},
                    {}};
    for (const auto& [mode, name] : {std::pair{ThemeMode::Light, "light"}, std::pair{ThemeMode::Dark, "dark"}}) {
        themes.setMode(mode);
        show();
        press(QStringLiteral("Test"));
        shelf->release.release();
        ASSERT_TRUE(waitFor([&] { return found().contains(QStringLiteral("401")); }));
        const QString at = qEnvironmentVariable("ESPALIER_PICTURES", QStringLiteral(ESPALIER_PICTURES));
        QDir().mkpath(at);
        const QImage image = dialog->grab().toImage();
        EXPECT_TRUE(image.save(QStringLiteral("%1/models-%2.png").arg(at, QString::fromLatin1(name))));
        EXPECT_EQ(image.pixelColor(2, 2).lightness() < 128, mode == ThemeMode::Dark);
    }
}

} // namespace espalier
