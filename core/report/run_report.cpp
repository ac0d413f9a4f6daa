// SPDX-License-Identifier: Apache-2.0
#include "core/report/run_report.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/diff/text_diff.h"
#include "core/model/node_text.h"
#include "core/report/progress_curve.h"
#include "core/report/report_text.h"
#include "core/search/act_words.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace espalier {
namespace {

constexpr std::size_t mostFailures = 40; ///< rows; the counts stand above them

std::string ratioText(const std::optional<Interval>& ratio, const NodeSummary& node)
{
    return ratio ? speedupText(*ratio, node.provenance.value_or(Provenance::Model)) : "-";
}

/// The best may owe its place to a person's word: the table says so.
std::string kernelText(const NodeSummary& node)
{
    const std::string name = fmt::format("node {} \"{}\"", node.id.value, node.title);
    return node.overturned ? fmt::format("{}, {}", name, verdictText(node)) : name;
}

/// The cases that a node's time is of.
std::string casesText(const Result<NodeDetail>& node)
{
    std::string text;
    if (node && node->evaluation.timing) {
        for (const CaseTiming& timing : node->evaluation.timing->cases) {
            text += (text.empty() ? "" : ", ") + timing.caseId;
        }
    }
    return text.empty() ? "-" : text;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between)
{
    return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, between));
}

/// What a session remembers of a model, in words.
std::string modelText(const std::string& record)
{
    const Json profile = parseJson(record, "model").value_or(Json());
    const auto field = [&profile](const char* name) {
        return profile.is_object() && profile.contains(name) && profile[name].is_string()
                   ? profile[name].get<std::string>()
                   : std::string();
    };
    const std::string name = field("name"), model = field("model").empty() ? field("command") : field("model");
    return name.empty() || name == model ? fmt::format("{} ({})", model, field("provider"))
                                         : fmt::format("{}: {} ({})", name, model, field("provider"));
}

std::string budgetText(const Budget& budget)
{
    std::string text;
    const auto add = [&text](std::string part) { text += (text.empty() ? "" : ", ") + part; };
    if (budget.evaluations) {
        add(fmt::format("{} evaluations", *budget.evaluations));
    }
    if (budget.seconds) {
        add(fmt::format("{:g} s", *budget.seconds));
    }
    if (budget.usd) {
        add(fmt::format("{:g} USD", *budget.usd));
    }
    if (budget.tokens) {
        add(fmt::format("{} tokens", *budget.tokens));
    }
    return text.empty() ? "none" : text;
}

std::string rulesText(const Budget& budget)
{
    std::string text;
    const auto add = [&text](std::string part) { text += (text.empty() ? "" : ", ") + part; };
    if (budget.target) {
        add(fmt::format("{:g}x over the incumbent (the root without one)", *budget.target));
    }
    if (budget.roofPercent) {
        add(fmt::format("within {:g} % of the goal floor", *budget.roofPercent));
    }
    if (budget.plateau) {
        add(fmt::format("{} evaluations without a new best", *budget.plateau));
    }
    return text.empty() ? "none" : text;
}

class Writer
{
public:
    Writer(const ReportInput& input, const std::filesystem::path& folder) : m_input(input), m_folder(folder) {}

    Result<std::vector<std::string>> run()
    {
        std::error_code error;
        std::filesystem::create_directories(m_folder, error);
        if (error) {
            return fail(ErrorCode::Io,
                        fmt::format("The folder {} cannot be made: {}", m_folder.string(), error.message()));
        }
        const SessionInfo& info = m_input.info;
        const std::string title = fmt::format("Search on {}", info.taskId);
        m_text.heading(1, title);
        m_text.paragraph(
            fmt::format("{} on {}. {}", info.taskTitle, info.deviceName.empty() ? info.device : info.deviceName,
                        info.provenance == Provenance::Model
                            ? "All times are modelled, not measured, and marked ≈."
                            : "Times are medians with 95 % intervals; speed-ups are over the task's root kernel, "
                              "paired by block."));
        result();
        ESPALIER_CHECK(lineage());
        ESPALIER_CHECK(curves());
        failures();
        acts();
        settings();
        ESPALIER_CHECK(write("report.md", m_text.markdown()));
        ESPALIER_CHECK(write("report.html", m_text.html(title)));
        return std::move(m_files);
    }

private:
    Result<void> write(const std::string& name, std::string_view content)
    {
        const std::filesystem::path file = m_folder / name;
        ESPALIER_CHECK(writeFileAtomically(file, content));
        m_files.push_back(file.string());
        return {};
    }

