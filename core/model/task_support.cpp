// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_loader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace espalier {

namespace {

using Field = std::optional<std::string>; ///< the field that is not served, as task.json writes it

/// The first argument for which `wanting` holds, as "arguments[2].field".
template <typename Wanting>
Field argumentField(const Task& task, std::string_view field, Wanting wanting)
{
    for (std::size_t i = 0; i < task.arguments.size(); ++i) {
        if (wanting(task.arguments[i])) {
            return fmt::format("arguments[{}].{}", i, field);
        }
    }
    return {};
}

Field whenThere(bool there, std::string_view field)
{
    return there ? Field(std::string(field)) : Field();
}

bool servedType(const Argument& argument)
{
    switch (argument.type) {
    case DataType::F64:
    case DataType::F32:
    case DataType::F16:
    case DataType::BF16:
    case DataType::I32:
        return true;
    case DataType::I64:
        return argument.kind == ArgumentKind::Scalar;
    default:
        return false;
    }
}

bool servedScalar(const Argument& argument)
{
    return argument.kind != ArgumentKind::Scalar || (argument.type != DataType::F16 && argument.type != DataType::BF16);
}

Field recordedValues(const Task& task)
{
    const auto recorded = [](const ValueDistribution& values) { return values.kind == DistributionKind::Recorded; };
    if (Field field = argumentField(task, "values.recorded", [&](const Argument& a) { return recorded(a.values); })) {
        return field;
    }
    for (std::size_t i = 0; i < task.cases.size(); ++i) {
        for (const auto& [argument, values] : task.cases[i].values) {
            if (recorded(values)) {
                return fmt::format("cases[{}].values.{}.recorded", i, argument);
            }
        }
    }
    return {};
}

Field otherComparator(const Task& task)
{
    for (const Comparator& comparator : task.contract.comparators) {
        if (comparator.kind != ComparatorKind::Value) {
            return fmt::format("arguments.{}.compare.as: {}", comparator.output,
                               comparator.kind == ComparatorKind::Code ? "code" : "index");
        }
    }
    return {};
}

Field realParameter(const Task& task)
{
    for (std::size_t i = 0; i < task.cases.size(); ++i) {
        if (!task.cases[i].realParameters.empty()) {
            return fmt::format("cases[{}].parameters.{}", i, task.cases[i].realParameters.begin()->first);
        }
    }
    return {};
}

/// The judge has one element factor and one multiplier of the norm bound for the whole contract.
Field unevenTolerance(const Task& task)
{
    for (const Tolerance& tolerance : task.contract.tolerances) {
        const double multiplier = tolerance.normFactor / 8;
        const bool even = std::abs(tolerance.normSqrtFactor / 0.45 - multiplier) <= 1e-9 * multiplier;
        if (tolerance.elementFactor != task.contract.elementFactor || multiplier != task.contract.normFactor || !even) {
            return fmt::format("tolerance.{}", tolerance.output);
        }
    }
    return {};
}

struct Gap {
    std::string_view why; ///< what the judge does instead, or the way around it
    Field (*find)(const Task&);
};

/// What schema 1 can state and this version's judges do not serve. The only list of it.
const std::array gaps = {
    Gap{"only CUDA oracles are run; write the reference as oracle.cu",
        [](const Task& t) { return whenThere(t.oracle.kind == OracleKind::Python, "oracle.kind: python"); }},
    Gap{"tasks with variants are not searched yet; make one task for each",
        [](const Task& t) { return whenThere(!t.variants.empty(), "variants"); }},
    Gap{"buffers are f64, f32, f16, bf16 or i32, scalars also i64",
        [](const Task& t) { return argumentField(t, "dtype", [](const Argument& a) { return !servedType(a); }); }},
    Gap{"scalars are f64, f32, i32 or i64",
        [](const Task& t) { return argumentField(t, "dtype", [](const Argument& a) { return !servedScalar(a); }); }},
    Gap{"an argument that is read and written is not restored between calls yet",
        [](const Task& t) {
            return argumentField(t, "kind", [](const Argument& a) { return a.kind == ArgumentKind::InOut; });
        }},
    Gap{"buffers are dense and row-major",
        [](const Task& t) {
            return argumentField(t, "strides", [](const Argument& a) { return !a.strides.empty(); });
        }},
    Gap{"buffers are dense and row-major",
        [](const Task& t) { return argumentField(t, "pitch", [](const Argument& a) { return a.pitch.has_value(); }); }},
    Gap{"buffers start at their first element",
        [](const Task& t) {
            return argumentField(t, "offset", [](const Argument& a) { return a.offset.has_value(); });
        }},
    Gap{"buffers are aligned to 256 bytes",
        [](const Task& t) {
            return argumentField(t, "alignment",
                                 [](const Argument& a) { return a.alignmentExpression || a.alignment > 256; });
        }},
    Gap{"index arguments are not generated yet",
        [](const Task& t) { return argumentField(t, "index", [](const Argument& a) { return a.index.has_value(); }); }},
    Gap{"inputs are drawn, not replayed", recordedValues},
    Gap{"outputs are compared by value", otherComparator},
    Gap{"parameters are whole numbers; write the constant into the expression", realParameter},
    Gap{"all outputs share one widening, the same for norm_factor / 8 and norm_sqrt_factor / 0.45", unevenTolerance},
    Gap{"extra device memory is not reserved yet",
        [](const Task& t) { return whenThere(t.needs.deviceBytes.has_value(), "requires.device_bytes"); }},
};

} // namespace

Result<void> checkSupported(const Task& task)
{
    for (const Gap& gap : gaps) {
        if (const Field field = gap.find(task)) {
            return fail(ErrorCode::NotSupported, fmt::format("not_supported: {}: {}", *field, gap.why));
        }
    }
    return {};
}

} // namespace espalier
