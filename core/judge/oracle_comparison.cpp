// SPDX-License-Identifier: Apache-2.0
#include "core/judge/oracle_comparison.h"

#include "core/base/hash.h"
#include "core/judge/defences.h"
#include "core/judge/poison_evidence.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>
#include <span>

namespace espalier::judge {

namespace {

constexpr std::size_t maxBatch = 64; ///< windows that one block of the oracle serves

double smallestNormal(ops::DType type)
{
    switch (type) {
    case ops::DType::F64:
        return std::numeric_limits<double>::min();
    case ops::DType::F16:
        return 6.103515625e-05;
    case ops::DType::FP8E4M3:
        return 0.015625;
    case ops::DType::FP8E5M2:
        return 6.103515625e-05;
    case ops::DType::I8:
    case ops::DType::I32:
    case ops::DType::I64:
    case ops::DType::Bool:
        return 0;
    default:
        return static_cast<double>(std::numeric_limits<float>::min());
    }
}

struct WrongElements {
    const char* check;
    std::string sentence;
};

/// Elements that were left as they were before the call; nothing where chance may be the reason.
std::optional<WrongElements> describeUnwritten(const ArgumentPlan& argument, const OutputTally& tally, double chance,
                                               const std::string& where)
{
    if (!beyondChance(tally.stillPoison, tally.failed, chance)) {
        return std::nullopt;
    }
    const std::string first = elementName(argument, tally.firstFailed);
    const std::uint64_t others = tally.failed - tally.stillPoison;
    if (others == 0) {
        return WrongElements{
            "poison",
            fmt::format(
                "output {} was never written in {}: {} of {} compared elements still hold what was there before", first,
                where, tally.stillPoison, tally.compared)};
    }
    const bool exact = static_cast<double>(others) * chance < 0.5; // else some of them match by chance
    return WrongElements{"poison",
                         fmt::format("{}{} of {} compared elements of output {} were never written in {}: they "
                                     "still hold what was there before; {} more are wrong, the first wrong "
                                     "one is {}",
                                     exact ? "" : "about ", tally.stillPoison, tally.compared, argument.name, where,
                                     others, first)};
}

/// What the wrong elements of one output have in common, most telling first. Elements may be wrong in several ways at
/// once; each sentence is true of the mixture, too.
WrongElements describeWrong(const ArgumentPlan& argument, const OutputTally& tally, Before before,
                            const std::string& where)
{
    const ops::PoisonKind poison = before == Before::NaN ? ops::PoisonKind::NaN : ops::PoisonKind::Noise;
    if (auto unwritten = describeUnwritten(argument, tally, coincidence(poison, argument.type), where)) {
        return std::move(*unwritten);
    }
    const std::string first = elementName(argument, tally.firstFailed);
    const std::string worst = elementName(argument, tally.worstIndex);
    if (tally.nonFinite == tally.failed) {
        return {"finite", fmt::format("output {} is not finite in {} where the reference is ({} of {} compared "
                                      "elements)",
                                      first, where, tally.nonFinite, tally.compared)};
    }
    if (tally.nonFinite > 0) {
        return {"finite", fmt::format("output {} is {:.9g} in {} where {:.9g} is right; {} of {} compared elements are "
                                      "wrong, {} of these are not finite",
                                      worst, tally.worstOut, where, tally.worstRef, tally.failed, tally.compared,
                                      tally.nonFinite)};
    }
    const char* stale = before == Before::PreviousAnswer && tally.failed >= tally.compared - tally.compared / 100
                            ? "; it looks like the previous call's answer"
                            : "";
    return {"tolerance", fmt::format("output {} is {:.9g} in {} where {:.9g} is right, {:.3g} times the allowed error; "
                                     "{} of {} compared elements are wrong{}",
                                     worst, tally.worstOut, where, tally.worstRef, tally.worstRatio, tally.failed,
                                     tally.compared, stale)};
}

} // namespace

double OutputTally::normError(double reductionLength) const
{
    const double random = reductionLength > 0 ? squaredScale / reductionLength : 0;
    const double squaredNorm = std::max(squaredReference, random);
    return squaredNorm > 0 ? std::sqrt(squaredError / squaredNorm) : std::sqrt(squaredError);
}

std::vector<std::string> OracleComparison::names(const std::string& entry, const std::vector<std::string>& outputs)
{
    if (outputs.size() == 1) {
        return {entry + "_oracle"};
    }
    std::vector<std::string> names;
    for (const std::string& output : outputs) {
        names.push_back(fmt::format("{}_oracle_{}", entry, output));
    }
    return names;
}

std::uint32_t OracleComparison::functionOf(const CasePlan& plan, std::size_t argument) const
{
    std::uint32_t function = 0;
    for (std::size_t a = 0; a < argument; ++a) {
        function += plan.arguments[a].isOutput() ? 1 : 0;
    }
    return function;
}

Judged<void> OracleComparison::runOracle(const WorkArea& area, const std::vector<Window>& batch)
{
    const CasePlan& plan = area.plan();
    RunnerProcess& process = *m_oracle.process;
    const auto place = [&](const Region& region, Grant access, const char* name) -> Judged<runner::CallValue> {
        auto value = process.place(region, access, name, m_context.interrupts);
        if (!value) {
            return std::unexpected(infrastructure(errorOf(value.error(), "the oracle")));
        }
        return *value;
    };
    ESPALIER_TRY(const runner::CallValue reference, place(area.reference(), Grant::ReadWrite, "reference"));
    ESPALIER_TRY(const runner::CallValue scale, place(area.scale(), Grant::ReadWrite, "scale"));
    std::vector<runner::Call> calls;
    std::uint64_t at = 0;
    for (const Window& window : batch) {
        runner::Call call;
        call.function = functionOf(plan, window.argument);
        for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
            if (plan.arguments[a].isInput()) {
                ESPALIER_TRY(call.values.emplace_back(),
                             place(area.set(window.set).regions[a], Grant::ReadOnly, "input of the oracle"));
            } else if (plan.arguments[a].kind == ArgumentKind::Scalar) {
                call.values.push_back(plan.arguments[a].scalar);
            }
        }
        for (runner::CallValue value : {reference, scale}) {
            value.bits += at * sizeof(double);
            call.values.push_back(value);
        }
        call.values.push_back({runner::ValueKind::I64, 0, window.first});
        call.values.push_back({runner::ValueKind::I64, 0, window.count});
        call.values.push_back({runner::ValueKind::Stream, 0, 0});
        calls.push_back(std::move(call));
        at += window.count;
    }
    auto run = runCalls(m_context, m_oracle, calls, false, m_context.runners.deadlines().oracle,
                        fmt::format("case {}", plan.id));
    if (!run) {
        Verdict verdict = std::move(run.error());
        if (verdict.cause != NotRunCause::Cancelled) { // whatever the oracle does says nothing about the candidate
            verdict = {Outcome::NotRun,
                       NotRunCause::Infrastructure,
                       fmt::format("the task's oracle failed: {}", verdict.reason),
                       {},
                       verdict.again};
        }
        return std::unexpected(std::move(verdict));
    }
    return {};
}

