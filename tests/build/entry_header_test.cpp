// SPDX-License-Identifier: Apache-2.0
#include "core/build/entry_header.h"

#include "core/model/task_loader.h"
#include "tests/build/build_support.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(EntryHeader, Prototypes)
{
    const Task task = test::copyTask();
    EXPECT_EQ(entryPrototype(task), test::signature);
    EXPECT_EQ(workspacePrototype(task), "extern \"C\" size_t copy_f32_workspace(int64_t n)");
    EXPECT_EQ(oraclePrototype(task, "y"), "extern \"C\" cudaError_t copy_f32_oracle(const float* x, int64_t n, double* "
                                          "ref, double* scale, int64_t first, "
                                          "int64_t count, cudaStream_t stream)");
}

TEST(EntryHeader, SeveralOutputsAndTypes)
{
    Task task = test::copyTask();
    Argument state = task.arguments[1];
    state.name = "state";
    state.kind = ArgumentKind::InOut;
    state.type = DataType::BF16;
    task.arguments.push_back(state);
    EXPECT_EQ(oraclePrototype(task, "state"),
              "extern \"C\" cudaError_t copy_f32_oracle_state(const float* x, int64_t n, const __nv_bfloat16* state, "
              "double* ref, double* scale, int64_t first, int64_t count, cudaStream_t stream)");
    const std::string header = entryHeader(task);
    EXPECT_NE(header.find("#include <cuda_bf16.h>"), std::string::npos);
    EXPECT_EQ(header.find("cuda_fp16.h"), std::string::npos);
    EXPECT_NE(header.find("copy_f32_oracle_y("), std::string::npos);
}

} // namespace
} // namespace espalier
