// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/build/entry_header.h"
#include "core/export/repro_program.h"
#include "core/model/task_loader.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace espalier {
namespace {

Task builtIn(const std::string& name)
{
    return loadTask(std::string(ESPALIER_TASKS_FOLDER) + "/" + name).value();
}

NodeDetail rootOf(const Task& task)
{
    NodeDetail node;
    node.summary.id = NodeId{1};
    node.summary.title = "root";
    node.source = task.root.text;
    return node;
}

TEST(Repro, HoldsTheKernelUntouchedAndTheShapesOfTheCase)
{
    const Task task = builtIn("conv2d_relu_maxpool_f32");
    const auto program = reproProgram({task, rootOf(task), entryHeader(task), "2x1x22x17 17", 5});
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_NE(program->find(task.root.text), std::string::npos);
    EXPECT_NE(program->find("repro::Buffer<float> x(748);"), std::string::npos) << *program; // 2 * 1 * 22 * 17
    EXPECT_NE(program->find("conv2d_relu_maxpool_f32_workspace(static_cast<int64_t>(2), "), std::string::npos);
}

TEST(Repro, EveryBuiltInRootBecomesAProgramThatPlainNvccBuilds)
{
    const std::string nvcc = ESPALIER_NVCC;
    if (nvcc.empty()) {
        GTEST_SKIP() << "no nvcc on this machine";
    }
    const auto folder = ScratchFolder::create("repro").value();
    for (const char* name : {"softmax_f32", "conv2d_relu_maxpool_f32"}) {
        const Task task = builtIn(name);
        const auto program = reproProgram({task, rootOf(task), entryHeader(task), "", 1});
        ASSERT_TRUE(program) << program.error().message;
        const auto source = folder.path() / "repro.cu";
        ASSERT_TRUE(writeFileAtomically(source, *program));
        const std::string command = nvcc + " -arch=sm_90 -o " + (folder.path() / "repro").string() + " " +
                                    source.string() + " > " + (folder.path() / "log").string() + " 2>&1";
        EXPECT_EQ(std::system(command.c_str()), 0) << name << "\n" << readFile(folder.path() / "log").value_or("");
    }
}

TEST(Repro, SaysWhatItCannotMake)
{
    const Task task = builtIn("softmax_f32");
    EXPECT_EQ(reproProgram({task, rootOf(task), "", "no such", 1}).error().message,
              "Task softmax_f32 has no case \"no such\".");
    NodeDetail idea = rootOf(task);
    idea.source.clear();
    EXPECT_EQ(reproProgram({task, idea, "", "", 1}).error().message,
              "Node 1 has no source: name a root or a candidate.");
}

} // namespace
} // namespace espalier
