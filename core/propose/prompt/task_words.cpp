// SPDX-License-Identifier: Apache-2.0
#include "core/propose/prompt/task_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

std::string_view wordOf(ArgumentKind kind)
{
    switch (kind) {
    case ArgumentKind::Input:
        return "input, must stay as it is";
    case ArgumentKind::Output:
        return "output, every element is to be written";
    case ArgumentKind::InOut:
        return "input and output";
    case ArgumentKind::Scalar:
        return "scalar";
    case ArgumentKind::Const:
        return "constant input, the same in all calls";
    }
    return "";
}

std::string shapeOf(const Argument& argument)
{
    std::vector<std::string> extents;
    for (const Expression& extent : argument.shape) {
        extents.push_back(extent.text());
    }
    return extents.empty() ? "1 element" : fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string argumentLine(const Argument& argument)
{
    if (!argument.isPointer()) {
        return fmt::format("- `{}`: {}\n", argument.name, wordOf(argument.kind));
    }
    std::string line = fmt::format("- `{}`: {} {}, {}", argument.name, nameOf(argument.type), shapeOf(argument),
                                   wordOf(argument.kind));
    if (argument.strides.empty() && !argument.pitch) {
        line += "; row-major, dense";
    } else if (argument.pitch) {
        line += fmt::format("; rows start every {} elements", argument.pitch->text());
    } else {
        std::vector<std::string> strides;
        for (const Expression& stride : argument.strides) {
            strides.push_back(stride.text());
        }
        line += fmt::format("; strides in elements [{}]", fmt::join(strides, ", "));
    }
    const std::string alignment =
        argument.alignmentExpression ? argument.alignmentExpression->text() : std::to_string(argument.alignment);
    return line + fmt::format("; the first element is aligned to {} bytes\n", alignment);
}

std::string casesLine(const Task& task, CaseRole role)
{
    std::vector<std::string> words;
    for (const TaskCase* one : task.casesWith(role)) {
        std::vector<std::string> values;
        for (const auto& [name, value] : one->parameters) {
            values.push_back(fmt::format("{}={}", name, value));
        }
        words.push_back(fmt::format("{} ({})", one->id, fmt::join(values, " ")));
    }
    return fmt::format("{}", fmt::join(words, "; "));
}

std::string prototypeOf(const Task& task)
{
    std::string text = fmt::format("extern \"C\" cudaError_t {}(", task.entry);
    for (const Argument& argument : task.arguments) {
        text += fmt::format("{} {}, ", cTypeOf(argument), argument.name);
    }
    return text + "void* workspace, size_t workspace_bytes, cudaStream_t stream)";
}

std::string workspacePrototypeOf(const Task& task)
{
    std::vector<std::string> scalars;
    for (const Argument& argument : task.arguments) {
        if (argument.kind == ArgumentKind::Scalar) {
            scalars.push_back(fmt::format("{} {}", cTypeOf(argument), argument.name));
        }
    }
    return fmt::format("extern \"C\" size_t {}_workspace({})", task.entry, fmt::join(scalars, ", "));
}

std::string limitsLine(const Contract& contract)
{
    std::string line;
    for (const Limit& limit : contract.limits) {
        line += fmt::format("- limit, held before anything runs: {}\n", limit.text());
    }
    return line;
}

} // namespace

std::string taskWords(const Task& task)
{
    std::string text = fmt::format("## Task: {}\n\n{}\n\nArguments, in order:\n\n", task.title, task.description);
    for (const Argument& argument : task.arguments) {
        text += argumentLine(argument);
    }
    text += fmt::format("\nTimed cases: {}\n", casesLine(task, CaseRole::Time));
    text += fmt::format("Verified cases, among others that the judge draws: {}\n", casesLine(task, CaseRole::Verify));
    if (task.flops && !task.flops->text().empty() && task.flops->text() != "0") {
        text += fmt::format("Floating-point operations of a call: {}\n", task.flops->text());
    }
    return text;
}

std::string contractWords(const Task& task)
{
    const Contract& contract = task.contract;
    std::string text = fmt::format("## Contract of a kernel file\n\n"
                                   "One `.cu` file, compiled untouched by nvcc 13 with `-shared -cudart none "
                                   "--no-compress -lineinfo` for the device's "
                                   "architecture, without fast-math unless the code asks for an intrinsic by name. A "
                                   "header with this prototype is "
                                   "included before it, so the entry must be exactly\n\n```\n{}\n```\n\n",
                                   prototypeOf(task));
    text += fmt::format(
        "- All work is joined to `stream` and can be captured into a graph. No synchronising call, no `cudaMalloc` and "
        "`cudaFree` (`cudaMallocAsync` on the stream is allowed), no other stream that is not joined to it by events.\n"
        "- Scratch memory: `workspace` has `workspace_bytes` bytes, its contents unknown. Their number is what the "
        "optional "
        "`{}` returns; without it there are none.\n"
        "- Inputs stay untouched. No data of an earlier call may be kept; launch set-up (attributes, occupancy, "
        "tensor-map "
        "descriptors) may be.\n"
        "- The return value is the first CUDA error, `cudaSuccess` when there is none.\n"
        "- Imports: the CUDA runtime's launch, attribute, occupancy, memset and memcpy-async calls, "
        "`cudaGetDriverEntryPoint` for `cuTensorMapEncode*`, and libm. Nothing may run when the library is loaded: no "
        "global "
        "constructors, no files, no network, no threads, no environment.\n",
        workspacePrototypeOf(task));
    text += fmt::format(
        "- Precision: results as {} arithmetic gives them (unit roundoff {:.3g}); each element is held to {:g} "
        "roundoffs of the sum of its operands' magnitudes, each output to a bound on its norm.",
        contract.precision, contract.unitRoundoff, contract.elementFactor);
    if (!contract.allowedInternal.empty()) {
        text += fmt::format(" Types allowed inside: {}; matrix units fed with another type are rejected.",
                            fmt::join(contract.allowedInternal, ", "));
    }
    text += "\n";
    if (contract.deterministic) {
        text += "- Deterministic: the same inputs give the same bits in every call.\n";
    }
    return text + limitsLine(contract);
}

} // namespace espalier
