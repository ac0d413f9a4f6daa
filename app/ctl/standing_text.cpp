// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/standing_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>

namespace espalier::ctl {
namespace {

/// `unit`: with a blank before it.
template <typename T>
void addSpent(std::vector<LimitLine>& lines, const char* name, const char* unit, const std::optional<T>& limit, T spent)
{
    if (!limit) {
        return;
    }
    const bool whole = std::is_same_v<T, std::int64_t>;
    const auto text = [whole](T value) {
        return whole ? fmt::format("{}", value) : fmt::format("{:.4g}", static_cast<double>(value));
    };
    lines.push_back(
        {name, fmt::format("{}{} ({} spent)", text(*limit), unit, text(spent)), *limit, spent, spent >= *limit});
}

void addRule(std::vector<LimitLine>& lines, const char* name, std::string text, Json limit)
{
    lines.push_back({name, std::move(text), std::move(limit), nullptr, false});
}

} // namespace

Result<std::vector<std::string>> standingLines(const SessionReader& reader)
{
    ESPALIER_TRY(const auto bans, reader.bans());
    ESPALIER_TRY(const auto hints, reader.hints());
    ESPALIER_TRY(const auto attachments, reader.attachments());
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < bans.size(); ++i) {
        lines.push_back(fmt::format("ban {}: {}{}", i + 1, bans[i].text,
                                    bans[i].predicate.empty() ? " (said to models; nothing is rejected for it)"
                                                              : fmt::format(" ({})", bans[i].predicate)));
    }
    for (std::size_t i = 0; i < hints.size(); ++i) {
        lines.push_back(fmt::format("hint {}: {}", i + 1, hints[i]));
    }
    for (const Attachment& one : attachments) {
        lines.push_back(fmt::format("attached: {} ({} bytes)", one.name, one.text.size()));
    }
    return lines;
}

Result<Json> standingJson(const SessionReader& reader)
{
    ESPALIER_TRY(const auto bans, reader.bans());
    ESPALIER_TRY(const auto hints, reader.hints());
    ESPALIER_TRY(const auto attachments, reader.attachments());
    Json json = {{"bans", Json::array()}, {"hints", Json::array()}, {"attached", Json::array()}};
    for (const BannedTechnique& ban : bans) {
        json["bans"].push_back({{"number", json["bans"].size() + 1}, {"text", ban.text}, {"predicate", ban.predicate}});
    }
    for (const std::string& hint : hints) {
        json["hints"].push_back({{"number", json["hints"].size() + 1}, {"text", hint}});
    }
    for (const Attachment& one : attachments) {
        json["attached"].push_back({{"name", one.name}, {"bytes", one.text.size()}});
    }
    return json;
}

std::vector<LimitLine> limitsOf(const NodeSummary& branch)
{
    std::vector<LimitLine> lines;
    addSpent(lines, "evaluations", " evaluations", branch.budget.evaluations, branch.branchSpent.evaluations);
    addSpent(lines, "tokens", " tokens", branch.budget.tokens, branch.branchSpent.tokens);
    addSpent(lines, "usd", " USD", branch.budget.usd, branch.branchSpent.usd);
    addSpent(lines, "seconds", " device seconds", branch.budget.seconds, branch.branchSpent.seconds);
    return lines;
}

std::vector<LimitLine> limitsOf(const SessionReader& session)
{
    const Budget& budget = session.info().budget;
    std::vector<LimitLine> lines;
    addSpent(lines, "evaluations", " evaluations", budget.evaluations, session.book().counts().evaluations);
    addSpent(lines, "tokens", " tokens", budget.tokens, session.spending().tokens());
    addSpent(lines, "usd", " USD", budget.usd, session.spending().usd);
    addSpent(lines, "seconds", " seconds", budget.seconds, session.secondsSpent());
    if (budget.target) {
        addRule(lines, "target", fmt::format("target {:g}x", *budget.target), *budget.target);
    }
    if (budget.roofPercent) {
        addRule(lines, "roof", fmt::format("roof {:g} %", *budget.roofPercent), *budget.roofPercent);
    }
    if (budget.plateau) {
        addRule(lines, "plateau", fmt::format("plateau {}", *budget.plateau), *budget.plateau);
    }
    return lines;
}

std::string limitsText(const std::vector<LimitLine>& limits)
{
    std::vector<std::string> texts;
    for (const LimitLine& line : limits) {
        texts.push_back(line.text);
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

Json limitsJson(const std::vector<LimitLine>& limits)
{
    Json json = limits.empty() ? Json(nullptr) : Json::object();
    for (const LimitLine& line : limits) {
        json[line.name] = {{"limit", line.limit}};
        if (!line.spent.is_null()) {
            json[line.name]["spent"] = line.spent;
        }
    }
    return json;
}

} // namespace espalier::ctl
