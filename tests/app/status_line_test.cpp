// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/status_line.h"

#include <gtest/gtest.h>

using namespace espalier;
using namespace espalier::ctl;

namespace {

RunStatus busy()
{
    RunStatus status;
    status.state = RunState::Running;
    status.building = 12;
    status.judging = 1;
    status.evaluations = 107;
    status.budget.evaluations = 240;
    status.best = NodeId{83};
    status.bestSpeedupRoot = Interval{11.694, 11.64, 11.73};
    status.evaluationsPerSecond = 0.284;
    status.secondsLeft = 468;
    return status;
}

} // namespace

TEST(StatusLine, SaysAllWhereThereIsRoom)
{
    const std::string line = statusLine(busy(), Provenance::Measured, 200);
    EXPECT_TRUE(line.starts_with("running: 12 building, 1 judging, 107/240 evaluations, best 11.69x (#83), 0.28/s, "))
        << line;
    EXPECT_TRUE(line.ends_with(" left")) << line;
}

TEST(StatusLine, AModelledFigureHasItsSign)
{
    EXPECT_NE(statusLine(busy(), Provenance::Model, 200).find("best ≈11.69x (#83)"), std::string::npos);
    EXPECT_EQ(statusLine(busy(), Provenance::Measured, 200).find("≈"), std::string::npos);
}

TEST(StatusLine, FitsAnyWidthAndKeepsWhatMattersMost)
{
    for (std::size_t columns = 0; columns <= 120; ++columns) {
        const std::string line = statusLine(busy(), Provenance::Model, columns);
        EXPECT_LE(columnsOf(line), columns) << line;
        EXPECT_EQ(line.find("best") != std::string::npos, columns >= 39) << columns << ": " << line;
        if (columns >= 19) {
            EXPECT_NE(line.find("107/240 evaluations"), std::string::npos) << columns << ": " << line;
        }
    }
    EXPECT_EQ(statusLine(busy(), Provenance::Model, 39), "107/240 evaluations, best ≈11.69x (#83)");
}

TEST(StatusLine, ANarrowLineIsNotCutWithinACharacter)
{
    RunStatus status;
    status.state = RunState::Running;
    for (std::size_t columns = 0; columns < 20; ++columns) {
        const std::string line = statusLine(status, Provenance::Model, columns);
        EXPECT_EQ(line, std::string("0 evaluations").substr(0, columns));
    }
}
