// SPDX-License-Identifier: Apache-2.0
#include "core/build/contract_check.h"

#include "core/base/text.h"
#include "core/build/compile_messages.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <initializer_list>
#include <map>

namespace espalier {

namespace {

constexpr std::size_t longestName = 2000;

/// Which internal precisions let a class of instructions in: any of them is enough.
struct ClassRule {
    std::string_view name;  ///< as MachineFunction counts it
    std::string_view shown; ///< in the sentence
    std::vector<std::string_view> allowedBy;
};

const std::vector<ClassRule>& classRules()
{
    static const std::vector<ClassRule> rules = {
        {"tensor_f64", "fp64 products of the matrix units", {"f64"}},
        {"tensor_tf32", "tf32 products of the matrix units", {"tf32"}},
        {"tensor_f16", "fp16 products of the matrix units", {"f16"}},
        {"tensor_bf16", "bf16 products of the matrix units", {"bf16"}},
        {"tensor_fp8", "8-bit products of the matrix units", {"fp8e4m3", "fp8e5m2"}},
        {"tensor_int", "integer products of the matrix units", {"i8"}},
        {"tensor_b1", "1-bit products of the matrix units", {"bool"}},
        {"tensor_tcgen05", "fp16, bf16 or tf32 products of the matrix units", {"f16", "bf16", "tf32"}},
    };
    return rules;
}

int tensorInstructions(const KernelResources& kernel)
{
    int sum = 0;
    for (const auto& [name, count] : kernel.instructions) {
        sum += name.starts_with("tensor_") ? count : 0;
    }
    return sum;
}

/// The classes of MachineFunction that a limit's metric adds up. The fifth generation's product may be of three types,
/// and the code does not say which: it counts for each of them.
std::vector<std::string_view> classesOf(std::string_view what)
{
    static const std::map<std::string_view, std::vector<std::string_view>> classes = {
        {"fp16_instructions", {"half", "tensor_f16", "tensor_tcgen05"}},
        {"bf16_instructions", {"bf16", "tensor_bf16", "tensor_tcgen05"}},
        {"tf32_instructions", {"tensor_tf32", "tensor_tcgen05"}},
        {"fp8_instructions", {"tensor_fp8"}},
        {"fp64_instructions", {"fp64", "tensor_f64"}},
        {"atomic_instructions", {"atomic", "async_reduction"}},
        {"async_copy_instructions", {"async_copy", "async_reduction"}},
    };
    const auto found = classes.find(what);
    return found == classes.end() ? std::vector<std::string_view>{} : found->second;
}

/// What one kernel has of a limit's metric; nullopt: the limit is not about kernels.
std::optional<double> valueOf(const KernelResources& kernel, std::string_view what)
{
    if (what == "registers") {
        return kernel.registers;
    }
    if (what == "spill_bytes") {
        return kernel.spillStoreBytes + kernel.spillLoadBytes;
    }
    if (what == "local_bytes") {
        return kernel.stackBytes;
    }
    if (what == "shared_bytes") {
        return kernel.sharedBytes;
    }
    if (what == "tensor_instructions") {
        return tensorInstructions(kernel);
    }
    const std::vector<std::string_view> classes = classesOf(what);
    if (classes.empty()) {
        return std::nullopt;
    }
    int sum = 0;
    for (const std::string_view name : classes) {
        const auto found = kernel.instructions.find(std::string(name));
        sum += found == kernel.instructions.end() ? 0 : found->second;
    }
    return sum;
}

std::optional<Evidence> brokenBy(const Limit& limit, std::string_view who, double value)
{
    if (limit.holds(value)) {
        return std::nullopt;
    }
    return Evidence{"limits", fmt::format("{} has {} {:g}; {}", who, limit.what, value, limit.sentence())};
}

/// A limit holds for each kernel. The worst one is named: the largest, or the smallest where the limit asks for more.
std::optional<Evidence> brokenByKernels(const Limit& limit, const std::vector<KernelResources>& kernels)
{
    const KernelResources* worst = nullptr;
    double extreme = 0;
    for (const KernelResources& kernel : kernels) {
        const auto value = valueOf(kernel, limit.what);
        const bool smaller = limit.relation.starts_with('>');
        if (value && !limit.holds(*value) && (!worst || (smaller ? *value < extreme : *value > extreme))) {
            worst = &kernel;
            extreme = *value;
        }
    }
    return worst ? brokenBy(limit, "the kernel " + worst->kernel, extreme) : std::nullopt;
}

std::optional<Evidence> brokenPrecision(const Contract& contract, const std::vector<KernelResources>& kernels)
{
    for (const ClassRule& rule : classRules()) {
        const bool allowed = std::any_of(rule.allowedBy.begin(), rule.allowedBy.end(), [&](std::string_view type) {
            return std::find(contract.allowedInternal.begin(), contract.allowedInternal.end(), type) !=
                   contract.allowedInternal.end();
        });
        for (const KernelResources& kernel : kernels) {
            const auto found = kernel.instructions.find(std::string(rule.name));
            if (!allowed && found != kernel.instructions.end() && found->second > 0) {
                return Evidence{"precision",
                                fmt::format("the machine code of {} has {} {}; the contract allows {} inside only",
                                            kernel.kernel, found->second, rule.shown,
                                            fmt::join(contract.allowedInternal, ", "))};
            }
        }
    }
    return std::nullopt;
}

} // namespace

void mergeMachineCode(const std::vector<MachineFunction>& functions, BuildRecord& build)
{
    std::vector<KernelResources> merged;
    for (const MachineFunction& function : functions) {
        KernelResources kernel;
        kernel.kernel = printable(demangled(function.name), longestName);
        kernel.registers = function.registers;
        kernel.sharedBytes = function.sharedBytes;
        kernel.stackBytes = function.localBytes;
        kernel.instructions = function.instructions;
        const auto said = std::find_if(build.kernels.begin(), build.kernels.end(), [&](const KernelResources& one) {
            return printable(one.kernel, longestName) == kernel.kernel;
        });
        if (said != build.kernels.end()) { // no more is spilled at once than the frame holds, but loads come again
            kernel.spillStoreBytes = kernel.stackBytes > 0 ? said->spillStoreBytes : 0;
            kernel.spillLoadBytes = kernel.stackBytes > 0 ? said->spillLoadBytes : 0;
        }
        merged.push_back(std::move(kernel));
    }
    build.kernels = std::move(merged);
}

std::optional<Evidence> brokenLimit(const std::vector<Limit>& limits, const BuildRecord& build,
                                    std::size_t libraryBytes)
{
    for (const Limit& limit : limits) {
        auto broken = limit.what == "library_bytes" ? brokenBy(limit, "the library", static_cast<double>(libraryBytes))
                                                    : brokenByKernels(limit, build.kernels);
        if (broken) {
            return broken;
        }
    }
    return std::nullopt;
}

std::optional<Evidence> brokenContract(const Task& task, const BuildRecord& build, std::size_t libraryBytes)
{
    auto broken = brokenLimit(task.contract.limits, build, libraryBytes);
    return broken ? broken : brokenPrecision(task.contract, build.kernels);
}

} // namespace espalier
