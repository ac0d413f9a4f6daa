// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/banner.h"
#include "views/departure.h"
#include "views/main_window.h"

#include <QAbstractButton>
#include <QMessageBox>

using namespace espalier;

namespace {

class ClosingTest : public ViewFixture
{
protected:
    void SetUp() override
    {
        window = std::make_unique<MainWindow>(bench, settings);
        window->show();
        scriptSoftmax(*link, Provenance::Model);
        open();
        tell(RunState::Running, 1);
    }
    void tell(RunState state, int asking, std::optional<int> readsOn = std::nullopt)
    {
        link->status.state = state;
        link->status.asking = asking;
        link->status.readsOn = readsOn;
        link->sendStatus();
        settle();
    }
    /// Closes it and says that the search may end.
    void closeAndAgree()
    {
        EXPECT_FALSE(window->close());
        auto* box = window->findChild<QMessageBox*>();
        ASSERT_TRUE(box);
        for (QAbstractButton* button : box->buttons()) {
            if (box->buttonRole(button) == QMessageBox::AcceptRole) {
                return button->click();
            }
        }
    }
    std::unique_ptr<MainWindow> window;
};

TEST_F(ClosingTest, ReadsAnAnswerThatIsComing)
{
    closeAndAgree();
    ASSERT_EQ(link->sent<command::Pause>().size(), 1u);
    for (const int left : {60, 41}) {
        tell(RunState::Pausing, 1, left);
        EXPECT_TRUE(window->isVisible());
        EXPECT_NE(window->banner().text().indexOf(QStringLiteral("in %1 s at most").arg(left)), -1);
    }
    tell(RunState::Paused, 0);
    EXPECT_FALSE(window->isVisible());
}

TEST_F(ClosingTest, WaitsForNothingElse)
{
    closeAndAgree();
    tell(RunState::Pausing, 0); // a stage runs, and nothing is coming
    EXPECT_FALSE(window->isVisible());
}

TEST_F(ClosingTest, WhoClosesAgainDoesNotWait)
{
    closeAndAgree();
    tell(RunState::Pausing, 1, 60);
    EXPECT_TRUE(window->close());
    EXPECT_TRUE(window->departure().isCutShort());
}

TEST_F(ClosingTest, AnEngineThatDoesNotPauseKeepsNobody)
{
    closeAndAgree();
    EXPECT_TRUE(waitFor([this] { return !window->isVisible(); }));
}

TEST_F(ClosingTest, NothingAskedIsNothingToWaitFor)
{
    tell(RunState::Running, 0);
    closeAndAgree();
    EXPECT_TRUE(waitFor([this] { return !window->isVisible(); }));
    EXPECT_TRUE(link->sent<command::Pause>().empty());
}

} // namespace
