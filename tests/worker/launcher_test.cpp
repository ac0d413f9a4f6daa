// SPDX-License-Identifier: Apache-2.0
#include "core/worker/launcher.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

using Words = std::vector<std::string>;

TEST(Launcher, StartsAChildDirectly)
{
    EXPECT_EQ((Launcher{{}, "/opt/espalier-worker", {}}.command("cuda:0")),
              (Words{"/opt/espalier-worker", "judge", "--device", "cuda:0"}));
}

TEST(Launcher, PutsAPrefixBefore)
{
    const Launcher launcher{{"srun", "--gpus=1"}, "espalier-worker", {"--no-sandbox"}};
    EXPECT_EQ(launcher.command("auto"),
              (Words{"srun", "--gpus=1", "espalier-worker", "judge", "--device", "auto", "--no-sandbox"}));
}

TEST(Launcher, QuotesForTheRemoteShell)
{
    const Launcher launcher{{"/usr/bin/ssh", "host"}, "it's here/espalier-worker", {}};
    EXPECT_EQ(launcher.command("sim"),
              (Words{"/usr/bin/ssh", "host", "'it'\\''s here/espalier-worker'", "judge", "--device", "sim"}));
}

} // namespace
} // namespace espalier
