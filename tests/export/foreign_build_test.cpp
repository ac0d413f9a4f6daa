// SPDX-License-Identifier: Apache-2.0
#include "core/export/foreign_build.h"

#include "core/base/file.h"

#include <gtest/gtest.h>
#include <optional>

namespace espalier {
namespace fs = std::filesystem;

class ForeignBuildTest : public testing::Test
{
protected:
    void SetUp() override
    {
        m_scratch.emplace(ScratchFolder::create("espalier-foreign-build").value());
        m_stored.name = "kernel";
        m_stored.folder = m_scratch->path();
        m_stored.task = std::string(ESPALIER_TASKS_FOLDER) + "/softmax_f32";
        write("extern \"C\" void f() {}\n");
    }
    void write(const std::string& source)
    {
        m_stored.source = source;
        ASSERT_TRUE(writeFileAtomically(m_scratch->path() / "kernel.cu", source));
    }
    /// With a compiler that does what the shell script says.
    EvidenceVerdict built(const std::string& script, std::chrono::milliseconds deadline = std::chrono::seconds(60),
                          std::stop_token stop = {})
    {
        Toolkit toolkit;
        toolkit.nvcc = m_scratch->path() / "nvcc";
        EXPECT_TRUE(writeFileAtomically(toolkit.nvcc, "#!/bin/sh\n" + script + "\n"));
        fs::permissions(toolkit.nvcc, fs::perms::owner_all);
        return builtElsewhere(m_stored, toolkit, std::move(stop), deadline).value();
    }
    EvidenceVerdict builtForReal() { return built("exec " ESPALIER_NVCC " \"$@\""); }

    std::optional<ScratchFolder> m_scratch;
    StoredExport m_stored;
};

TEST_F(ForeignBuildTest, WhatDoesNotLinkIsFoundThoughItCompiles)
{
    EXPECT_EQ(builtForReal().state, EvidenceState::Holds);
    write("void gone();\nextern \"C\" void f() { gone(); }\n");
    const EvidenceVerdict verdict = builtForReal();
    EXPECT_EQ(verdict.state, EvidenceState::Broken);
    EXPECT_NE(verdict.sentence.find("undefined reference to `gone()'"), std::string::npos) << verdict.sentence;
}

TEST_F(ForeignBuildTest, TheFirstErrorIsNamedNotAWarning)
{
    const EvidenceVerdict verdict = built("echo 'kernel.cu(3): warning #177-D: variable \"n\" was declared but never "
                                          "referenced'; echo 'kernel.cu(7): error: expected a \";\"'; exit 2");
    EXPECT_EQ(verdict.state, EvidenceState::Broken);
    EXPECT_EQ(verdict.sentence, "kernel.cu does not compile beside its header: kernel.cu, line 7: expected a \";\"");
}

TEST_F(ForeignBuildTest, ACompilerThatCannotFinishSaysNothingOfTheCode)
{
    for (const char* script : {"sh -c 'kill -9 $$'", "exit 1", "exit 137",
                               "echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\"; exit 9",
                               "echo \"/tmp/x.s: Fatal error: can't write 9 bytes to section .text of x.o: 'No space "
                               "left on device'\"; exit 1",
                               "echo 'kernel.cu(7): error: out of memory'; exit 1"}) {
        const EvidenceVerdict verdict = built(script);
        EXPECT_EQ(verdict.state, EvidenceState::Unknown) << script;
        EXPECT_NE(verdict.sentence.find("kernel.cu did not come to an end here"), std::string::npos)
            << verdict.sentence;
    }
    EXPECT_EQ(built("sleep 60", std::chrono::milliseconds(100)).sentence,
              "compiling kernel.cu took longer than 0.1 s and was stopped");
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_EQ(built("sleep 60", std::chrono::seconds(60), stopped.get_token()).sentence,
              "compiling kernel.cu was stopped");
    m_stored.task = m_scratch->path() / "away";
    EXPECT_EQ(built("exit 0").state, EvidenceState::Unknown) << "no task to take the flags from";
}

} // namespace espalier
