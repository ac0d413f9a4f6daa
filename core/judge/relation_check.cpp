// SPDX-License-Identifier: Apache-2.0
#include "core/judge/relation_check.h"

#include "core/device/ops/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace espalier::judge {

namespace {

using Kind = Metamorphic::Kind;

std::uint64_t firstExtent(const ArgumentPlan& argument)
{
    return argument.shape.empty() ? 1 : static_cast<std::uint64_t>(argument.shape.front());
}

bool names(const Metamorphic& relation, const std::string& argument)
{
    return std::find(relation.inputs.begin(), relation.inputs.end(), argument) != relation.inputs.end();
}

/// Why `relation` cannot be tried with draws of this plan.
std::optional<std::string> obstacle(const Metamorphic& relation, const CasePlan& plan)
{
    for (const ArgumentPlan& argument : plan.arguments) {
        const bool changed = argument.isInput() && names(relation, argument.name);
        if (changed && relation.kind == Kind::Scale && !scalesExactly(argument.fill.distribution)) {
            return fmt::format("{} is not drawn in a way that can be scaled", argument.name);
        }
        if (changed && relation.kind == Kind::Shift && !shifts(argument.fill.distribution)) {
            return fmt::format("{} is not drawn in a way that can be shifted; use normal, uniform or constant values",
                               argument.name);
        }
    }
    if (relation.kind != Kind::Rotate) {
        return std::nullopt;
    }
    std::optional<std::uint64_t> extent;
    for (const ArgumentPlan& argument : plan.arguments) {
        if (argument.isOutput() || (argument.isInput() && names(relation, argument.name))) {
            if (extent && *extent != firstExtent(argument)) {
                return "the inputs that rotate and the outputs differ in their first extent";
            }
            extent = firstExtent(argument);
        }
    }
    return std::nullopt;
}

} // namespace

Result<std::vector<RelationPlan>> planRelations(const Task& task, const TaskCase& base)
{
    std::vector<RelationPlan> plans;
    TaskCase plain = base;
    plain.values.clear();
    for (std::size_t i = 0; i < task.contract.metamorphic.size(); ++i) {
        RelationPlan& added = plans.emplace_back();
        added.relation = task.contract.metamorphic[i];
        ESPALIER_TRY(added.plan, planCase(task, plain));
        added.plan.id =
            fmt::format("{} ({} {})", base.id, nameOf(added.relation.kind), fmt::join(added.relation.inputs, ", "));
        if (const auto why = obstacle(added.relation, added.plan)) {
            return fail(ErrorCode::NotSupported, fmt::format("not_supported: contract.metamorphic[{}]: {}", i, *why));
        }
    }
    return plans;
}

std::vector<InputChange> changesOf(const RelationPlan& relation, std::mt19937_64& random)
{
    std::vector<InputChange> changes(relation.plan.arguments.size());
    InputChange change;
    switch (relation.relation.kind) {
    case Kind::Scale:
        change.scale = std::exp2(static_cast<int>(random() % 4) + 1) * (random() % 2 == 0 ? 1 : -1);
        break;
    case Kind::Shift:
        change.shift = std::uniform_real_distribution(0.25, 1.0)(random) * (random() % 2 == 0 ? 1 : -1);
        break;
    case Kind::Rotate:
        break;
    }
    const std::uint64_t draw = random();
    for (std::size_t a = 0; a < changes.size(); ++a) {
        const ArgumentPlan& argument = relation.plan.arguments[a];
        const bool rotates = relation.relation.kind == Kind::Rotate;
        if (argument.isInput() && names(relation.relation, argument.name)) {
            changes[a] = change;
        }
        if (rotates && (argument.isOutput() || names(relation.relation, argument.name)) && firstExtent(argument) > 1) {
            const std::uint64_t rows = 1 + draw % (firstExtent(argument) - 1);
            changes[a].rotation = rows * (argument.elements / firstExtent(argument));
        }
    }
    return changes;
}

Result<std::vector<std::vector<std::byte>>> readOutputs(Device& device, const WorkArea& area, std::size_t set)
{
    std::vector<std::vector<std::byte>> outputs(area.plan().arguments.size());
    for (std::size_t a = 0; a < outputs.size(); ++a) {
        const ArgumentPlan& argument = area.plan().arguments[a];
        if (argument.isOutput()) {
            outputs[a].resize(argument.bytes);
            ESPALIER_CHECK(device.read(std::span(outputs[a]), area.set(set).regions[a].address()));
        }
    }
    return outputs;
}

std::optional<std::string> brokenRelation(const RelationPlan& relation, const std::vector<InputChange>& changes,
                                          const std::vector<std::vector<std::byte>>& before,
                                          const std::vector<std::vector<std::byte>>& after)
{
    const CasePlan& plan = relation.plan;
    double factor = 1;
    for (std::size_t a = 0; a < changes.size() && relation.relation.kind == Kind::Scale; ++a) {
        if (plan.arguments[a].isInput() && changes[a].scale != 1) {
            factor = std::pow(changes[a].scale, relation.relation.power);
        }
    }
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
        const ArgumentPlan& argument = plan.arguments[a];
        if (!argument.isOutput()) {
            continue;
        }
        const std::size_t size = ops::sizeOf(argument.type);
        const auto at = [&](const std::vector<std::byte>& bytes, std::uint64_t i) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, bytes.data() + i * size, size);
            return ops::decode(bits, argument.type);
        };
        double largest = 0, squares = 0, squaredError = 0, worst = 0, was = 0, is = 0;
        std::uint64_t place = 0;
        for (std::uint64_t i = 0; i < argument.elements; ++i) {
            const double expected = factor * at(before[a], (i + changes[a].rotation) % argument.elements);
            const double found = at(after[a], i);
            if (!std::isfinite(expected) || !std::isfinite(found)) {
                continue; // classes were compared with the reference's in both calls
            }
            const double error = std::abs(found - expected);
            largest = std::max(largest, std::abs(expected));
            squares += expected * expected;
            squaredError += error * error;
            if (error > worst) {
                worst = error, was = expected, is = found, place = i;
            }
        }
        const bool element = worst > 2 * plan.elementFactor * plan.unitRoundoff * largest;
        const bool norm =
            plan.normBounds[a] > 0 && squaredError > 4 * plan.normBounds[a] * plan.normBounds[a] * squares;
        if (element || norm) {
            return fmt::format(
                "output {} is {:.9g} where the relation \"{}\" to the call before asks for {:.9g} in case {}",
                elementName(argument, place), is, nameOf(relation.relation.kind), was, plan.id);
        }
    }
    return std::nullopt;
}

} // namespace espalier::judge
