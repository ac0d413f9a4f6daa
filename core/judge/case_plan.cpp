// SPDX-License-Identifier: Apache-2.0
#include "core/judge/case_plan.h"

#include "core/model/call_recipe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace espalier::judge {

namespace {

ops::DType opsType(DataType type)
{
    switch (type) {
    case DataType::F64:
        return ops::DType::F64;
    case DataType::F32:
        return ops::DType::F32;
    case DataType::TF32:
        return ops::DType::TF32;
    case DataType::F16:
        return ops::DType::F16;
    case DataType::BF16:
        return ops::DType::BF16;
    case DataType::FP8E4M3:
        return ops::DType::FP8E4M3;
    case DataType::FP8E5M2:
        return ops::DType::FP8E5M2;
    case DataType::I8:
        return ops::DType::I8;
    case DataType::I32:
        return ops::DType::I32;
    case DataType::I64:
        return ops::DType::I64;
    case DataType::Bool:
        break;
    }
    return ops::DType::Bool;
}

Result<ops::Distribution> opsDistribution(DistributionKind kind, const std::string& argument)
{
    switch (kind) {
    case DistributionKind::Normal:
        return ops::Distribution::Normal;
    case DistributionKind::Uniform:
        return ops::Distribution::Uniform;
    case DistributionKind::Constant:
        return ops::Distribution::Constant;
    case DistributionKind::HeavyTail:
        return ops::Distribution::HeavyTail;
    case DistributionKind::Integers:
        return ops::Distribution::Integers;
    case DistributionKind::Sparse:
        return ops::Distribution::Sparse;
    case DistributionKind::Ties:
        return ops::Distribution::Ties;
    case DistributionKind::ConstantRows:
        return ops::Distribution::ConstantRows;
    case DistributionKind::Outlier:
        return ops::Distribution::Outlier;
    case DistributionKind::Subnormal:
        return ops::Distribution::Subnormal;
    case DistributionKind::HalfNormal:
        return ops::Distribution::HalfNormal;
    case DistributionKind::Alternating:
        return ops::Distribution::Alternating;
    case DistributionKind::Sorted:
        return ops::Distribution::Sorted;
    case DistributionKind::Mixed:
        return ops::Distribution::Mixed;
    case DistributionKind::Recorded:
        break;
    }
    return fail(ErrorCode::NotSupported,
                fmt::format("not_supported: values.recorded of argument {}: inputs are drawn, not replayed", argument));
}

Result<runner::CallValue> scalarValue(const Argument& argument, const TaskCase& taskCase)
{
    using runner::ValueKind;
    if (!argument.scalarValue) {
        return fail(ErrorCode::InvalidInput, fmt::format("scalar {} has no value", argument.name));
    }
    const Expression& expression = *argument.scalarValue;
    if (argument.type == DataType::F32 || argument.type == DataType::F64) {
        ESPALIER_TRY(const double value, expression.evaluate(taskCase.parameters));
        if (argument.type == DataType::F32) {
            return runner::CallValue{ValueKind::F32, 0, std::bit_cast<std::uint32_t>(static_cast<float>(value))};
        }
        return runner::CallValue{ValueKind::F64, 0, std::bit_cast<std::uint64_t>(value)};
    }
    ESPALIER_TRY(const std::int64_t value, expression.evaluateInteger(taskCase.parameters));
    if (argument.type == DataType::I64) {
        return runner::CallValue{ValueKind::I64, 0, static_cast<std::uint64_t>(value)};
    }
    if (argument.type == DataType::I32) {
        if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
            return fail(ErrorCode::InvalidInput, fmt::format("scalar {} of case {} is {}: it does not fit i32",
                                                             argument.name, taskCase.id, value));
        }
        return runner::CallValue{ValueKind::I32, 0, static_cast<std::uint32_t>(static_cast<std::int32_t>(value))};
    }
    if (argument.type == DataType::I8 || argument.type == DataType::Bool) {
        return runner::CallValue{ValueKind::U8, 0, static_cast<std::uint8_t>(value)};
    }
    return fail(ErrorCode::NotSupported,
                fmt::format("not_supported: dtype {} of scalar {}", nameOf(argument.type), argument.name));
}

