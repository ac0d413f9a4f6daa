// SPDX-License-Identifier: Apache-2.0
#include "core/export/repro_program.h"

#include <fmt/format.h>

namespace espalier {
namespace {

/// What stands before the candidate: nothing that it could notice.
constexpr const char* head = R"(#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
)";

/// Host code; %-free, so that it stands here as it is.
constexpr const char* tools = R"(
// --- what follows calls the kernel above ---------------------------------------------------------------------------

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace repro {

inline void check(cudaError_t error, const char* what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

// SplitMix64: element i of a stream is a function of seed and i.
inline double uniform(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

// Box and Muller.
inline double normal(uint64_t seed, uint64_t i)
{
    return std::sqrt(-2.0 * std::log(1.0 - uniform(seed, 2 * i))) * std::cos(6.283185307179586 * uniform(seed, 2 * i + 1));
}

template <typename T>
struct Buffer {
    std::vector<T> host;
    T* device = nullptr;
    explicit Buffer(size_t count) : host(count) { check(cudaMalloc(&device, (count ? count : 1) * sizeof(T)), "cudaMalloc"); }
    void toDevice() { check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy to the device"); }
    void toHost() { check(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost), "copy to the host"); }
};

template <typename T>
void describe(const char* name, const std::vector<T>& values)
{
    double sum = 0, largest = 0;
    size_t strange = 0;
    for (const T value : values) {
        const double number = static_cast<double>(value);
        strange += std::isfinite(number) ? 0 : 1;
        sum += std::isfinite(number) ? number : 0;
        largest = std::fmax(largest, std::fabs(number));
    }
    std::printf("%s: %zu elements, sum %.9g, largest magnitude %.9g, %zu not finite\n", name, values.size(), sum, largest, strange);
}

} // namespace repro
)";

Result<std::string> drawOfElement(const Task& task, const Argument& argument, const TaskCase& taskCase)
{
    const ValueDistribution& values = task.valuesOf(argument, taskCase);
    switch (values.kind) {
    case DistributionKind::Normal:
        return fmt::format("{:.17g} + {:.17g} * repro::normal(seed, i)", values.a, values.b);
    case DistributionKind::Uniform:
        return fmt::format("{:.17g} + {:.17g} * repro::uniform(seed, i)", values.a, values.b - values.a);
    case DistributionKind::Constant:
        return fmt::format("{:.17g}", values.a);
    case DistributionKind::Integers:
        return fmt::format("std::floor({:.17g} + {:.17g} * repro::uniform(seed, i))", values.a,
                           values.b - values.a + 1);
    case DistributionKind::HeavyTail:
        return fmt::format(
            "{:.17g} * repro::normal(seed, i) * std::exp2(std::floor({:.17g} * repro::uniform(~seed, i)) - {:.17g})",
            values.a, 2 * values.b + 1, values.b);
    default:
        return fail(
            ErrorCode::NotSupported,
            fmt::format(
                "The repro program cannot draw {} as {}: name a case with normal, uniform, constant, integer or "
                "heavy-tailed values.",
                argument.name, nameOf(values.kind)));
    }
}

const char* hostType(DataType type)
{
    switch (type) {
    case DataType::F64:
        return "double";
    case DataType::F32:
    case DataType::TF32:
        return "float";
    case DataType::I32:
        return "int32_t";
    case DataType::I64:
        return "int64_t";
    case DataType::I8:
        return "int8_t";
    default:
        return nullptr;
    }
}

/// Declaration, contents and use of one argument.
struct Part {
    std::string prepare, call, after;
};

Result<Part> bufferPart(const Task& task, const Argument& argument, const TaskCase& taskCase, std::uint64_t seed)
{
    const char* type = hostType(argument.type);
    if (!type || !argument.strides.empty() || argument.pitch || argument.offset || argument.index) {
        return fail(ErrorCode::NotSupported,
                    fmt::format("The repro program cannot make argument {} of task {}: only dense buffers of "
                                "32- and 64-bit numbers, without indices.",
                                argument.name, task.id));
    }
    ESPALIER_TRY(const std::int64_t count, elementCount(task, argument, taskCase));
    Part part;
    part.prepare = fmt::format("    repro::Buffer<{}> {}({});\n", type, argument.name, count);
    if (argument.kind == ArgumentKind::Output) {
        part.prepare += fmt::format(
            "    std::memset({0}.host.data(), 0xff, {0}.host.size() * sizeof({1})); // poison\n", argument.name, type);
    } else {
        ESPALIER_TRY(const std::string draw, drawOfElement(task, argument, taskCase));
        part.prepare += fmt::format(
            "    {{\n        const uint64_t seed = {}ull;\n        for (size_t i = 0; i < {}.host.size(); ++i) {{\n"
            "            {}.host[i] = static_cast<{}>({});\n        }}\n        (void)seed;\n    }}\n",
            seed, argument.name, argument.name, type, draw);
    }
    part.prepare += fmt::format("    {}.toDevice();\n", argument.name);
    part.call = argument.name + ".device";
    if (argument.kind == ArgumentKind::Output || argument.kind == ArgumentKind::InOut) {
        part.after = fmt::format("    {0}.toHost();\n    repro::describe(\"{0}\", {0}.host);\n", argument.name);
    }
    return part;
}

Result<Part> scalarPart(const Argument& argument, const TaskCase& taskCase)
{
    Part part;
    const Expression value = argument.scalarValue.value_or(Expression());
    if (argument.type == DataType::I64 || argument.type == DataType::I32 || argument.type == DataType::I8 ||
        argument.type == DataType::Bool) {
        ESPALIER_TRY(const std::int64_t number, value.evaluateInteger(taskCase.parameters));
        part.call = fmt::format("static_cast<{}>({})", cTypeOf(argument), number);
    } else {
        ESPALIER_TRY(const double number, value.evaluate(taskCase.parameters));
        part.call = fmt::format("static_cast<{}>({:.17g})", cTypeOf(argument), number);
    }
    return part;
}

} // namespace

Result<std::string> reproProgram(const ReproRequest& request)
{
    const Task& task = request.task;
    if (request.node.source.empty()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} has no source: name a root or a candidate.", request.node.summary.id.value));
    }
    const auto verified = task.casesWith(CaseRole::Verify);
    const TaskCase* taskCase =
        request.caseId.empty() ? (verified.empty() ? nullptr : verified.front()) : task.findCase(request.caseId);
    if (!taskCase) {
        return fail(ErrorCode::NotFound, fmt::format("Task {} has no case \"{}\".", task.id, request.caseId));
    }
    std::string prepare, after, call, scalars;
    std::uint64_t seed = request.seed;
    for (const Argument& argument : task.arguments) {
        ESPALIER_TRY(const Part part, argument.isPointer() ? bufferPart(task, argument, *taskCase, seed++)
                                                           : scalarPart(argument, *taskCase));
        prepare += part.prepare;
        after += part.after;
        call += part.call + ", ";
        if (!argument.isPointer()) {
            scalars += (scalars.empty() ? "" : ", ") + part.call;
        }
    }
    const bool asksForWorkspace = request.node.source.find(task.entry + "_workspace") != std::string::npos;
    std::string program =
        fmt::format("// Node {} (\"{}\") of a search on {}, called once as case {} asks for it.\n"
                    "//   nvcc -O3 -lineinfo -arch=native repro.cu -o repro && ./repro\n"
                    "//   ncu --set full ./repro · compute-sanitizer ./repro · cuda-gdb ./repro (add -G)\n",
                    request.node.summary.id.value, request.node.summary.title, task.id, taskCase->id);
    program += head;
    std::string prototype = request.prototype;
    if (const auto once = prototype.find("#pragma once\n"); once != std::string::npos) {
        prototype.erase(once, 13); // no header any more
    }
    program += prototype;
    program += fmt::format("\n#line 1 \"candidate.cu\"\n{}\n#line 1 \"repro_main.cu\"", request.node.source);
    program += tools;
    program += fmt::format(
        "\nint main()\n{{\n{}    size_t workspaceBytes = {};\n    void* workspace = nullptr;\n"
        "    if (workspaceBytes > 0) {{\n        repro::check(cudaMalloc(&workspace, workspaceBytes), "
        "\"workspace\");\n    }}\n"
        "    cudaStream_t stream;\n    repro::check(cudaStreamCreate(&stream), \"cudaStreamCreate\");\n"
        "    cudaEvent_t begin, end;\n    repro::check(cudaEventCreate(&begin), \"event\");\n"
        "    repro::check(cudaEventCreate(&end), \"event\");\n"
        "    for (int call = 0; call < 3; ++call) {{\n        float milliseconds = 0;\n"
        "        repro::check(cudaEventRecord(begin, stream), \"event\");\n"
        "        repro::check({}({}workspace, workspaceBytes, stream), \"the kernel's entry\");\n"
        "        repro::check(cudaEventRecord(end, stream), \"event\");\n"
        "        repro::check(cudaStreamSynchronize(stream), \"the kernel\");\n"
        "        repro::check(cudaEventElapsedTime(&milliseconds, begin, end), \"event\");\n"
        "        std::printf(\"call %d: %.3f us\\n\", call, milliseconds * 1000);\n    }}\n{}    return 0;\n}}\n",
        prepare, asksForWorkspace ? fmt::format("{}_workspace({})", task.entry, scalars) : "0", task.entry, call,
        after);
    return program;
}

} // namespace espalier