Judged<std::vector<OutputTally>> OracleComparison::compareBatch(const WorkArea& area, const std::vector<Window>& batch)
{
    const CasePlan& plan = area.plan();
    ESPALIER_CHECK(runOracle(area, batch));
    ops::CompareResult clean = {};
    clean.firstFailed = ~std::uint64_t{0};
    std::vector<ops::CompareResult> results(batch.size(), clean);
    const std::uint64_t resultsAt = area.m_scratch.address();
    Device& device = m_context.device();
    ESPALIER_CHECK(orInfrastructure(device.write(resultsAt, std::as_bytes(std::span(results)))));
    std::uint64_t at = 0;
    for (std::size_t w = 0; w < batch.size(); ++w) {
        const Window& window = batch[w];
        const ArgumentPlan& argument = plan.arguments[window.argument];
        const CallSet& set = area.set(window.set);
        ops::CompareArgs args = {};
        args.out = set.regions[window.argument].address() + window.first * ops::sizeOf(argument.type);
        args.reference = area.reference().address() + at * sizeof(double);
        args.scale = area.scale().address() + at * sizeof(double);
        args.result = resultsAt + w * sizeof(ops::CompareResult);
        args.first = window.first;
        args.dtype = argument.type;
        args.unitRoundoff = plan.unitRoundoff;
        args.elementFactor = plan.elementFactor;
        args.absolute = smallestNormal(argument.type) * plan.absoluteFactor;
        args.poisonSeed = set.poisons[window.argument].seed;
        args.poisonKind = set.poisons[window.argument].kind;
        ESPALIER_CHECK(
            orInfrastructure(device.run(ops::Op::Compare, std::as_bytes(std::span(&args, 1)), window.count)));
        at += window.count;
    }
    ESPALIER_CHECK(orInfrastructure(device.read(std::as_writable_bytes(std::span(results)), resultsAt)));
    std::vector<OutputTally> tallies;
    for (std::size_t w = 0; w < batch.size(); ++w) {
        const ops::CompareResult& result = results[w];
        if (result.compared != batch[w].count) {
            return notRun(NotRunCause::Infrastructure,
                          fmt::format("the judge compared {} elements where {} were asked for; restart the run",
                                      result.compared, batch[w].count));
        }
        tallies.push_back({result.compared, result.failed, result.nonFinite, result.stillPoison, result.firstFailed,
                           result.sumSquaredError, result.sumSquaredReference, result.sumSquaredScale,
                           result.worstRatio, result.worstOut, result.worstRef, result.worstIndex});
    }
    return tallies;
}

