// SPDX-License-Identifier: Apache-2.0
#include "core/judge/queue_need.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace espalier::judge {
namespace {

bool beginsWithOneOf(std::string_view name, auto& beginnings)
{
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view one) { return name.starts_with(one); });
}

/// Work beside the given stream starts with one of these; and what looks functions up, or asks the driver, may call them.
/// (The runner's gate answers cudaGetDriverEntryPoint with nothing that could.)
constexpr std::array<std::string_view, 4> forks = {"cudaStreamCreate", "cudaGraphLaunch", "dlopen", "dlsym"};

/// cuBLAS works on the stream that it was told: a captured call of either is a chain (seen on an H200, CUDA 13.0).
constexpr std::array<std::string_view, 8> plain = {"libc.so.",      "libm.so.",     "libstdc++.so.", "libgcc_s.so.",
                                                   "ld-linux-x86-", "libcudart.so", "libcublas.so",  "libcublasLt.so"};

bool isOfTheDriver(std::string_view name)
{
    return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
}

} // namespace

Queues queuesFor(const ElfFacts& library)
{
    const bool forking = std::any_of(library.imports.begin(), library.imports.end(), [](const ElfFacts::Symbol& symbol) {
        return beginsWithOneOf(symbol.name, forks) || isOfTheDriver(symbol.name);
    });
    const bool foreign = std::any_of(library.needed.begin(), library.needed.end(),
                                     [](const std::string& soname) { return !beginsWithOneOf(soname, plain); });
    return forking || foreign ? Queues::Default : Queues::One;
}

} // namespace espalier::judge
