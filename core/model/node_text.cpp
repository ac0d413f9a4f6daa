// SPDX-License-Identifier: Apache-2.0
#include "core/model/node_text.h"

#include "core/base/text.h"

#include <fmt/format.h>

namespace espalier {

namespace {

std::string with(std::string_view outcome, std::string_view reason)
{
    return reason.empty() ? std::string(outcome) : fmt::format("{}: {}", outcome, reason);
}

} // namespace

std::string outcomeText(const NodeSummary& node)
{
    if (node.overturned) {
        return fmt::format("{} by hand", nameOf(node.outcome));
    }
    if (node.outcome == Outcome::NotRun && node.cause != NotRunCause::None) {
        return fmt::format("{} ({})", nameOf(node.outcome), nameOf(node.cause));
    }
    return std::string(nameOf(node.outcome));
}

std::string judgedText(const NodeSummary& node)
{
    return with(nameOf(node.overturned ? node.overturned->judged : node.outcome), node.reason);
}

std::string reasonText(const NodeSummary& node)
{
    return node.overturned ? fmt::format("{} (the judge: {})", node.overturned->reason, judgedText(node)) : node.reason;
}

std::string verdictText(const NodeSummary& node)
{
    return with(outcomeText(node), reasonText(node));
}

Json overturnJson(const std::optional<Overturn>& overturned)
{
    if (!overturned) {
        return nullptr;
    }
    return {{"as", nameOf(overturned->as)},
            {"judged", nameOf(overturned->judged)},
            {"reason", overturned->reason},
            {"author", overturned->author},
            {"at", overturned->at}};
}

std::string_view signOf(Provenance provenance)
{
    return provenance == Provenance::Model ? "≈" : "";
}

std::string marked(std::string_view sentence, Provenance provenance)
{
    const std::string_view sign = signOf(provenance);
    std::string text;
    char before = ' '; // a figure may come first
    for (const char c : sentence) {
        const bool starts = c >= '0' && c <= '9' && (before == ' ' || before == '(');
        text += starts ? sign : std::string_view();
        text += c;
        before = c;
    }
    return text;
}

std::string timeText(double microseconds, Provenance provenance)
{
    return fmt::format("{}{}", signOf(provenance), durationText(microseconds * 1e-6));
}

std::string speedupText(const Interval& speedup, Provenance provenance)
{
    if (speedup.low == speedup.high) {
        return fmt::format("{}{:.2f}x", signOf(provenance), speedup.value);
    }
    return fmt::format("{}{:.2f}x [{:.2f}, {:.2f}]", signOf(provenance), speedup.value, speedup.low, speedup.high);
}

} // namespace espalier
