// SPDX-License-Identifier: Apache-2.0
#include "core/build/source_review.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(SourceReview, AnOwnKernelNeedsNone)
{
    EXPECT_TRUE(reviewSource("").empty());
    EXPECT_TRUE(reviewSource("// SPDX-License-Identifier: 0BSD\nnamespace {\n__global__ void cutting(float* x) {}\n}\n"
                             "// copied from nowhere; cub is a young fox\n")
                    .empty());
}

TEST(SourceReview, LicenceAndLibraryAreNamedWithTheirLines)
{
    const auto review = reviewSource("/* Copyright (c) 2017 - 2024 Somebody. All rights reserved.\n"
                                     " * Redistribution and use in source and binary forms, with or without\n */\n"
                                     "namespace cutlass {\nnamespace gemm {}\n}\nusing cutlass::gemm;\n");
    ASSERT_EQ(review.size(), 3U);
    EXPECT_EQ(review[0].check, "review");
    EXPECT_EQ(review[0].sentence,
              "line 1 holds a copyright notice: if it was pasted, look at its terms before you use it");
    EXPECT_EQ(review[1].sentence, "line 2 holds a BSD licence: if it was pasted, look at its terms before you use it");
    EXPECT_EQ(review[2].sentence, "line 4 looks as if it came from CUTLASS: look at its licence before you use it");
}

} // namespace
} // namespace espalier
