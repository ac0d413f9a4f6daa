// SPDX-License-Identifier: Apache-2.0
#include "core/search/kernel_traits.h"

#include "core/propose/source_text.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace espalier {
namespace {

bool namesAny(std::string_view text, std::initializer_list<std::string_view> words)
{
    return std::any_of(words.begin(), words.end(),
                       [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

int sizeClass(std::size_t bytes)
{
    return bytes <= 2000 ? 0 : bytes <= 5000 ? 1 : bytes <= 12000 ? 2 : 3;
}

} // namespace

KernelTraits traitsOfSource(std::string_view source)
{
    const std::string text = normalisedSource(source);
    KernelTraits traits;
    traits.size = sizeClass(text.size());
    traits.tensorCores = namesAny(text, {"wgmma.", "mma.sync", "wmma::", "tcgen05.mma"});
    if (namesAny(text, {"cp.async.bulk", "cuTensorMapEncode", "cp_async_bulk"})) {
        traits.memory = MemoryStrategy::Bulk;
    } else if (namesAny(text, {"cp.async", "__pipeline_memcpy_async", "memcpy_async"})) {
        traits.memory = MemoryStrategy::Async;
    } else if (namesAny(text, {"__shared__"})) {
        traits.memory = MemoryStrategy::Shared;
    } else if (namesAny(text, {"float4", "int4", "double2", ".v4.", ".v2."})) {
        traits.memory = MemoryStrategy::Vector;
    }
    return traits;
}

BuildTraits traitsOfBuild(const BuildRecord& build)
{
    BuildTraits traits;
    int registers = 0;
    for (const KernelResources& kernel : build.kernels) {
        registers = std::max(registers, kernel.registers);
        for (const auto& [name, count] : kernel.instructions) {
            traits.tensorCores = traits.tensorCores || (name.starts_with("tensor_") && count > 0);
        }
    }
    traits.occupancy = registers <= 32 ? 0 : registers <= 64 ? 1 : registers <= 128 ? 2 : 3;
    return traits;
}

} // namespace espalier