    static std::string remarkOf(const NodeSummary& node)
    {
        return std::string(node.timedElsewhere ? " (on another device of the kind)" : "") +
               (node.olderEdition ? " (earlier edition of the task)" : "");
    }

    void result()
    {
        m_text.heading(2, "Result");
        std::vector<std::vector<std::string>> rows;
        const auto add = [&](const char* what, const std::function<bool(const NodeSummary&)>& among) {
            if (const auto best = m_input.book.headline(among)) {
                const NodeSummary* node = m_input.book.find(*best);
                const Provenance provenance = node->provenance.value_or(Provenance::Model);
                rows.push_back({what, kernelText(*node), node->proposer, casesText(m_input.detail(*best)),
                                node->timeUs ? timeText(node->timeUs->value, provenance) + remarkOf(*node) : "-",
                                ratioText(node->speedupRoot, *node), ratioText(node->speedupIncumbent, *node),
                                node->measuredAgain ? "yes" : "no"});
            }
        };
        add("author's best (playbook)", [](const NodeSummary& node) { return node.proposer == "playbook"; });
        add("best found by search",
            [](const NodeSummary& node) { return node.proposer != "playbook" && node.proposer != "engineer"; });
        add("engineer's best", [](const NodeSummary& node) { return node.proposer == "engineer"; });
        if (rows.empty()) {
            m_text.paragraph("No candidate passed.");
        } else {
            m_text.table({"", "kernel", "by", "case", "time", "over the root", "over the incumbent", "measured again"},
                         rows);
        }
        m_text.paragraph(fmt::format("{}, in {:.0f} s; {} tokens, {:.4f} USD for models.",
                                     m_input.book.counts().inWords(), m_input.seconds, m_input.tokens, m_input.usd));
        for (const std::string& remark : m_input.remarks) {
            m_text.paragraph(remark);
        }
        if (m_input.idleShare) {
            m_text.paragraph(
                fmt::format("The device had nothing to judge in {:.0f} % of the time since it was first asked.",
                            100 * *m_input.idleShare));
        }
    }

    Result<void> lineage()
    {
        const auto best = m_input.book.headline();
        m_text.heading(2, "How the best came about");
        if (!best || *best == taskRoot) {
            m_text.paragraph("Nothing is faster than the root kernel.");
            return {};
        }
        std::vector<NodeId> chain;
        for (const NodeSummary* node = m_input.book.find(*best); node;
             node = node->parents.empty() ? nullptr : m_input.book.find(node->parents.front().parent)) {
            if (node->kind != NodeKind::Idea) {
                chain.push_back(node->id);
            }
        }
        std::reverse(chain.begin(), chain.end());
        for (std::size_t i = 0; i < chain.size(); ++i) {
            ESPALIER_TRY(const NodeDetail node, m_input.detail(chain[i]));
            m_text.heading(3, fmt::format("{}. Node {}: {}", i + 1, node.summary.id.value, node.summary.title));
            if (!node.ideaText.empty()) {
                m_text.paragraph(fmt::format("{} (by {})", node.ideaText, node.summary.proposer));
            }
            m_text.paragraph(fmt::format("{} over the root, {} over its parent.",
                                         ratioText(node.summary.speedupRoot, node.summary),
                                         ratioText(node.summary.speedupParent, node.summary)));
            if (node.summary.overturned) {
                m_text.paragraph(fmt::format("Its verdict: {}.", verdictText(node.summary)));
            }
            if (i > 0) {
                const TextDiff diff = diffTexts(node.parentSource, node.source);
                m_text.code("diff",
                            unifiedText(diff, node.parentSource, node.source,
                                        fmt::format("node {}", node.parentCandidate ? node.parentCandidate->value : 0),
                                        fmt::format("node {}", node.summary.id.value)));
            }
        }
        return {};
    }

