// SPDX-License-Identifier: Apache-2.0
#include "core/search/similarity.h"

#include "core/base/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

using namespace espalier;

namespace {

std::string kernel(const std::string& name)
{
    const auto text = readFile(std::filesystem::path(ESPALIER_TASKS_FOLDER) / name);
    EXPECT_TRUE(text.has_value()) << name;
    return text.value_or(std::string());
}

const NodeId root{1}, first{2}, second{3};

} // namespace

TEST(Similarity, ACopiedSolutionIsSeenThroughOtherLayoutAndComments)
{
    SimilarityIndex index;
    const std::string start = kernel("softmax_f32/root.cu"), found = kernel("softmax_f32/playbook/row_registers.cu");
    index.add(root, start, {});
    index.add(first, found, std::vector{root});
    std::string copy = "// written from scratch\n";
    for (const char c : found) {
        copy += c;
        copy += c == ';' || c == '{' ? "\n\n    " : "";
    }
    const auto like = index.closest(copy, std::vector{root});
    ASSERT_TRUE(like);
    EXPECT_EQ(like->node, first);
    EXPECT_GT(like->share(), 0.95);
    EXPECT_FALSE(index.closest(copy, std::vector{root, first})) << "nothing is new against its own parent";
}

TEST(Similarity, KernelsWrittenApartAreNotAlike)
{
    SimilarityIndex index;
    index.add(root, kernel("softmax_f32/root.cu"), {});
    index.add(first, kernel("matmul_f32/root.cu"), {});
    const auto like = index.closest(kernel("softmax_f32/playbook/row_registers.cu"), std::vector{root});
    EXPECT_TRUE(!like || like->share() < 0.5) << like->share();
}

TEST(Similarity, WhatBothInheritDoesNotCount)
{
    SimilarityIndex index;
    const std::string parent = kernel("softmax_f32/playbook/row_registers.cu");
    index.add(root, parent, {});
    index.add(first, parent + "\n__device__ int one() { return 1; }\n", std::vector{root});
    EXPECT_FALSE(index.closest(parent + "\n__device__ int two() { return 2; }\n", std::vector{root}));
}

TEST(Similarity, AnyBytesAreTaken)
{
    SimilarityIndex index;
    std::string bytes;
    for (int i = 0; i < 5000; ++i) {
        bytes += char(i * 37);
    }
    index.add(first, bytes, {});
    (void)index.closest(bytes, {});
    EXPECT_FALSE(index.closest("", {}));
}
