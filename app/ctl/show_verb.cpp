// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/exchange_text.h"
#include "app/ctl/live_table.h"
#include "app/ctl/output.h"
#include "app/ctl/pair_text.h"
#include "app/ctl/profile_text.h"
#include "app/ctl/read_session.h"
#include "app/ctl/standing_text.h"
#include "app/ctl/timing_text.h"
#include "app/ctl/verbs.h"
#include "core/base/text.h"
#include "core/engine/command_json.h"
#include "core/engine/listing_desk.h"
#include "core/model/evaluation_json.h"
#include "core/model/node_text.h"
#include "core/search/act_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>

namespace espalier::ctl {

namespace {

Json optionalJson(const std::optional<Interval>& interval)
{
    return interval ? toJson(*interval) : Json(nullptr);
}

Json nodeJson(const NodeSummary& node)
{
    Json parents = Json::array();
    for (const Edge& edge : node.parents) {
        parents.push_back(edge.parent.value);
    }
    Json json = {{"id", node.id.value},
                 {"kind", nameOf(node.kind)},
                 {"parents", parents},
                 {"state", nameOf(node.state)},
                 {"outcome", node.state == NodeState::Done && node.kind != NodeKind::Idea ? Json(nameOf(node.outcome))
                                                                                          : Json(nullptr)},
                 {"cause", nameOf(node.cause)},
                 {"reason", node.reason},
                 {"title", node.title},
                 {"overturned", overturnJson(node.overturned)},
                 {"proposer", node.proposer},
                 {"pinned", node.pinned},
                 {"pruned", node.pruned},
                 {"boost", node.boost},
                 {"branch_budget", limitsJson(limitsOf(node))},
                 {"banned", node.banned.empty() ? Json(nullptr) : Json(node.banned)},
                 {"provenance", node.provenance ? Json(nameOf(*node.provenance)) : Json(nullptr)},
                 {"time_us", optionalJson(node.timeUs)},
                 {"speedup_root", optionalJson(node.speedupRoot)},
                 {"speedup_parent", optionalJson(node.speedupParent)},
                 {"tie_with_parent", node.tieWithParent},
                 {"measured_again", node.measuredAgain},
                 {"guard_broken", node.guardBroken},
                 {"timed_elsewhere", node.timedElsewhere},
                 {"older_edition", node.olderEdition},
                 {"speedup_incumbent", optionalJson(node.speedupIncumbent)},
                 {"tokens", node.tokens},
                 {"usd", node.usd ? Json(*node.usd) : Json(nullptr)},
                 {"epoch", node.epoch}};
    return json;
}

Json sessionJson(const SessionReader& reader)
{
    const SessionInfo& info = reader.info();
    const EvaluationCounts counts = reader.book().counts();
    const auto best = reader.book().best();
    return {{"file", info.file},
            {"task", info.taskId},
            {"task_folder", info.taskFolder},
            {"task_edition", info.edition},
            {"device", info.device},
            {"device_name", info.deviceName},
            {"provenance", nameOf(info.provenance)},
            {"epoch", info.epoch},
            {"strategy", info.strategy},
            {"proposers", info.proposers},
            {"seed", info.seed},
            {"incumbent", info.incumbent.empty() ? Json(nullptr) : Json(info.incumbent)},
            {"budget", command::budgetJson(info.budget)},
            {"seconds", reader.secondsSpent()},
            {"models", spendingJson(reader.spending())},
            {"created_at", info.createdAt},
            {"evaluations", counts.evaluations},
            {"passed", counts.passed},
            {"rejected", counts.rejected},
            {"failed", counts.failed},
            {"not_run", counts.notRun},
            {"best", best ? Json(best->value) : Json(nullptr)}};
}

std::string signOf(const NodeSummary& node)
{
    if (node.kind == NodeKind::Idea) {
        return "◇";
    }
    if (node.state != NodeState::Done) {
        return "○";
    }
    return node.outcome == Outcome::Passed ? "●" : node.outcome == Outcome::NotRun ? "–" : "✕";
}

std::string treeLine(const NodeSummary& node)
{
    std::string line = fmt::format("{} {} {}", signOf(node), node.id.value, node.title);
    if (node.kind != NodeKind::Idea) {
        line += fmt::format("  {}", node.state == NodeState::Done ? nameOf(node.outcome) : nameOf(node.state));
    }
    const Provenance provenance = node.provenance.value_or(Provenance::Model);
    if (node.timeUs) {
        line += "  " + timeText(node.timeUs->value, provenance);
    }
    if (node.speedupRoot && !node.parents.empty()) {
        line += fmt::format("  {}{}", speedupText(*node.speedupRoot, provenance), node.tieWithParent ? " =" : "");
    }
    if (node.timedElsewhere) {
        line += "  [timed on another device]";
    }
    if (node.olderEdition) {
        line += "  [earlier edition]";
    }
    if (node.overturned) {
        line += fmt::format("  [overturned by hand, judged {}]", nameOf(node.overturned->judged));
    }
    if (node.boost != 1) {
        line += fmt::format("  [boost {:g}]", node.boost);
    }
    if (!node.budget.none()) {
        line += fmt::format("  [budget {}]", limitsText(limitsOf(node)));
    }
    return line + (node.pinned ? "  [pinned]" : "") + (node.pruned ? "  [pruned]" : "") +
           (node.banned.empty() ? "" : "  [banned]");
}

void printTree(const NodeBook& book, std::optional<NodeId> parent, int depth)
{
    for (const auto& [id, node] : book.nodes()) {
        const bool child =
            parent ? !node.parents.empty() && node.parents.front().parent == *parent : node.parents.empty();
        if (child) {
            print(std::string(2 * static_cast<std::size_t>(depth), ' ') + treeLine(node));
            printTree(book, id, depth + 1);
        }
    }
}

void printDetail(const NodeDetail& detail)
{
    const NodeSummary& node = detail.summary;
    print(fmt::format("node {} ({}), {}: {}", node.id.value, nameOf(node.kind),
                      node.proposer.empty() ? "the task's author" : node.proposer, node.title));
    if (!detail.ideaText.empty()) {
        print(fmt::format("idea:     {}", detail.ideaText));
    }
    if (!detail.why.empty()) {
        print(fmt::format("chosen:   {}", detail.why));
    }
    if (node.boost != 1) {
        print(fmt::format("boost:    {:g}", node.boost));
    }
    if (!node.budget.none()) {
        print(fmt::format("budget:   {} (this node and all below it)", limitsText(limitsOf(node))));
    }
    if (node.kind == NodeKind::Idea) {
        return;
    }
    print(fmt::format("outcome:  {}",
                      node.state == NodeState::Done ? verdictText(node) : std::string(nameOf(node.state))));
    if (node.overturned) {
        print(fmt::format("by hand:  {}, {}", node.overturned->author, node.overturned->at));
    }
    if (!node.banned.empty()) {
        print(fmt::format("banned:   it is out of the search: {}", node.banned));
    }
    for (const Evidence& evidence : detail.evaluation.evidence) {
        print(fmt::format("evidence: [{}] {}", evidence.check, evidence.sentence));
    }
    if (detail.evaluation.build) {
        const BuildRecord& build = *detail.evaluation.build;
        print(fmt::format("build:    {}{} for {}{}", build.cached ? "cached" : durationText(build.seconds),
                          build.deviceOnly ? " (its device part)" : "", build.architecture,
                          build.kernels.empty() ? "" : ":"));
        for (const KernelResources& kernel : build.kernels) {
            print(fmt::format("          {}: {} registers, {} B shared, {} B spilled", kernel.kernel, kernel.registers,
                              kernel.sharedBytes, kernel.spillStoreBytes));
        }
        for (const CompileMessage& message : build.messages) {
            print(fmt::format("          {}:{}: {}: {}", message.file, message.line,
                              message.error ? "error" : "warning", message.text));
        }
    }
    if (detail.evaluation.verify) {
        for (const OutputError& error : detail.evaluation.verify->errors) {
            print(fmt::format("verify:   {} {}: {} elements, worst error {:.2g} of its bound{}", error.caseId,
                              error.output, error.compared, error.worstElementRatio,
                              error.normBound > 0
                                  ? fmt::format(", norm {:.2g} (bound {:.2g})", error.normError, error.normBound)
                                  : ""));
        }
        if (const auto& repeat = detail.evaluation.verify->repeat) {
            print(fmt::format("repeat:   {}", repeatText(*repeat)));
        }
        print(fmt::format("sandbox:  {}", detail.evaluation.verify->sandbox));
    }
    if (detail.evaluation.timing) {
        for (const std::string& line : timingLines(*detail.evaluation.timing)) {
            print("time:     " + line);
        }
    }
    if (detail.evaluation.profile) {
        for (const std::string& line : profileLines(detail.evaluation)) {
            print("profile:  " + line);
        }
    }
}

std::string deviceText(const SessionInfo& info)
{
    return info.deviceName.empty() ? "no device yet" : fmt::format("{} ({})", info.deviceName, nameOf(info.provenance));
}

/// The prompt of the last question alone: to edit it and send it again.
int showPrompt(const std::vector<Exchange>& exchanges, const ShowVerb& options)
{
    if (exchanges.empty()) {
        return failWith({ErrorCode::NotFound, fmt::format("No model was asked about node {}.", options.node)},
                        options.json);
    }
    print(exchanges.back().prompt);
    return exitOk;
}

/// One line of code with the place in the source that it comes from.
std::string listingText(const ListingLine& line)
{
    if (line.chain.empty()) {
        return line.text;
    }
    return fmt::format("{:<88} // {}:{}", line.text, line.chain.front().file, line.chain.front().line);
}

int showListing(const NodeDetail& detail, const ShowVerb& options)
{
    const auto& build = detail.evaluation.build;
    const CodeListings listings =
        readListings(realListingSource(), detail.summary.id, build ? build->key : std::string());
    const Listing& listing = options.sass ? listings.sass : listings.ptx;
    if (!listing.missing.empty()) {
        return failWith({ErrorCode::NotFound, listing.missing}, options.json);
    }
    Json lines = Json::array();
    for (const ListingLine& line : listing.lines) {
        if (!options.json) {
            print(listingText(line));
            continue;
        }
        Json one = {{"text", line.text}, {"function", line.function}};
        if (line.offset) {
            one["offset"] = *line.offset;
        }
        for (const ListingPlace& place : line.chain) {
            one["chain"].push_back({{"file", place.file}, {"line", place.line}});
        }
        lines.push_back(std::move(one));
    }
    if (options.json) {
        printJson({{"node", options.node}, {"listing", options.sass ? "sass" : "ptx"}, {"lines", std::move(lines)}});
    }
    return exitOk;
}

int showNode(const SessionReader& reader, const ShowVerb& options)
{
    const auto detail = reader.detail(NodeId{options.node});
    if (!detail) {
        return failWith(detail.error(), options.json);
    }
    if (options.ptx || options.sass) {
        return showListing(*detail, options);
    }
    const auto exchanges = reader.exchanges(NodeId{options.node});
    if (!exchanges) {
        return failWith(exchanges.error(), options.json);
    }
    if (options.prompt) {
        return showPrompt(*exchanges, options);
    }
    const Spending branch = reader.branchSpending(NodeId{options.node});
    if (options.json) {
        Json node = nodeJson(detail->summary);
        node["idea"] = detail->ideaText;
        node["source"] = detail->source;
        node["created_at"] = detail->createdAt;
        node["why"] = detail->why;
        node["evaluation"] = toJson(detail->evaluation);
        node["branch"] = spendingJson(branch);
        node["exchanges"] = Json::array();
        for (const Exchange& exchange : *exchanges) {
            node["exchanges"].push_back(exchangeJson(exchange));
        }
        printJson({{"session", sessionJson(reader)}, {"nodes", Json::array({node})}});
    } else if (options.source) {
        if (detail->summary.kind == NodeKind::Idea) {
            return failWith(
                {ErrorCode::InvalidInput,
                 fmt::format("Node {} is an idea and has no source: name a root or a candidate.", options.node)},
                false);
        }
        print(detail->source);
    } else {
        printDetail(*detail);
        if (branch.requests > 0) {
            print(fmt::format("models:   {} (this node and all below it)", spendingText(branch)));
        }
        for (const Exchange& exchange : *exchanges) {
            print("\n" + exchangeText(exchange));
        }
    }
    return exitOk;
}

} // namespace

int show(const ShowVerb& options)
{
    if (options.prompt && options.node == 0) {
        return failWith({ErrorCode::InvalidInput, "--prompt needs --node N: name the node"}, options.json);
    }
    const bool alone = options.source || options.ptx || options.sass;
    if (alone && options.node == 0 && options.pair.empty()) {
        return failWith(
            {ErrorCode::InvalidInput, fmt::format("{} needs --node N: name the candidate", options.source ? "--source"
                                                                                           : options.sass ? "--sass"
                                                                                                          : "--ptx")},
            options.json);
    }
    const auto reader = readSession(options.session);
    if (!reader) {
        return failWith(reader.error(), options.json);
    }
    if (!options.pair.empty()) {
        return showPair(*reader, options);
    }
    if (options.node != 0) {
        return showNode(*reader, options);
    }
    const auto acts = reader->acts();
    if (!acts) {
        return failWith(acts.error(), options.json);
    }
    if (options.json) {
        Json nodes = Json::array();
        for (const auto& [id, node] : reader->book().nodes()) {
            nodes.push_back(nodeJson(node));
        }
        Json did = Json::array();
        for (const StoredAct& act : *acts) {
            did.push_back({{"at", act.at}, {"author", act.author}, {"act", actInWords(act.what)}});
        }
        const auto standing = standingJson(*reader);
        if (!standing) {
            return failWith(standing.error(), true);
        }
        Json json = {{"session", sessionJson(*reader)}, {"nodes", nodes}, {"acts", did}};
        json.update(*standing);
        printJson(json);
        return exitOk;
    }
    const SessionInfo& info = reader->info();
    print(fmt::format("{}: task {} on {}, {}", info.file, info.taskId, deviceText(info),
                      durationText(reader->secondsSpent())));
    print(reader->book().counts().inWords());
    if (reader->spending().requests > 0) {
        print(fmt::format("models: {}", spendingText(reader->spending())));
    }
    if (options.tree) {
        printTree(reader->book(), std::nullopt, 0);
    } else if (const auto best = reader->book().best()) {
        print(fmt::format("best: {}", treeLine(*reader->book().find(*best))));
    }
    const auto standing = standingLines(*reader);
    const auto remarks = reader->remarks();
    if (!standing || !remarks) {
        return failWith(standing ? remarks.error() : standing.error(), false);
    }
    for (const std::string& remark : *remarks) {
        print(remark);
    }
    for (const std::string& line : *standing) {
        print(line);
    }
    for (const StoredAct& act : *acts) {
        print(fmt::format("{} {}: {}", act.at, act.author, actInWords(act.what)));
    }
    return exitOk;
}

} // namespace espalier::ctl