Result<ArgumentPlan> planArgument(const Task& task, const Argument& argument, const TaskCase& taskCase)
{
    ArgumentPlan plan;
    plan.name = argument.name;
    plan.kind = argument.kind;
    plan.type = opsType(argument.type);
    if (argument.kind == ArgumentKind::Scalar) {
        ESPALIER_TRY(plan.scalar, scalarValue(argument, taskCase));
        return plan;
    }
    if (argument.kind == ArgumentKind::InOut) {
        return fail(ErrorCode::NotSupported, fmt::format("not_supported: kind inout of argument {}", argument.name));
    }
    for (const Expression& dimension : argument.shape) {
        ESPALIER_TRY(plan.shape.emplace_back(), dimension.evaluateInteger(taskCase.parameters));
    }
    ESPALIER_TRY(const std::int64_t elements, elementCount(task, argument, taskCase));
    plan.elements = static_cast<std::uint64_t>(elements);
    plan.bytes = plan.elements * bytesOf(argument.type);
    plan.alignment = std::min(argument.alignment, CasePlan::largestAlignment);
    const ValueDistribution& values = task.valuesOf(argument, taskCase);
    if (plan.isInput()) {
        plan.fill.dtype = plan.type;
        ESPALIER_TRY(plan.fill.distribution, opsDistribution(values.kind, argument.name));
        plan.fill.a = values.a;
        plan.fill.b = values.b;
        plan.fill.row = drawnRow(values.kind, plan.elements, plan.shape);
    }
    return plan;
}

} // namespace

std::uint64_t CasePlan::bytesPerSet() const
{
    std::uint64_t bytes = 0;
    for (const ArgumentPlan& argument : arguments) {
        bytes += argument.bytes;
    }
    return bytes;
}

Result<CasePlan> planCase(const Task& task, const TaskCase& taskCase)
{
    CasePlan plan;
    plan.id = taskCase.id;
    plan.weight = taskCase.weight;
    plan.parameters = taskCase.parameters;
    plan.unitRoundoff = task.contract.unitRoundoff;
    plan.elementFactor = task.contract.elementFactor;
    plan.bitwise = task.contract.deterministic;
    for (const Argument& argument : task.arguments) {
        ESPALIER_TRY(plan.arguments.emplace_back(), planArgument(task, argument, taskCase));
        double bound = 0;
        if (argument.kind == ArgumentKind::Output) {
            ESPALIER_TRY(bound, normBound(task, argument.name, taskCase));
        }
        plan.normBounds.push_back(bound);
    }
    ESPALIER_TRY(plan.reductionLength, reductionLengthOf(task, taskCase));
    ESPALIER_TRY(const std::int64_t bytes, minimumBytes(task, taskCase));
    plan.minimumBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
    ESPALIER_TRY(plan.flops, flopsOf(task, taskCase));
    return plan;
}

namespace {

/// Bits of a floating type's significand, the hidden one included: whole numbers up to 2 to this are exact.
int significandBits(ops::DType type)
{
    switch (type) {
    case ops::DType::F64:
        return 53;
    case ops::DType::F32:
        return 24;
    case ops::DType::TF32:
    case ops::DType::F16:
        return 11;
    case ops::DType::BF16:
        return 8;
    case ops::DType::FP8E4M3:
        return 4;
    case ops::DType::FP8E5M2:
        return 3;
    default:
        return 0;
    }
}

} // namespace

bool makeExact(const Task& task, double terms, CasePlan& plan)
{
    constexpr int headroom = 4; // bits, for algorithms that add inputs before they multiply
    int sumBits = 53, inputBits = 53;
    for (const std::string& internal : task.contract.allowedInternal) {
        if (const auto type = dataTypeNamed(internal)) {
            inputBits =
                std::min(inputBits, significandBits(opsType(*type))); // splitting an input into parts stays exact
        }
    }
    if (const auto precision = dataTypeNamed(task.contract.precision)) {
        sumBits = significandBits(opsType(*precision));
    }
    for (const ArgumentPlan& argument : plan.arguments) {
        if (argument.isOutput() || argument.isInput()) {
            const int bits = significandBits(argument.type);
            if (bits == 0) {
                return false;
            }
            (argument.isOutput() ? sumBits : inputBits) = std::min(argument.isOutput() ? sumBits : inputBits, bits);
        }
    }
    const double largestSum = std::exp2(sumBits - headroom) / std::max(terms, 1.0);
    const double largest =
        std::min(std::floor(std::pow(largestSum, 1.0 / task.contract.exactDegree)), std::exp2(inputBits));
    if (largest < 2) {
        return false;
    }
    for (ArgumentPlan& argument : plan.arguments) {
        if (argument.isInput()) {
            argument.fill.distribution = ops::Distribution::Integers;
            argument.fill.a = -largest;
            argument.fill.b = largest;
        }
    }
    plan.exact = true;
    plan.elementFactor = 0;
    std::fill(plan.normBounds.begin(), plan.normBounds.end(), 0);
    return true;
}

std::string elementName(const ArgumentPlan& argument, std::uint64_t index)
{
    std::vector<std::uint64_t> places(argument.shape.size());
    std::uint64_t rest = index;
    for (std::size_t d = argument.shape.size(); d-- > 0;) {
        const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(argument.shape[d], 1));
        places[d] = rest % extent;
        rest /= extent;
    }
    std::string name = argument.name;
    for (const std::uint64_t place : places) {
        name += fmt::format("[{}]", place);
    }
    return name;
}

} // namespace espalier::judge
