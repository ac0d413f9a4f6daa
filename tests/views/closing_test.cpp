// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/banner.h"
#include "views/main_window.h"

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
    std::unique_ptr<MainWindow> window;
};

TEST_F(ClosingTest, ReadsAnAnswerThatIsComing)
{
    EXPECT_FALSE(window->close());
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
    EXPECT_FALSE(window->close());
    tell(RunState::Pausing, 0); // a stage runs, and nothing is coming
    EXPECT_FALSE(window->isVisible());
}

TEST_F(ClosingTest, WhoClosesAgainDoesNotWait)
{
    EXPECT_FALSE(window->close());
    tell(RunState::Pausing, 1, 60);
    EXPECT_TRUE(window->close());
}

TEST_F(ClosingTest, AnEngineThatDoesNotPauseKeepsNobody)
{
    EXPECT_FALSE(window->close());
    EXPECT_TRUE(waitFor([this] { return !window->isVisible(); }));
}

TEST_F(ClosingTest, NothingAskedIsNothingToWaitFor)
{
    tell(RunState::Running, 0);
    EXPECT_TRUE(window->close());
    EXPECT_TRUE(link->sent<command::Pause>().empty());
}

} // namespace
