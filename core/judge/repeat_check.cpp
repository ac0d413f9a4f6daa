// SPDX-License-Identifier: Apache-2.0
#include "core/judge/repeat_check.h"

#include "core/device/ops/numbers.h"
#include "core/judge/unseen_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace espalier::judge {

namespace {

std::uint64_t outputBytes(const CasePlan& plan)
{
    std::uint64_t bytes = 0;
    for (const ArgumentPlan& argument : plan.arguments) {
        bytes += argument.isOutput() ? argument.bytes : 0;
    }
    return bytes;
}

} // namespace

bool RepeatCheck::serves(const CasePlan& plan)
{
    constexpr std::uint64_t fewest = 64; ///< bytes: a handful of elements says little about the order of a sum
    return outputBytes(plan) >= fewest && outputBytes(plan) <= mostBytes;
}

std::size_t RepeatCheck::choose(const std::vector<CasePlan>& plans, bool simulated)
{
    std::size_t chosen = plans.size();
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (!serves(plans[i])) {
            continue;
        }
        const bool better = chosen == plans.size() || (simulated ? costOf(plans[i]) < costOf(plans[chosen])
                                                                 : outputBytes(plans[i]) > outputBytes(plans[chosen]));
        chosen = better ? i : chosen;
    }
    return chosen;
}

Result<void> RepeatCheck::add(Device& device, const WorkArea& area, std::size_t set)
{
    const CasePlan& plan = area.plan();
    const bool first = m_record.calls == 0;
    if (first) {
        m_record.caseId = plan.id;
        m_first.resize(plan.arguments.size());
        m_differs.resize(plan.arguments.size());
    }
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
        const ArgumentPlan& argument = plan.arguments[a];
        if (!argument.isOutput()) {
            continue;
        }
        std::vector<std::byte> bytes(argument.bytes);
        ESPALIER_CHECK(device.read(std::span(bytes), area.set(set).regions[a].address()));
        if (first) {
            m_record.elements += argument.elements;
            m_differs[a].resize(argument.elements);
            m_first[a] = std::move(bytes);
        } else if (bytes != m_first[a]) {
            compare(argument, a, bytes, plan.unitRoundoff);
        }
    }
    ++m_record.calls;
    return {};
}

void RepeatCheck::compare(const ArgumentPlan& argument, std::size_t index, const std::vector<std::byte>& bytes,
                          double u)
{
    const std::size_t size = ops::sizeOf(argument.type);
    for (std::uint64_t i = 0; i < argument.elements; ++i) {
        std::uint64_t now = 0, before = 0;
        std::memcpy(&now, bytes.data() + i * size, size);
        std::memcpy(&before, m_first[index].data() + i * size, size);
        if (now == before) {
            continue;
        }
        if (!m_differs[index][i]) {
            m_differs[index][i] = true;
            ++m_record.differing;
        }
        if (m_firstDifferent.empty()) {
            m_firstDifferent = elementName(argument, i);
        }
        const double one = ops::decode(now, argument.type), other = ops::decode(before, argument.type);
        const double largest = std::max(std::abs(one), std::abs(other));
        const double spread = largest > 0 ? std::abs(one - other) / (u * largest) : 0;
        if (std::isfinite(spread)) {
            m_record.spread = std::max(m_record.spread, spread);
        }
    }
}

} // namespace espalier::judge
