// SPDX-License-Identifier: Apache-2.0
// What the sandbox promises, seen from within it.
#include "core/judge/sandbox.h"

#include "core/base/subprocess.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

class InTheSandbox : public ::testing::Test
{
protected:
    void SetUp() override
    {
        SandboxNeeds needs;
        needs.folders = loadedLibraryFolders();
        needs.environment = {"ESPALIER_ASKED_FOR=yes"};
        m_sandbox = Sandbox::probe(needs, SANDBOX_PROBE);
        if (!m_sandbox.active()) {
            GTEST_SKIP() << m_sandbox.grade();
        }
        ProcessSpec spec;
        spec.argv = m_sandbox.wrap({SANDBOX_PROBE});
        spec.environment = m_sandbox.environment();
        spec.environment->push_back("SECRET_OF_THE_HOST=7");
        const auto ran = runToEnd(std::move(spec), {}, std::chrono::seconds(20), 65536);
        ASSERT_TRUE(ran);
        ASSERT_TRUE(ran->status.success()) << ran->err;
        m_said = "\n" + ran->out;
    }
    bool said(const std::string& line) const { return m_said.find("\n" + line + "\n") != std::string::npos; }

    Sandbox m_sandbox = Sandbox::none({}, "not probed");
    std::string m_said;
};

TEST_F(InTheSandbox, ItIsAloneAndTheFirstAndHasNoCapability)
{
    EXPECT_TRUE(said("pid 1")) << m_said;
    EXPECT_TRUE(said("processes 1")) << m_said;
    EXPECT_TRUE(said("capabilities 0000000000000000")) << m_said;
}

TEST_F(InTheSandbox, ThereIsNoNetworkButItsOwnLoop)
{
    EXPECT_TRUE(said("interface lo")) << m_said;
    EXPECT_EQ(m_said.find("interface "), m_said.rfind("interface ")) << m_said;
}

TEST_F(InTheSandbox, TheEnvironmentIsWhatTheJudgeGives)
{
    EXPECT_TRUE(said("variable ESPALIER_ASKED_FOR=yes")) << m_said;
    EXPECT_EQ(m_said.find("SECRET_OF_THE_HOST"), std::string::npos) << m_said;
}

TEST_F(InTheSandbox, FilesOfTheHostAreNotThereAndOnlyScratchCanBeWritten)
{
    for (const char* file : {"/etc/hostname", "/etc/passwd", "/usr/bin/env", "/root/.bashrc"}) {
        EXPECT_TRUE(said(std::string("misses ") + file)) << m_said;
    }
    EXPECT_TRUE(said("writes /tmp")) << m_said;
    EXPECT_TRUE(said("cannot write /usr/lib")) << m_said;
    EXPECT_TRUE(said("cannot write /")) << m_said;
    EXPECT_FALSE(std::filesystem::exists("/tmp/espalier_sandbox_probe")) << "the scratch folder outlived the sandbox";
}

} // namespace
} // namespace espalier::judge
