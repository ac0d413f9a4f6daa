// SPDX-License-Identifier: Apache-2.0
#include "core/model/task.h"

#include "core/model/enum_names.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace espalier {

namespace {

struct TypeRow {
    DataType type;
    std::string_view name;
    std::string_view cName;
    std::uint32_t bytes;
};

constexpr std::array<TypeRow, 11> types = {{
    {DataType::F64, "f64", "double", 8},
    {DataType::F32, "f32", "float", 4},
    {DataType::TF32, "tf32", "float", 4},
    {DataType::F16, "f16", "__half", 2},
    {DataType::BF16, "bf16", "__nv_bfloat16", 2},
    {DataType::FP8E4M3, "fp8e4m3", "__nv_fp8_e4m3", 1},
    {DataType::FP8E5M2, "fp8e5m2", "__nv_fp8_e5m2", 1},
    {DataType::I8, "i8", "int8_t", 1},
    {DataType::I32, "i32", "int32_t", 4},
    {DataType::I64, "i64", "int64_t", 8},
    {DataType::Bool, "bool", "bool", 1},
}};

const TypeRow& rowOf(DataType type)
{
    return types[static_cast<std::size_t>(type)];
}

/// Puts task, argument and case before an expression's own complaint.
Error placed(const Error& error, const Task& task, std::string_view what, const TaskCase& taskCase)
{
    return {error.code, fmt::format("task {}, {}, case {}: {}", task.id, what, taskCase.id, error.message)};
}

} // namespace

std::uint32_t bytesOf(DataType type)
{
    return rowOf(type).bytes;
}

std::string_view nameOf(DataType type)
{
    return rowOf(type).name;
}

std::string_view nameOf(DistributionKind kind)
{
    constexpr std::array<std::string_view, 15> names = {
        "normal",  "uniform",   "constant",    "heavy_tail",  "integers", "sparse", "ties",    "constant_rows",
        "outlier", "subnormal", "half_normal", "alternating", "sorted",   "mixed",  "recorded"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view nameOf(Metamorphic::Kind kind)
{
    return kind == Metamorphic::Kind::Scale ? "scale" : kind == Metamorphic::Kind::Shift ? "shift" : "rotate";
}

std::optional<DataType> dataTypeNamed(std::string_view name)
{
    const auto found = std::find_if(types.begin(), types.end(), [&](const TypeRow& row) { return row.name == name; });
    return found == types.end() ? std::nullopt : std::optional(found->type);
}

bool TaskCase::has(CaseRole role) const
{
    return std::find(roles.begin(), roles.end(), role) != roles.end();
}

bool Baseline::serves(std::string_view caseId) const
{
    return cases.empty() || std::find(cases.begin(), cases.end(), caseId) != cases.end();
}

std::vector<const TaskCase*> Task::casesWith(CaseRole role) const
{
    std::vector<const TaskCase*> found;
    for (const TaskCase& one : cases) {
        if (one.has(role)) {
            found.push_back(&one);
        }
    }
    return found;
}

const TaskCase* Task::findCase(std::string_view caseId) const
{
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const TaskCase& one) { return one.id == caseId; });
    return found == cases.end() ? nullptr : &*found;
}

const Argument* Task::findArgument(std::string_view name) const
{
    const auto found =
        std::find_if(arguments.begin(), arguments.end(), [&](const Argument& one) { return one.name == name; });
    return found == arguments.end() ? nullptr : &*found;
}

const ValueDistribution& Task::valuesOf(const Argument& argument, const TaskCase& taskCase) const
{
    const auto own = taskCase.values.find(argument.name);
    return own == taskCase.values.end() ? argument.values : own->second;
}

Tolerance Task::toleranceOf(std::string_view output) const
{
    for (const Tolerance& tolerance : contract.tolerances) {
        if (tolerance.output == output) {
            return tolerance;
        }
    }
    Tolerance standard;
    standard.output = output;
    return standard;
}

Result<std::int64_t> elementCount(const Task& task, const Argument& argument, const TaskCase& taskCase)
{
    std::int64_t count = 1;
    const std::string what = fmt::format("argument {}", argument.name);
    for (const Expression& extent : argument.shape) {
        const auto value = extent.evaluateInteger(taskCase.parameters);
        if (!value) {
            return std::unexpected(placed(value.error(), task, what, taskCase));
        }
        if (*value < 0) {
            return std::unexpected(
                placed({ErrorCode::InvalidInput,
                        fmt::format("the extent \"{}\" is {}; expected 0 or more", extent.text(), *value)},
                       task, what, taskCase));
        }
        if (__builtin_mul_overflow(count, *value, &count)) {
            return std::unexpected(placed({ErrorCode::InvalidInput, "the shape has more elements than fit 63 bits"},
                                          task, what, taskCase));
        }
    }
    return count;
}

Result<std::int64_t> minimumBytes(const Task& task, const TaskCase& taskCase)
{
    std::int64_t total = 0;
    for (const Argument& argument : task.arguments) {
        if (!argument.isPointer()) {
            continue;
        }
        ESPALIER_TRY(const std::int64_t count, elementCount(task, argument, taskCase));
        const std::int64_t factor = bytesOf(argument.type) * (argument.kind == ArgumentKind::InOut ? 2 : 1);
        std::int64_t bytes = 0;
        if (__builtin_mul_overflow(count, factor, &bytes) || __builtin_add_overflow(total, bytes, &total)) {
            return fail(
                ErrorCode::InvalidInput,
                fmt::format("task {}, case {}: the arguments have more bytes than fit 63 bits", task.id, taskCase.id));
        }
    }
    return total;
}

Result<double> reductionLengthOf(const Task& task, const TaskCase& taskCase)
{
    if (!task.contract.reductionLength) {
        return 0.0;
    }
    const auto length = task.contract.reductionLength->evaluate(taskCase.parameters);
    if (!length) {
        return std::unexpected(placed(length.error(), task, "reduction_length", taskCase));
    }
    return std::max(0.0, static_cast<double>(*length));
}

Result<double> normBound(const Task& task, std::string_view output, const TaskCase& taskCase)
{
    const Tolerance tolerance = task.toleranceOf(output);
    double factor = tolerance.normFactor;
    if (task.contract.reductionLength) {
        ESPALIER_TRY(const double length, reductionLengthOf(task, taskCase));
        factor = std::max(factor, tolerance.normSqrtFactor * std::sqrt(length));
    }
    return task.contract.unitRoundoff * factor;
}

Result<double> flopsOf(const Task& task, const TaskCase& taskCase)
{
    if (!task.flops) {
        return 0.0;
    }
    const auto flops = task.flops->evaluate(taskCase.parameters);
    if (!flops) {
        return std::unexpected(placed(flops.error(), task, "flops", taskCase));
    }
    return *flops;
}

std::string cTypeOf(const Argument& argument)
{
    const std::string_view name = rowOf(argument.type).cName;
    switch (argument.kind) {
    case ArgumentKind::Input:
    case ArgumentKind::Const:
        return fmt::format("const {}*", name);
    case ArgumentKind::Output:
    case ArgumentKind::InOut:
        return fmt::format("{}*", name);
    case ArgumentKind::Scalar:
        break;
    }
    return std::string(name);
}

} // namespace espalier
