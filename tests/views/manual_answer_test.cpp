// SPDX-License-Identifier: GPL-3.0-only
// The Prompt tab's field for answers by hand over the real client that waits for them.
#include "core/llm/manual_client.h"
#include "views/manual_answer.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QFile>
#include <QGuiApplication>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QUrl>
#include <gtest/gtest.h>

namespace espalier {

class ManualAnswerTest : public testing::Test
{
protected:
    void SetUp() override
    {
        llm::ModelProfile profile;
        profile.provider = "manual";
        profile.folder = folder.filePath(QStringLiteral("questions")).toStdString();
        auto made = llm::ManualClient::make(profile);
        ASSERT_TRUE(made) << made.error().message;
        client = std::move(*made);
        llm::ChatRequest request;
        request.purpose = "idea";
        request.messages = {{"user", "Which kernel is faster?"}};
        const llm::WireRecord wire = client->start(RequestId{1}, request);
        exchange.id = 4;
        exchange.provider = "manual";
        exchange.state = Exchange::State::Sent;
        exchange.url = wire.url;
        exchange.request = wire.requestBody;
        client->release(RequestId{1});
        client->receive(); // the prompt is written
        panel.setExchange(&exchange);
    }
    QPushButton* button(const QString& words)
    {
        for (QPushButton* each : panel.findChildren<QPushButton*>()) {
            if (each->text() == words) {
                return each;
            }
        }
        return nullptr;
    }
    QString said() { return panel.findChild<QLabel*>()->text(); }
    QPlainTextEdit* text() { return panel.findChild<QPlainTextEdit*>(); }
    std::string answered()
    {
        for (const llm::chat::Event& event : client->receive()) {
            if (const auto* answer = std::get_if<llm::chat::Answered>(&event)) {
                return answer->answer.text;
            }
        }
        return {};
    }

    QTemporaryDir folder;
    std::unique_ptr<llm::ManualClient> client;
    Exchange exchange;
    ManualAnswer panel;
};

TEST_F(ManualAnswerTest, APastedAnswerReachesTheClientThatWaits)
{
    EXPECT_TRUE(panel.isVisibleTo(nullptr));
    button(QStringLiteral("Copy prompt"))->click();
    EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(QStringLiteral("Which kernel is faster?")));
    EXPECT_FALSE(button(QStringLiteral("Hand over"))->isEnabled());
    text()->setPlainText(QStringLiteral("The one with fewer barriers."));
    panel.setExchange(&exchange); // news of the same question
    button(QStringLiteral("Hand over"))->click();
    EXPECT_EQ(answered(), "The one with fewer barriers.") << said().toStdString();
}

TEST_F(ManualAnswerTest, AFileCountsAsItsText)
{
    QFile file(folder.filePath(QStringLiteral("mine.txt")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("From a file.");
    file.close();
    auto* data = new QMimeData; // the clipboard's from now on
    data->setUrls({QUrl::fromLocalFile(file.fileName())});
    QGuiApplication::clipboard()->setMimeData(data);
    text()->paste();
    button(QStringLiteral("Hand over"))->click();
    EXPECT_EQ(answered(), "From a file.") << said().toStdString();
}

TEST_F(ManualAnswerTest, NothingIsWrittenWhereNoPromptLies)
{
    const QString where = folder.filePath(QStringLiteral("elsewhere"));
    exchange.id = 5;
    exchange.url = "manual:" + where.toStdString() + ".prompt.md";
    panel.setExchange(&exchange);
    text()->setPlainText(QStringLiteral("words"));
    button(QStringLiteral("Hand over"))->click();
    EXPECT_FALSE(QFile::exists(where + QStringLiteral(".answer.md")));
    EXPECT_TRUE(said().contains(QStringLiteral("run the session"))) << said().toStdString();
    EXPECT_EQ(text()->toPlainText(), QStringLiteral("words")); // not lost
}

TEST_F(ManualAnswerTest, IsThereForQuestionsThatWaitForAPersonAlone)
{
    exchange.state = Exchange::State::Answered;
    panel.setExchange(&exchange);
    EXPECT_TRUE(panel.isHidden());
    exchange.state = Exchange::State::Sent;
    exchange.url = "https://model.example/v1/chat/completions";
    panel.setExchange(&exchange);
    EXPECT_TRUE(panel.isHidden());
}

} // namespace espalier