Judged<std::vector<OutputTally>> OracleComparison::compare(const WorkArea& area, const std::vector<Window>& windows)
{
    std::vector<OutputTally> tallies;
    std::vector<Window> batch;
    std::uint64_t elements = 0;
    const auto flush = [&]() -> Judged<void> {
        if (!batch.empty()) {
            ESPALIER_TRY(const std::vector<OutputTally> more, compareBatch(area, batch));
            tallies.insert(tallies.end(), more.begin(), more.end());
            batch.clear();
            elements = 0;
        }
        return {};
    };
    for (const Window& window : windows) {
        if (batch.size() == maxBatch || elements + window.count > area.chunkElements()) {
            ESPALIER_CHECK(flush());
        }
        batch.push_back(window);
        elements += window.count;
    }
    ESPALIER_CHECK(flush());
    return tallies;
}

void OracleComparison::add(OutputTally& into, const OutputTally& more)
{
    into.compared += more.compared;
    into.failed += more.failed;
    into.nonFinite += more.nonFinite;
    into.stillPoison += more.stillPoison;
    into.firstFailed = std::min(into.firstFailed, more.firstFailed);
    into.squaredError += more.squaredError;
    into.squaredReference += more.squaredReference;
    into.squaredScale += more.squaredScale;
    if (more.worstRatio > into.worstRatio) {
        into.worstRatio = more.worstRatio;
        into.worstOut = more.worstOut;
        into.worstRef = more.worstRef;
        into.worstIndex = more.worstIndex;
    }
}

std::vector<Window> OracleComparison::everything(const WorkArea& area, std::size_t set) const
{
    const CasePlan& plan = area.plan();
    std::vector<Window> windows;
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
        if (plan.arguments[a].isOutput()) {
            for (std::uint64_t first = 0; first < plan.arguments[a].elements; first += area.chunkElements()) {
                windows.push_back({set, a, first, std::min(area.chunkElements(), plan.arguments[a].elements - first)});
            }
        }
    }
    return windows;
}

Judged<std::vector<OutputTally>> OracleComparison::compareWhole(const WorkArea& area, std::size_t set)
{
    std::vector<Window> windows = everything(area, set);
    if (!stands(Defence::FullComparison)) { // the first half stands for the whole
        std::erase_if(windows, [](const Window& window) { return window.first > 0; });
        for (Window& window : windows) {
            window.count = (window.count + 1) / 2;
        }
    }
    ESPALIER_TRY(const std::vector<OutputTally> parts, compare(area, windows));
    std::vector<OutputTally> tallies(area.plan().arguments.size());
    for (std::size_t w = 0; w < windows.size(); ++w) {
        add(tallies[windows[w].argument], parts[w]);
    }
    return tallies;
}

std::vector<Window> OracleComparison::sample(const WorkArea& area, const std::vector<std::size_t>& sets,
                                             std::size_t perOutput)
{
    const CasePlan& plan = area.plan();
    std::mt19937_64 random(randomSeed()); // where it looks is secret, too
    std::vector<Window> windows;
    for (const std::size_t set : sets) {
        for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
            const ArgumentPlan& argument = plan.arguments[a];
            if (!argument.isOutput() || argument.elements == 0) {
                continue;
            }
            constexpr std::uint64_t most = 65536;
            const std::uint64_t row = argument.shape.empty() ? 1 : static_cast<std::uint64_t>(argument.shape.back());
            const std::uint64_t count =
                std::min({argument.elements, std::clamp<std::uint64_t>(row, 1024, most), area.chunkElements()});
            for (std::size_t n = 0; n < perOutput; ++n) {
                windows.push_back({set, a, random() % (argument.elements - count + 1), count});
            }
        }
    }
    return windows;
}

std::optional<Verdict> OracleComparison::judge(const CasePlan& plan, std::size_t index, const OutputTally& tally,
                                               Before before, const std::string& where)
{
    const ArgumentPlan& argument = plan.arguments[index];
    const auto incorrect = [](const char* check, std::string sentence) {
        return Verdict{Outcome::Incorrect, NotRunCause::None, sentence, {{check, std::move(sentence)}}, false};
    };
    if (tally.failed > 0 && stands(Defence::ElementBound)) {
        if (plan.exact && tally.stillPoison == 0 && tally.nonFinite == 0) {
            return incorrect("exact", fmt::format("output {} is {:.9g} in {} where {:.9g} is right: whole inputs this "
                                                  "small leave nothing to round; {} of {} compared elements are wrong",
                                                  elementName(argument, tally.worstIndex), tally.worstOut, where,
                                                  tally.worstRef, tally.failed, tally.compared));
        }
        const WrongElements wrong = describeWrong(argument, tally, before, where);
        return incorrect(wrong.check, wrong.sentence);
    }
    const double bound = plan.normBounds[index], error = tally.normError(plan.reductionLength);
    if (bound > 0 && stands(Defence::NormBound) && tally.compared >= fewestForNorm && !(error <= bound)) {
        return incorrect("norm", fmt::format("the error of output {} has a norm of {:.3g} of the reference's in {}; "
                                             "the contract allows {:.3g} (a lower "
                                             "precision than the contract's looks like this)",
                                             argument.name, error, where, bound));
    }
    return std::nullopt;
}

} // namespace espalier::judge
