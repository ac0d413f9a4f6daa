// SPDX-License-Identifier: Apache-2.0
#include "core/judge/queue_need.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace espalier::judge {
namespace {

bool beginsWithOneOf(std::string_view name, auto& beginnings)
{
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view one) { return name.starts_with(one); });
}

/// Work beside the given stream starts with one of these: a stream to put it on, an event to join it
/// (cudaStreamPerThread needs no making), a graph, a library that makes its own; and what looks functions up, or asks
/// the driver, may call them. (To an untrusted runner cudaGetDriverEntryPoint answers with nothing that could; a
/// trusted one has no reason to ask.)
constexpr std::array<std::string_view, 10> forks = {"cudaStreamCreate", "cudaStreamWaitEvent",
                                                    "cudaGraphLaunch",  "cublasXt",
                                                    "cuStream",         "cuGraph",
                                                    "cuLaunch",         "cuCtx",
                                                    "dlopen",           "dlsym"};

/// cuBLAS works on the stream that it was told: a captured call of either is a chain (seen on an H200, CUDA 13.0).
constexpr std::array<std::string_view, 8> plain = {"libc.so.",      "libm.so.",     "libstdc++.so.", "libgcc_s.so.",
                                                   "ld-linux-x86-", "libcudart.so", "libcublas.so",  "libcublasLt.so"};

} // namespace

Queues queuesFor(const ElfFacts& library)
{
    const bool forking =
        std::any_of(library.imports.begin(), library.imports.end(),
                    [](const ElfFacts::Symbol& symbol) { return beginsWithOneOf(symbol.name, forks); });
    const bool foreign = std::any_of(library.needed.begin(), library.needed.end(),
                                     [](const std::string& soname) { return !beginsWithOneOf(soname, plain); });
    return forking || foreign ? Queues::Default : Queues::One;
}

} // namespace espalier::judge
