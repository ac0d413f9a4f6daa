// SPDX-License-Identifier: Apache-2.0
#include "core/build/entry_header.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

namespace {

using Parts = std::vector<std::string>;

std::string declaration(std::string_view result, std::string_view name, const Parts& parameters)
{
    return fmt::format("extern \"C\" {} {}({})", result, name, fmt::join(parameters, ", "));
}

Parts scalarsOf(const Task& task)
{
    Parts parts;
    for (const Argument& argument : task.arguments) {
        if (argument.kind == ArgumentKind::Scalar) {
            parts.push_back(fmt::format("{} {}", cTypeOf(argument), argument.name));
        }
    }
    return parts;
}

bool isOutput(const Argument& argument)
{
    return argument.kind == ArgumentKind::Output || argument.kind == ArgumentKind::InOut;
}

bool uses(const Task& task, std::initializer_list<DataType> types)
{
    return std::any_of(task.arguments.begin(), task.arguments.end(), [&](const Argument& argument) {
        return std::find(types.begin(), types.end(), argument.type) != types.end();
    });
}

} // namespace

std::string entryPrototype(const Task& task)
{
    Parts parts;
    for (const Argument& argument : task.arguments) {
        parts.push_back(fmt::format("{} {}", cTypeOf(argument), argument.name));
    }
    parts.insert(parts.end(), {"void* workspace", "size_t workspace_bytes", "cudaStream_t stream"});
    return declaration("cudaError_t", task.entry, parts);
}

std::string workspacePrototype(const Task& task)
{
    return declaration("size_t", task.entry + "_workspace", scalarsOf(task));
}

std::string oracleName(const Task& task, std::string_view output)
{
    const auto outputs = std::count_if(task.arguments.begin(), task.arguments.end(), isOutput);
    return outputs > 1 ? fmt::format("{}_oracle_{}", task.entry, output) : task.entry + "_oracle";
}

std::string oraclePrototype(const Task& task, std::string_view output)
{
    Parts parts;
    for (Argument argument : task.arguments) {
        if (argument.kind == ArgumentKind::Output) {
            continue;
        }
        if (argument.isPointer()) {
            argument.kind = ArgumentKind::Input; // an oracle reads what the call finds, inout as well
        }
        parts.push_back(fmt::format("{} {}", cTypeOf(argument), argument.name));
    }
    parts.insert(parts.end(),
                 {"double* ref", "double* scale", "int64_t first", "int64_t count", "cudaStream_t stream"});
    return declaration("cudaError_t", oracleName(task, output), parts);
}

std::string entryDeclarations(const Task& task)
{
    std::string text;
    if (task.variants.size() == 1) {
        for (const auto& [name, value] : task.variants.front().constants) {
            text += fmt::format("constexpr long long {} = {};\n", name, value);
        }
    }
    return text + entryPrototype(task) + ";\n" + workspacePrototype(task) + ";\n";
}

std::string entryHeader(const Task& task)
{
    std::string text = fmt::format("// Generated for the task {}; put before every source.\n#pragma once\n"
                                   "#include <cstddef>\n#include <cstdint>\n#include <cuda_runtime.h>\n",
                                   task.id);
    if (uses(task, {DataType::F16})) {
        text += "#include <cuda_fp16.h>\n";
    }
    if (uses(task, {DataType::BF16})) {
        text += "#include <cuda_bf16.h>\n";
    }
    if (uses(task, {DataType::FP8E4M3, DataType::FP8E5M2})) {
        text += "#include <cuda_fp8.h>\n";
    }
    text += entryDeclarations(task);
    for (const Argument& argument : task.arguments) {
        if (isOutput(argument)) {
            text += oraclePrototype(task, argument.name) + ";\n";
        }
    }
    return text;
}

} // namespace espalier
