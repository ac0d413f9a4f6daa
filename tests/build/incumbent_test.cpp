// SPDX-License-Identifier: Apache-2.0
#include "core/build/incumbent.h"

#include "core/base/file.h"
#include "core/base/subprocess.h"

#include <fstream>
#include <gtest/gtest.h>

namespace espalier {
namespace {

class IncumbentTest : public ::testing::Test
{
protected:
    IncumbentTest()
    {
        m_task.id = m_task.entry = "softmax";
        Argument x;
        x.name = "x";
        m_task.arguments = {x};
    }

    std::string written(const std::string& name, const std::string& text) const
    {
        std::ofstream(m_folder.path() / name) << text;
        return (m_folder.path() / name).string();
    }

    std::string library(const std::string& source) const
    {
        const std::string text = written("a.cpp", source);
        const std::string file = (m_folder.path() / "libops.so").string();
        const auto run =
            runToEnd({.argv = {"g++", "-shared", "-fPIC", "-o", file, text}}, {}, std::chrono::seconds(60));
        EXPECT_TRUE(run && run->status.success());
        return file;
    }

    std::string refusal(const std::string& words) const
    {
        const auto incumbent = loadIncumbent(words, m_task);
        return incumbent ? "loaded" : incumbent.error().message;
    }

    Task m_task;
    ScratchFolder m_folder = *ScratchFolder::create("incumbent");
};

TEST_F(IncumbentTest, ASourceIsReadWithTheTasksEntry)
{
    const std::string file = written("old.cu", "// today's kernel\n");
    const auto incumbent = loadIncumbent(file, m_task);
    ASSERT_TRUE(incumbent) << incumbent.error().message;
    EXPECT_EQ(incumbent->source, "// today's kernel\n");
    EXPECT_EQ(incumbent->symbol, "softmax");
    EXPECT_FALSE(incumbent->library);
    written("old.cu", "// another\n");
    EXPECT_NE(loadIncumbent(file, m_task)->hash, incumbent->hash);
}

TEST_F(IncumbentTest, ALibraryIsReadWithItsFunction)
{
    const std::string file =
        library("extern \"C\" int launch() { return 0; } extern \"C\" int launch_it() { return 0; }");
    const auto incumbent = loadIncumbent(file + ":launch_it", m_task);
    ASSERT_TRUE(incumbent) << incumbent.error().message;
    ASSERT_TRUE(incumbent->library);
    EXPECT_EQ(*incumbent->library->bytes, *readFile(file));
    EXPECT_EQ(incumbent->symbol, "launch_it");
    EXPECT_NE(loadIncumbent(file + ":launch", m_task)->hash, incumbent->hash)
        << "another function is another incumbent";
}

TEST_F(IncumbentTest, WhatCannotServeIsSaidInOneSentence)
{
    const std::string file = library("extern \"C\" int launch() { return 0; } int launch_data = 3;");
    EXPECT_NE(refusal("/nowhere/old.cu").find("There is no file /nowhere/old.cu"), std::string::npos);
    EXPECT_NE(refusal("/nowhere/x.so:f").find("There is no file /nowhere/x.so"), std::string::npos);
    EXPECT_NE(refusal(m_folder.path().string() + ".cu").find("There is no file"), std::string::npos);
    EXPECT_NE(refusal("kernel.ptx").find("\"kernel.ptx\" names no incumbent"), std::string::npos);
    EXPECT_NE(refusal(file).find("needs the name of its function: write " + file + ":SYMBOL"), std::string::npos);
    EXPECT_NE(refusal(file + ":").find("needs the name of its function"), std::string::npos);
    EXPECT_NE(refusal(file + ":softmax").find("defines no function softmax (it defines launch)"), std::string::npos);
    EXPECT_NE(refusal(file + ":launch_data").find("defines no function launch_data"), std::string::npos);
    const std::string text = written("text.so", "no library at all");
    EXPECT_NE(refusal(text + ":f").find("is no x86-64 shared library"), std::string::npos);
    std::string other = *readFile(file);
    other[18] = static_cast<char>(183); // e_machine: AArch64
    const std::string arm = written("arm.so", other);
    EXPECT_NE(refusal(arm + ":launch").find("is no x86-64 shared library"), std::string::npos);
}

TEST_F(IncumbentTest, TheTasksOwnIsItsSource)
{
    EXPECT_FALSE(incumbentOf(m_task));
    m_task.incumbent = SourceFile{"old.cu", "text"};
    ASSERT_TRUE(incumbentOf(m_task));
    EXPECT_EQ(incumbentOf(m_task)->source, "text");
    EXPECT_EQ(incumbentOf(m_task)->symbol, "softmax");
}

} // namespace
} // namespace espalier
