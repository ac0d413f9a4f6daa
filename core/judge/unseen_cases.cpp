// SPDX-License-Identifier: Apache-2.0
#include "core/judge/unseen_cases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::judge {

namespace {

constexpr double leastBudget = 40000;             ///< of a task whose own cases are tiny
constexpr int attempts = 8;                       ///< at a case that the task's expressions allow
constexpr std::int64_t longestConstantRow = 1024; ///< equal terms round in one direction: an honest sum drifts by K/4 u

enum class SizeRule { Near, One, Prime, Free };
enum class Contents { Own, Amplified, Mixed, AnyProperty, Exact };

/// One case to be drawn: what its sizes and contents are like, and its share of the budget.
struct Recipe {
    SizeRule sizes;
    Contents contents;
    double share;
};

std::vector<Recipe> recipes(const Task& task, Tier tier)
{
    std::vector<Recipe> list = {
        {SizeRule::Near, Contents::Amplified, 0.4},   {SizeRule::Near, Contents::Own, 0.15},
        {SizeRule::One, Contents::AnyProperty, 0.1},  {SizeRule::Prime, Contents::Mixed, 0.15},
        {SizeRule::Free, Contents::AnyProperty, 0.1},
    };
    if (task.contract.exactDegree > 0) {
        list.push_back({SizeRule::Prime, Contents::Exact, 0.1});
    }
    if (tier == Tier::Full) {
        list.insert(list.end(), {{SizeRule::Free, Contents::Own, 0.15},
                                 {SizeRule::Near, Contents::AnyProperty, 0.15},
                                 {SizeRule::Prime, Contents::AnyProperty, 0.15},
                                 {SizeRule::Free, Contents::AnyProperty, 0.15}});
    }
    double shares = 0;
    for (const Recipe& recipe : list) {
        shares += recipe.share;
    }
    for (Recipe& recipe : list) {
        recipe.share /= shares;
    }
    return list;
}

std::int64_t below(std::mt19937_64& random, std::int64_t bound)
{
    return bound <= 1 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

bool isPrime(std::int64_t value)
{
    for (std::int64_t divisor = 2; divisor * divisor <= value; ++divisor) {
        if (value % divisor == 0) {
            return false;
        }
    }
    return value > 1;
}

std::int64_t allowed(const UnseenRule& rule, std::int64_t value)
{
    const std::int64_t multiple = rule.multipleOf;
    const std::int64_t least = (rule.least + multiple - 1) / multiple * multiple;
    const std::int64_t most = rule.most / multiple * multiple;
    return std::clamp(value / multiple * multiple, least, most);
}

/// Around, below or anywhere under a value that is timed.
std::int64_t drawnSize(SizeRule sizes, const UnseenRule& rule, std::int64_t value, std::mt19937_64& random)
{
    switch (sizes) {
    case SizeRule::Near: {
        const std::int64_t step = rule.multipleOf;
        const bool down = value > step && below(random, 2) == 0;
        return allowed(rule, down ? value - step : value + step);
    }
    case SizeRule::One:
        return allowed(rule, 1);
    case SizeRule::Prime: {
        std::int64_t prime = value - below(random, value / 2 + 1);
        while (prime > 2 && !isPrime(prime)) {
            --prime;
        }
        return allowed(rule, std::max<std::int64_t>(prime, 2));
    }
    case SizeRule::Free:
        break;
    }
    const double exponent =
        std::log2(static_cast<double>(value) + 1) * std::uniform_real_distribution(0.0, 1.0)(random);
    return allowed(rule, static_cast<std::int64_t>(std::exp2(exponent)));
}

class Drawing
{
public:
    Drawing(const Task& task, const TaskCase& base, const Recipe& recipe, std::mt19937_64& random)
        : m_task(task), m_base(base), m_recipe(recipe), m_random(random)
    {
    }

    /// Nothing where the task's expressions do not allow what was drawn.
    std::optional<CasePlan> draw(double budget)
    {
        m_case.roles = {CaseRole::Verify};
        m_case.parameters = m_base.parameters;
        m_case.realParameters = m_base.realParameters;
        m_case.variant = m_base.variant;
        drawSizes();
        drawContents();
        std::optional<CasePlan> plan = planned();
        while (plan && costOf(*plan) > budget && shrink()) {
            plan = planned();
        }
        if (!plan || costOf(*plan) > budget || !finish(*plan)) {
            return std::nullopt;
        }
        return plan;
    }

private:
    UnseenRule ruleOf(const std::string& name) const
    {
        const auto stated = m_task.unseen.find(name);
        return stated == m_task.unseen.end() ? UnseenRule() : stated->second;
    }

    void drawSizes()
    {
        std::vector<std::string> names;
        for (const auto& [name, value] : m_case.parameters) {
            if (!ruleOf(name).fixed) {
                names.push_back(name);
            }
        }
        std::shuffle(names.begin(), names.end(), m_random);
        for (std::size_t i = 0; i < names.size(); ++i) {
            // 1 is tried on one parameter at a time, the others lie beside the timed sizes.
            const SizeRule sizes = m_recipe.sizes == SizeRule::One && i > 0 ? SizeRule::Near : m_recipe.sizes;
            std::int64_t& value = m_case.parameters[names[i]];
            value = drawnSize(sizes, ruleOf(names[i]), value, m_random);
        }
        m_shrinking = std::move(names);
    }

    /// Halves the parameter whose turn it is until it is as small as it may be, then the next.
    bool shrink()
    {
        while (!m_shrinking.empty()) {
            const UnseenRule rule = ruleOf(m_shrinking.back());
            std::int64_t& value = m_case.parameters[m_shrinking.back()];
            const std::int64_t half = allowed(rule, (value / 2) | 1);
            if (half < value) {
                value = half;
                return true;
            }
            m_shrinking.pop_back();
        }
        return false;
    }

    static bool ofUnitScale(const ValueDistribution& values)
    {
        return values.kind == DistributionKind::Normal && values.a == 0 && values.b >= 0.25 && values.b <= 4;
    }

    bool takesProperties(const Argument& argument) const
    {
        const bool floating = argument.type != DataType::I32 && argument.type != DataType::I64 &&
                              argument.type != DataType::I8 && argument.type != DataType::Bool;
        return (argument.kind == ArgumentKind::Input || argument.kind == ArgumentKind::Const) && floating &&
               argument.stress && !argument.index && ofUnitScale(argument.values);
    }

    ValueDistribution property(const Argument& argument)
    {
        const double unit = argument.values.b;
        const auto of = [](DistributionKind kind, double a, double b) { return ValueDistribution{kind, a, b, {}, {}}; };
        const auto mixed = [&](ops::MixedRegime other) {
            return of(DistributionKind::Mixed, unit, static_cast<double>(other));
        };
        if (m_recipe.contents == Contents::Amplified) {
            return mixed(ops::MixedRegime::Amplified);
        }
        if (m_recipe.contents == Contents::Mixed) {
            return of(DistributionKind::Mixed, unit, -1);
        }
        constexpr std::int64_t kinds = 15;
        switch (below(m_random, kinds)) {
        case 0:
            return of(DistributionKind::Sparse, unit, 0.9);
        case 1:
            return of(DistributionKind::Ties, unit, 3);
        case 2:
            return of(DistributionKind::ConstantRows, 0, unit);
        case 3:
            return of(DistributionKind::Outlier, unit, 1000);
        case 4:
            return of(DistributionKind::Subnormal, 0, 1);
        case 5:
            return of(DistributionKind::HalfNormal, unit, 1);
        case 6:
            return of(DistributionKind::HalfNormal, -unit, 1);
        case 7:
            return of(DistributionKind::Alternating, unit, 1);
        case 8:
            return of(DistributionKind::Sorted, 0, below(m_random, 2) == 0 ? unit : -unit);
        case 9:
            return of(DistributionKind::Normal, 0, 1e-4 * unit);
        case 10:
            return of(DistributionKind::Normal, 0, 1e3 * unit);
        case 11:
            return of(DistributionKind::HeavyTail, unit, 8);
        case 12:
            return mixed(ops::MixedRegime::Small);
        case 13:
            return mixed(ops::MixedRegime::Large);
        default:
            return mixed(ops::MixedRegime::Outliers);
        }
    }

    /// One argument has the property for certain, others by chance.
    void drawContents()
    {
        if (m_recipe.contents == Contents::Own || m_recipe.contents == Contents::Exact) {
            return;
        }
        std::vector<const Argument*> takers;
        for (const Argument& argument : m_task.arguments) {
            if (takesProperties(argument)) {
                takers.push_back(&argument);
            }
        }
        std::shuffle(takers.begin(), takers.end(), m_random);
        for (std::size_t i = 0; i < takers.size(); ++i) {
            if (i == 0 || below(m_random, 2) == 0) {
                m_case.values[takers[i]->name] = property(*takers[i]);
            }
        }
    }

    std::optional<CasePlan> planned()
    {
        auto plan = planCase(m_task, m_case);
        if (!plan) {
            return std::nullopt;
        }
        for (const ArgumentPlan& argument : plan->arguments) {
            for (const std::int64_t extent : argument.shape) {
                if (extent < 1) {
                    return std::nullopt;
                }
            }
        }
        if (!std::isfinite(plan->flops) || plan->flops < 0) {
            return std::nullopt;
        }
        return std::move(*plan);
    }

    double reductionLength() const
    {
        if (!m_task.contract.reductionLength) {
            return 1;
        }
        return m_task.contract.reductionLength->evaluate(m_case.parameters).value_or(0);
    }

    bool finish(CasePlan& plan)
    {
        plan.churn = true;
        std::vector<std::string> says;
        for (const std::string& name : m_task.parameters) {
            if (const auto value = m_case.parameters.find(name); value != m_case.parameters.end()) {
                says.push_back(fmt::format("{} {}", name, value->second));
            }
        }
        const double length = reductionLength();
        if (m_recipe.contents == Contents::Exact) {
            says.emplace_back("whole numbers");
            plan.id = fmt::format("unseen ({})", fmt::join(says, ", "));
            return makeExact(m_task, length, plan);
        }
        for (const auto& [name, values] : m_case.values) {
            const Argument& argument = *m_task.findArgument(name);
            const auto planned = std::find_if(plan.arguments.begin(), plan.arguments.end(),
                                              [&](const ArgumentPlan& one) { return one.name == argument.name; });
            if (values.kind == DistributionKind::ConstantRows && !planned->shape.empty() &&
                planned->shape.back() > longestConstantRow) {
                return false;
            }
            if (values.kind == DistributionKind::Subnormal) {
                // Kernels may flush them: sums of them, times whatever the other inputs hold, are held to their size
                // only.
                constexpr double otherFactors = 4096;
                plan.absoluteFactor = otherFactors * std::max(1.0, length);
            }
            says.push_back(fmt::format("{} {}", name, nameOf(values.kind)));
        }
        if (!m_case.values.empty()) {
            // Terms of one sign or one size add up their roundings: 3·sqrt(K)·u of the magnitudes is where the error of
            // a sum in any order ends with certainty, and its norm says nothing where the terms cancel.
            plan.elementFactor *= std::max(1.0, 3 * std::sqrt(std::max(length, 0.0)) / 16);
            std::fill(plan.normBounds.begin(), plan.normBounds.end(), 0);
        }
        plan.id = fmt::format("unseen ({})", fmt::join(says, ", "));
        return true;
    }

    const Task& m_task;
    const TaskCase& m_base;
    const Recipe& m_recipe;
    std::mt19937_64& m_random;
    TaskCase m_case;
    std::vector<std::string> m_shrinking;
};

/// Whether the buffer pool gives an input and every output the same bytes in both.
bool samePlaces(const CasePlan& before, const CasePlan& after)
{
    bool input = false;
    for (std::size_t a = 0; a < before.arguments.size(); ++a) {
        const ArgumentPlan &one = before.arguments[a], &other = after.arguments[a];
        if (one.isOutput() && one.bytes != other.bytes) {
            return false;
        }
        input |= one.isInput() && one.bytes == other.bytes && one.shape != other.shape;
    }
    return input;
}

} // namespace

std::vector<CasePlan> turnedCases(const Task& task, const std::vector<const TaskCase*>& verify)
{
    std::vector<CasePlan> best;
    const auto consider = [&](const TaskCase& one, const std::string& a, const std::string& b) {
        TaskCase turned = one;
        std::swap(turned.parameters.at(a), turned.parameters.at(b));
        auto before = planCase(task, one), after = planCase(task, turned);
        if (!before || !after || !samePlaces(*before, *after) ||
            (!best.empty() && costOf(best[0]) <= costOf(*before))) {
            return;
        }
        const auto name = [&](CasePlan& plan, const Parameters& values) {
            plan.id = fmt::format("same places ({} {}, {} {})", a, values.at(a), b, values.at(b));
        };
        name(*before, one.parameters);
        name(*after, turned.parameters);
        best = {std::move(*before), std::move(*after)};
    };
    for (const TaskCase* one : task.unseenCases ? verify : std::vector<const TaskCase*>()) {
        for (auto a = one->parameters.begin(); a != one->parameters.end(); ++a) {
            for (auto b = std::next(a); b != one->parameters.end(); ++b) {
                if (a->second != b->second) {
                    consider(*one, a->first, b->first);
                }
            }
        }
    }
    return best;
}

double costOf(const CasePlan& plan)
{
    double elements = 0;
    for (const ArgumentPlan& argument : plan.arguments) {
        elements += static_cast<double>(argument.elements);
    }
    return elements + plan.flops;
}

std::vector<CasePlan> unseenCases(const Task& task, const std::vector<const TaskCase*>& bases,
                                  const std::vector<CasePlan>& own, Tier tier, std::mt19937_64& random)
{
    std::vector<CasePlan> plans;
    if (!task.unseenCases || bases.empty()) {
        return plans;
    }
    double budget = 0;
    for (const CasePlan& plan : own) {
        budget += costOf(plan);
    }
    budget = std::max(budget, leastBudget);
    for (const Recipe& recipe : recipes(task, tier)) {
        for (int attempt = 0; attempt < attempts; ++attempt) {
            const TaskCase& base = *bases[static_cast<std::size_t>(below(random, std::ssize(bases)))];
            if (auto plan = Drawing(task, base, recipe, random).draw(budget * recipe.share)) {
                plans.push_back(std::move(*plan));
                break;
            }
        }
    }
    return plans;
}

} // namespace espalier::judge
