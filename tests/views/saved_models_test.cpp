// SPDX-License-Identifier: GPL-3.0-only
// The Models dialog over the real file and the real check of an endpoint.
#include "app/saved_models.h"
#include "views/models_dialog.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <gtest/gtest.h>

using namespace espalier;

TEST(SavedModels, AnEndpointThatNobodyServesIsNamedWithItsAddress)
{
    QTemporaryDir folder;
    const auto shelf = std::make_shared<SavedModels>(folder.filePath(QStringLiteral("models.json")).toStdString());
    llm::ModelProfile profile;
    profile.name = "nobody";
    profile.provider = "openai";
    profile.baseUrl = "http://127.0.0.1:1/v1";
    profile.model = "any";
    ASSERT_TRUE(shelf->save({profile}));
    ModelsDialog dialog(shelf);
    const auto* found = dialog.findChild<QPlainTextEdit*>();
    for (QPushButton* button : dialog.findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("&Test")) {
            button->click();
        }
    }
    EXPECT_EQ(found->toPlainText(), QStringLiteral("Asking…"));
    QElapsedTimer clock;
    clock.start();
    while (found->toPlainText() == QStringLiteral("Asking…") && clock.elapsed() < 60000) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    }
    EXPECT_TRUE(found->toPlainText().contains(QStringLiteral("http://127.0.0.1:1/v1/models")))
        << found->toPlainText().toStdString();
    EXPECT_FALSE(found->toPlainText().contains(QStringLiteral("It answers")));
    EXPECT_GE(found->toPlainText().split(QLatin1Char('\n')).size(), 3); // address, reason, key

    dialog.accept();
    const auto again = shelf->load();
    ASSERT_TRUE(again);
    ASSERT_EQ(again->size(), 1u);
    EXPECT_EQ(again->front().baseUrl, profile.baseUrl);
}
