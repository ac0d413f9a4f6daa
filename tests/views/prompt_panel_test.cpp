// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/inspector.h"
#include "views/main_window.h"
#include "views/manual_answer.h"
#include "views/new_session_dialog.h"
#include "views/prompt_panel.h"

#include <QComboBox>
#include <QDir>
#include <QPlainTextEdit>
#include <QPushButton>

namespace espalier {

class PromptPanelTest : public ViewFixture
{
protected:
    void SetUp() override
    {
        window = std::make_unique<MainWindow>(bench, settings);
        window->resize(1760, 990);
        window->show();
        scriptSoftmax(*link, Provenance::Model);
        open();
        window->inspector().showTab(Inspector::Prompt);
        bench.select(NodeId{2});
        settle();
    }

    static Exchange exchange()
    {
        Exchange made;
        made.id = 7;
        made.node = NodeId{1};
        made.purpose = "idea";
        made.model = "alpha";
        made.url = "https://model.example/v1/chat/completions";
        made.state = Exchange::State::Answered;
        made.finish = "complete";
        made.prompt = "## Task: Row softmax\n\nPropose 4 ideas.";
        made.answer = "{\"ideas\": []}";
        made.reasoning = "The row fits into registers.";
        made.tokens = {1234, 56, 1000, 20};
        made.usd = 0.0123;
        made.parts = {{"task", 300, "", {}, true}, {"attachments", 90, "not sent: the provider's rule", {}, false}};
        made.notes = {"dropped idea \"again\": it repeats idea 3"};
        return made;
    }
    void answer(std::vector<Exchange> exchanges)
    {
        link->send(event::Exchanges{NodeId{2}, std::move(exchanges), {}, {}});
        settle();
    }
    PromptPanel& panel() { return *window->inspector().prompt(); }

    std::unique_ptr<MainWindow> window;
};

TEST_F(PromptPanelTest, ShowsWhatWasSentWhereAndWhatItCost)
{
    ASSERT_FALSE(link->sent<command::FetchExchanges>().empty());
    EXPECT_EQ(link->sent<command::FetchExchanges>().back().node, NodeId{2});
    answer({exchange()});
    EXPECT_EQ(panel().prompt()->toPlainText(), QStringLiteral("## Task: Row softmax\n\nPropose 4 ideas."));
    EXPECT_EQ(panel().answer()->toPlainText(), QStringLiteral("{\"ideas\": []}"));
    for (const char* words : {"https://model.example", "Sent: task", "Not sent: attachments",
                              "1234 tokens in (1000 cached)", "0.0123 USD", "dropped idea"}) {
        EXPECT_TRUE(panel().facts().contains(QLatin1String(words))) << words;
    }
    Exchange unpriced = exchange();
    unpriced.usd.reset();
    answer({unpriced});
    EXPECT_TRUE(panel().facts().contains(QStringLiteral("price unknown")));
}

TEST_F(PromptPanelTest, AnEditedPromptIsSentAgainAndSurvivesNews)
{
    answer({exchange()});
    panel().prompt()->setPlainText(QStringLiteral("Only about registers."));
    answer({exchange()}); // the node changed meanwhile
    EXPECT_EQ(panel().prompt()->toPlainText(), QStringLiteral("Only about registers."));
    panel().send()->click();
    const auto asked = link->sent<command::Ask>();
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].node, NodeId{1});
    EXPECT_EQ(asked[0].prompt, "Only about registers.");
    EXPECT_TRUE(asked[0].ideas);
}

TEST_F(PromptPanelTest, AnAnswerGrowsWhileItArrives)
{
    Exchange arriving = exchange();
    arriving.state = Exchange::State::Sent;
    arriving.answer.clear();
    answer({arriving});
    link->send(event::AnswerGrew{NodeId{2}, 7, "Keep the "});
    link->send(event::AnswerGrew{NodeId{2}, 7, "row"});
    link->send(event::AnswerGrew{NodeId{3}, 8, "another's"});
    settle();
    EXPECT_EQ(panel().answer()->toPlainText(), QStringLiteral("Keep the row"));
}

TEST_F(PromptPanelTest, SaysWhenNothingWasAsked)
{
    answer({});
    EXPECT_EQ(panel().facts(), QStringLiteral("No model was asked about this node."));
    EXPECT_FALSE(panel().send()->isEnabled());
}

TEST_F(PromptPanelTest, AQuestionForAPersonOffersAFieldForTheAnswer)
{
    auto* byHand = panel().findChild<ManualAnswer*>();
    answer({exchange()});
    EXPECT_FALSE(byHand->isVisible());
    Exchange waiting = exchange();
    waiting.state = Exchange::State::Sent;
    waiting.url = "manual:questions/idea-0123456789.prompt.md";
    waiting.answer.clear();
    answer({waiting});
    EXPECT_TRUE(byHand->isVisible());
    for (const ThemeMode mode : {ThemeMode::Light, ThemeMode::Dark}) {
        themes.setMode(mode);
        settle();
        const QString folderPath = qEnvironmentVariable("ESPALIER_PICTURES", QStringLiteral(ESPALIER_PICTURES));
        QDir().mkpath(folderPath);
        EXPECT_TRUE(panel().grab().save(
            QStringLiteral("%1/by-hand-%2.png")
                .arg(folderPath, mode == ThemeMode::Dark ? QStringLiteral("dark") : QStringLiteral("light"))));
    }
}

TEST_F(PromptPanelTest, PicturesInBothThemes)
{
    answer({exchange()});
    for (const ThemeMode mode : {ThemeMode::Light, ThemeMode::Dark}) {
        themes.setMode(mode);
        settle();
        const QImage image = window->grab().toImage();
        const QString folderPath = qEnvironmentVariable("ESPALIER_PICTURES", QStringLiteral(ESPALIER_PICTURES));
        QDir().mkpath(folderPath);
        EXPECT_TRUE(image.save(
            QStringLiteral("%1/prompt-%2.png")
                .arg(folderPath, mode == ThemeMode::Dark ? QStringLiteral("dark") : QStringLiteral("light"))));
    }
}

TEST_F(PromptPanelTest, ANewSessionNamesItsModels)
{
    NewSessionDialog none(folder.path());
    EXPECT_EQ(none.options().proposers, (std::vector<std::string>{"playbook", "tuner"}));
    NewSessionDialog dialog(folder.path(), {QStringLiteral("alpha"), QStringLiteral("beta")});
    QComboBox* models = nullptr;
    for (QComboBox* box : dialog.findChildren<QComboBox*>()) {
        models = box->findText(QStringLiteral("alpha")) >= 0 ? box : models;
    }
    ASSERT_TRUE(models);
    models->setCurrentIndex(2);
    EXPECT_EQ(dialog.options().modelNames, (std::vector<std::string>{"beta"}));
    EXPECT_EQ(dialog.options().proposers->back(), "llm");
    models->setCurrentIndex(3);
    EXPECT_EQ(dialog.options().modelNames, (std::vector<std::string>{"alpha", "beta"}));
}

} // namespace espalier
