// SPDX-License-Identifier: Apache-2.0
#include "tests/adversary/proof.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <random>
#include <vector>

namespace espalier::adversary_test {

using adversary::Call;
using adversary::Fault;
using adversary::Hide;
using adversary::What;
using adversary::When;

namespace {

using Random = std::mt19937_64;

/// The bounds of the contract, as tasks/SCHEMA.md states them.
struct Bounds {
    double roundoff;
    double terms;
    double element() const { return 16 * roundoff; }
    double norm() const { return roundoff * std::max(8.0, 0.45 * std::sqrt(terms)); }
};

/// One case of a task: owns what the formula points to.
template <class P>
struct Case {
    std::vector<std::vector<float>> inputs;
    P problem;
    std::string shape;
};

std::int64_t between(Random& random, std::int64_t low, std::int64_t high)
{
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

/// Sizes as people choose them: any, a multiple of 32, or one beside it.
std::int64_t size(Random& random, std::int64_t low, std::int64_t high)
{
    const std::int64_t any = between(random, low, high);
    const std::int64_t round = std::clamp(any / 32 * 32, low, high);
    return random() % 3 == 0 ? round : random() % 3 == 0 ? std::min(high, round + 1) : any;
}

std::vector<float> contents(Random& random, std::int64_t count, double mean, double deviation)
{
    std::normal_distribution<double> normal(mean, deviation);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        value = static_cast<float>(normal(random));
    }
    return values;
}

/// Within what the tasks' own cases and property inputs contain: nominal, larger, offset, smaller.
struct Regime {
    double mean, deviation;
};
constexpr std::array<Regime, 4> regimes = {{{0, 1}, {0, 16}, {8, 1}, {0, 1e-3}}};

void caseOf(Random& random, Regime regime, Case<adversary::Softmax>& made)
{
    adversary::Softmax& p = made.problem;
    p.rows = size(random, 1, 40);
    p.cols = random() % 4 == 0 ? size(random, 1, 4000) : size(random, 1, 300);
    made.inputs = {contents(random, p.rows * p.cols, regime.mean, regime.deviation)};
    p.x = made.inputs[0].data();
    made.shape = fmt::format("rows {}, cols {}", p.rows, p.cols);
}

void caseOf(Random& random, Regime regime, Case<adversary::LayerNorm>& made)
{
    adversary::LayerNorm& p = made.problem;
    p.rows = size(random, 1, 40);
    p.cols = random() % 4 == 0 ? size(random, 1, 4000) : size(random, 1, 300);
    p.eps = 1e-5f;
    made.inputs = {contents(random, p.rows * p.cols, regime.mean, regime.deviation), contents(random, p.cols, 0, 1),
                   contents(random, p.cols, 0, 0.5)};
    std::uniform_real_distribution<float> weights(0.5f, 1.5f); // the declared range
    for (float& weight : made.inputs[1]) {
        weight = weights(random);
    }
    p.x = made.inputs[0].data();
    p.weight = made.inputs[1].data();
    p.bias = made.inputs[2].data();
    made.shape = fmt::format("rows {}, cols {}", p.rows, p.cols);
}

void caseOf(Random& random, Regime regime, Case<adversary::MatMul>& made)
{
    adversary::MatMul& p = made.problem;
    p.m = size(random, 1, 150);
    p.n = size(random, 1, 150);
    p.k = random() % 4 == 0 ? size(random, 1, 4000) : size(random, 1, 150);
    made.inputs = {contents(random, p.m * p.k, regime.mean, regime.deviation), contents(random, p.k * p.n, 0, 1)};
    p.a = made.inputs[0].data();
    p.b = made.inputs[1].data();
    made.shape = fmt::format("m {}, n {}, k {}", p.m, p.n, p.k);
}

void caseOf(Random& random, Regime regime, Case<adversary::Convolution>& made, std::int64_t least = 7)
{
    adversary::Convolution& p = made.problem;
    p.n = size(random, 1, 5);
    p.c = size(random, 1, 8);
    p.h = size(random, least, 80);
    p.w = size(random, least, 80);
    p.k = size(random, 1, 100);
    made.inputs = {contents(random, p.n * p.c * p.h * p.w, regime.mean, regime.deviation),
                   contents(random, p.k * p.c * 121, 0, 0.5), contents(random, p.k, 0, 1)};
    p.x = made.inputs[0].data();
    p.weight = made.inputs[1].data();
    p.bias = made.inputs[2].data();
    made.shape = fmt::format("n {}, c {}, h {}, w {}, k {}", p.n, p.c, p.h, p.w, p.k);
}

void caseOf(Random& random, Regime regime, Case<adversary::PooledConvolution>& made)
{
    Case<adversary::Convolution> plain;
    caseOf(random, regime, plain, 15);
    made.inputs = std::move(plain.inputs);
    static_cast<adversary::Convolution&>(made.problem) = plain.problem;
    made.shape = plain.shape;
}

/// Puts into the first input what a contents trigger looks for.
template <class P>
void force(Random& random, const adversary::Trigger& trigger, Case<P>& made)
{
    std::vector<float>& first = made.inputs[0];
    switch (trigger.when) {
    case When::First:
        first.front() = static_cast<float>(trigger.a + 0.4);
        break;
    case When::Last:
        first.back() = static_cast<float>(trigger.a - 0.4);
        break;
    case When::Whole: {
        float& value = first[static_cast<std::size_t>(trigger.b) % first.size()];
        value = std::round(value);
        break;
    }
    case When::Equal:
        if (first.size() > 1) {
            first[1] = first[0];
        }
        break;
    case When::Hash:
        for (int i = 0; i < 100000 && !triggered(trigger, made.problem, Call{1, 0}); ++i) {
            first.front() = contents(random, 1, 0, 1).front();
        }
        break;
    default:
        break;
    }
}

Call forcedCall(const Drawn& drawn)
{
    Call call{drawn.hideCalls + 1, ~0ULL};
    const auto a = static_cast<std::int64_t>(drawn.trigger.a);
    if (drawn.trigger.when == When::FromCall) {
        call.number = std::max(call.number, a);
    }
    if (drawn.trigger.when == When::EveryCall) {
        call.number = (call.number + a - 1) / a * a;
    }
    return call;
}

template <class P>
bool holds(const Drawn& drawn, const P& problem, const Call& call)
{
    const bool seen = drawn.hide == Hide::Ordinary ? ordinary(problem) : call.number > drawn.hideCalls;
    return seen && triggered(drawn.trigger, problem, call);
}

/// What stands in place of the right answer, at one element.
template <class P>
double wrongAt(const Drawn& drawn, const P& problem, const P& before, std::int64_t i)
{
    if (drawn.fault.what == What::Stale) {
        return before.element(i, Fault{What::Nothing, 0});
    }
    return problem.element(drawn.fault.place(i, problem.slice()), drawn.fault);
}

/// The elements that the candidate spoils, at most `most`, from all over the output.
template <class P>
std::vector<std::int64_t> spoilt(const Drawn& drawn, const P& problem, std::size_t most)
{
    std::vector<std::int64_t> all;
    const std::int64_t outputs = problem.outputs();
    for (std::int64_t i = 0; i < outputs; ++i) {
        const bool reachable = drawn.fault.what != What::Stale || i < 4000 || outputs - 1 - i < 96;
        if (reachable && drawn.place.chosen(i, outputs, problem.slice(), problem.work())) {
            all.push_back(i);
        }
    }
    if (all.size() <= most) {
        return all;
    }
    std::vector<std::int64_t> some;
    for (std::size_t n = 0; n < most; ++n) {
        some.push_back(all[n * all.size() / most]);
    }
    some.push_back(all.back());
    return some;
}

template <class P>
void compare(const Drawn& drawn, const Case<P>& made, const Case<P>& before, const Bounds& bounds, std::size_t most,
             Proof& proof)
{
    const P& p = made.problem;
    const Fault right{What::Nothing, 0};
    std::int64_t worst = -1;
    for (const std::int64_t i : spoilt(drawn, p, most)) {
        double magnitude = 0;
        const double reference = p.element(i, right, &magnitude);
        const double difference = std::fabs(wrongAt(drawn, p, before.problem, i) - reference);
        const double ratio = difference / std::max(bounds.element() * magnitude, 1e-38);
        if (ratio > proof.elementRatio || std::isnan(ratio)) {
            proof.elementRatio = std::isnan(ratio) ? 1e9 : ratio;
            worst = i;
        }
    }
    if (proof.elementRatio > 4 || worst < 0 || p.slice() * p.work() > 400000) {
        return;
    }
    double squares = 0, of = 0;
    const std::int64_t begin = worst / p.slice() * p.slice();
    for (std::int64_t i = begin; i < begin + p.slice(); ++i) {
        const double reference = p.element(i, right);
        of += reference * reference;
        if (drawn.place.chosen(i, p.outputs(), p.slice(), p.work())) {
            const double difference = wrongAt(drawn, p, before.problem, i) - reference;
            squares += difference * difference;
        }
    }
    proof.sliceRatio = std::max(proof.sliceRatio, std::sqrt(squares / std::max(of, 1e-60)) / bounds.norm());
}

/// The call before: the same sizes and parameters, another first input. Refers to `made` for the rest.
template <class P>
Case<P> earlierCase(Random& random, Regime regime, const Case<P>& made)
{
    Case<P> before{{contents(random, static_cast<std::int64_t>(made.inputs[0].size()), regime.mean, regime.deviation)},
                   made.problem,
                   {}};
    if constexpr (requires { before.problem.a; }) {
        before.problem.a = before.inputs[0].data();
    } else {
        before.problem.x = before.inputs[0].data();
    }
    return before;
}

template <class P>
Bounds boundsOf(const P& problem, double roundoff)
{
    return {roundoff, static_cast<double>(problem.terms())};
}

constexpr int ordinaryCalls = 60; ///< by which a candidate's chance is told

template <class P>
Proof proveAs(const Drawn& drawn, double roundoff)
{
    Proof proof;
    Random random(drawn.seed);
    if (drawn.timing != Timing::Honest) { // a stream that never joins, contents that differ outside the samples
        proof.wrong = true;
        proof.chance = drawn.timing == Timing::SideStream ? 1 : 0;
        return proof;
    }
    int shown = 0;
    for (int i = 0; i < ordinaryCalls; ++i) {
        Proof here;
        Case<P> made;
        caseOf(random, regimes[0], made);
        if (holds(drawn, made.problem, Call{between(random, 1, 40), random() & ~0xffULL})) {
            compare(drawn, made, earlierCase(random, regimes[0], made), boundsOf(made.problem, roundoff), 8, here);
        }
        shown += here.elementRatio > 1 || here.sliceRatio > 1 ? 1 : 0;
    }
    proof.chance = static_cast<double>(shown) / ordinaryCalls;
    for (int attempt = 0; attempt < 160 && !proof.wrong; ++attempt) {
        const Regime regime = regimes[static_cast<std::size_t>(attempt) % regimes.size()];
        Case<P> made;
        caseOf(random, regime, made);
        force(random, drawn.trigger, made);
        if (!holds(drawn, made.problem, forcedCall(drawn))) {
            continue;
        }
        compare(drawn, made, earlierCase(random, regime, made), boundsOf(made.problem, roundoff), 24, proof);
        proof.wrong = proof.elementRatio > 4 || proof.sliceRatio > 2;
        proof.shape = made.shape;
    }
    return proof;
}

} // namespace

Proof prove(const Drawn& drawn)
{
    const double single = std::ldexp(1.0, -24), tensor = std::ldexp(1.0, -13);
    if (drawn.task == "softmax_f32") {
        return proveAs<adversary::Softmax>(drawn, single);
    }
    if (drawn.task == "layernorm_f32") {
        return proveAs<adversary::LayerNorm>(drawn, single);
    }
    if (drawn.task == "matmul_f32") {
        return proveAs<adversary::MatMul>(drawn, single);
    }
    if (drawn.task == "conv2d_f32") {
        return proveAs<adversary::Convolution>(drawn, tensor);
    }
    return proveAs<adversary::PooledConvolution>(drawn, tensor);
}

} // namespace espalier::adversary_test