    Result<void> curves()
    {
        const std::vector<ProgressPoint> points = progressOf(m_input.book, m_input.deviceSeconds);
        m_text.heading(2, "Best so far");
        const ProgressPoint end = points.empty() ? ProgressPoint{} : points.back();
        ESPALIER_CHECK(curve(points, ProgressAxis::Evaluations, "best_by_evaluations.svg", "evaluations"));
        if (end.usd > 0) {
            ESPALIER_CHECK(curve(points, ProgressAxis::Usd, "best_by_cost.svg", "money for models"));
        }
        if (end.deviceSeconds > 0) {
            ESPALIER_CHECK(curve(points, ProgressAxis::DeviceSeconds, "best_by_device_time.svg", "time of the device"));
        }
        std::vector<std::vector<std::string>> rows;
        for (const ProgressPoint& point : points) {
            if (point.improved) {
                rows.push_back({std::to_string(point.evaluations), fmt::format("{:.1f}", point.deviceSeconds),
                                fmt::format("{:.4f}", point.usd),
                                fmt::format("node {} \"{}\"", point.node.value, m_input.book.find(point.node)->title),
                                speedupText({point.best, point.best, point.best}, m_input.info.provenance)});
            }
        }
        if (!rows.empty()) {
            m_text.table({"evaluations", "device, s", "USD", "kernel", "best"}, rows);
        }
        return {};
    }

    Result<void> curve(const std::vector<ProgressPoint>& points, ProgressAxis axis, const char* file,
                       const char* against)
    {
        const std::string svg = progressSvg(points, axis, m_input.info.provenance);
        ESPALIER_CHECK(write(file, svg));
        m_text.picture(file, svg, fmt::format("Best speed-up over the root against {}", against));
        return {};
    }

    void failures()
    {
        m_text.heading(2, "What failed and why");
        std::map<std::string, std::size_t> counts;
        std::vector<std::vector<std::string>> rows;
        for (const auto& [id, node] : m_input.book.nodes()) {
            const bool failed =
                node.outcome != Outcome::Passed || node.overturned; // a person's "passed" is named here, too
            if (node.kind == NodeKind::Idea || node.state != NodeState::Done || !failed) {
                continue;
            }
            ++counts[outcomeText(node)];
            if (rows.size() < mostFailures) {
                rows.push_back(
                    {std::to_string(id.value), node.title, node.proposer, outcomeText(node), reasonText(node)});
            }
        }
        if (rows.empty()) {
            m_text.paragraph("Nothing failed.");
            return;
        }
        std::vector<std::string> items;
        std::size_t all = 0;
        for (const auto& [outcome, count] : counts) {
            items.push_back(fmt::format("{}: {}", outcome, count));
            all += count;
        }
        m_text.list(items);
        m_text.table({"node", "kernel", "by", "outcome", "reason"}, rows);
        if (all > rows.size()) {
            m_text.paragraph(fmt::format("And {} more: espalierctl show {} --tree lists them all.", all - rows.size(),
                                         shellWord(std::filesystem::absolute(m_input.info.file).string())));
        }
    }

    void acts()
    {
        if (m_input.acts.empty()) {
            return;
        }
        m_text.heading(2, "What the engineer did");
        std::vector<std::vector<std::string>> rows;
        for (const StoredAct& act : m_input.acts) {
            rows.push_back({act.at, act.author, actInWords(act.what)});
        }
        m_text.table({"when", "who", "what"}, rows);
    }

    void settings()
    {
        const SessionInfo& info = m_input.info;
        std::vector<std::string> models, bans;
        for (const std::string& record : info.models) {
            models.push_back(modelText(record));
        }
        for (const BannedTechnique& ban : m_input.bans) {
            bans.push_back(ban.predicate.empty() ? ban.text : fmt::format("{} ({})", ban.text, ban.predicate));
        }
        m_text.heading(2, "Settings");
        m_text.table({"setting", "value"},
                     {{"task", fmt::format("{} ({})", info.taskId, info.taskHash.substr(0, 16))},
                      {"edition of the task", info.edition > 0 ? std::to_string(info.edition) : "not kept"},
                      {"device", info.deviceName},
                      {"environment", info.epoch.substr(0, 16)},
                      {"strategy", info.strategy},
                      {"proposers", joined(info.proposers, ", ")},
                      {"models", joined(models, ", ")},
                      {"hints", joined(m_input.hints, "; ")},
                      {"bans", joined(bans, "; ")},
                      {"seed", fmt::format("{} (inputs are drawn from secret seeds of their own)", info.seed)},
                      {"incumbent", info.incumbent.empty() ? "the task's, else the root" : info.incumbent},
                      {"budget", budgetText(info.budget)},
                      {"enough at", rulesText(info.budget)},
                      {"started", info.createdAt}});
    }

    const ReportInput& m_input;
    std::filesystem::path m_folder;
    ReportText m_text;
    std::vector<std::string> m_files;
};

} // namespace

Result<std::vector<std::string>> writeReport(const ReportInput& input, const std::filesystem::path& folder)
{
    return Writer(input, folder).run();
}

} // namespace espalier
