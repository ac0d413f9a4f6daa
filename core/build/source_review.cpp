// SPDX-License-Identifier: Apache-2.0
#include "core/build/source_review.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace espalier {

namespace {

struct Sign {
    std::string_view text;
    std::string_view what;
};

/// Words of licences: they come with the file that was pasted.
constexpr std::array licences = {
    Sign{"Copyright (c)", "a copyright notice"},
    Sign{"Copyright (C)", "a copyright notice"},
    Sign{"Copyright 20", "a copyright notice"},
    Sign{"Licensed under the Apache License", "the Apache licence"},
    Sign{"Redistribution and use in source and binary forms", "a BSD licence"},
    Sign{"Permission is hereby granted, free of charge", "the MIT licence"},
    Sign{"GNU General Public License", "the GNU General Public License"},
    Sign{"GNU Lesser General Public License", "the GNU Lesser General Public License"},
    Sign{"NVIDIA Proprietary", "NVIDIA's proprietary licence"},
};

/// Namespaces and prefixes of libraries that kernels are pasted from.
constexpr std::array libraries = {
    Sign{"namespace cutlass", "CUTLASS"},
    Sign{"cutlass::", "CUTLASS"},
    Sign{"namespace cute", "CuTe"},
    Sign{"namespace cub", "CUB"},
    Sign{"namespace thrust", "Thrust"},
    Sign{"namespace flash", "FlashAttention"},
    Sign{"namespace flashinfer", "FlashInfer"},
    Sign{"namespace vllm", "vLLM"},
    Sign{"namespace at::native", "PyTorch"},
    Sign{"namespace ggml", "ggml"},
    Sign{"namespace kittens", "ThunderKittens"},
    Sign{"namespace xformers", "xFormers"},
    Sign{"namespace faiss", "Faiss"},
};

std::string_view signIn(std::string_view line, auto& signs)
{
    for (const Sign& sign : signs) {
        if (line.find(sign.text) != std::string_view::npos) {
            return sign.what;
        }
    }
    return {};
}

} // namespace

std::vector<Evidence> reviewSource(std::string_view source)
{
    std::vector<Evidence> review;
    std::vector<std::string_view> told;
    int number = 0;
    for (const std::string_view line : splitLines(source)) {
        ++number;
        for (const bool licence : {true, false}) {
            const std::string_view what = licence ? signIn(line, licences) : signIn(line, libraries);
            if (what.empty() || std::find(told.begin(), told.end(), what) != told.end()) {
                continue;
            }
            told.push_back(what); // the first place is enough
            review.push_back(
                {"review", licence
                               ? fmt::format("line {} holds {}: if it was pasted, look at its terms before you use it",
                                             number, what)
                               : fmt::format("line {} looks as if it came from {}: look at its licence before you "
                                             "use it",
                                             number, what)});
        }
    }
    return review;
}

} // namespace espalier
