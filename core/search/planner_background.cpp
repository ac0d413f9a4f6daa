// SPDX-License-Identifier: Apache-2.0
// What proposers that write prompts are told: consumed outcomes only.
#include "core/search/planner.h"

#include "core/analysis/diagnosis.h"
#include "core/base/text.h"
#include "core/model/metric.h"
#include "core/model/node_text.h"
#include "core/search/editions.h"
#include "core/search/record_merge.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::size_t fastExemplars = 2;
constexpr std::size_t mostOpenIdeas = 24; ///< under other parents

bool isFailure(Outcome outcome)
{
    return outcome != Outcome::Passed && outcome != Outcome::NotRun;
}

/// What the rules find, then the figures themselves; stall reasons are in the former.
std::string diagnosisOf(const Evaluation& evaluation)
{
    std::string text;
    for (const std::string& line : diagnosisLines(evaluation)) {
        text += fmt::format("- {}\n", line);
    }
    std::string figures;
    for (const MetricValue& metric : evaluation.metrics) {
        if (metric.value != 0 && !metric.id.starts_with("stall_")) {
            const Metric* known = findMetric(metric.id);
            figures += fmt::format("- {}: {}{} ({})\n", known ? known->name : metric.id, signOf(metric.provenance),
                                   metricText(metric.id, metric.value),
                                   metric.provenance == Provenance::Model ? "modelled" : "measured");
        }
    }
    return text.empty() || figures.empty() ? text + figures : text + "\nOf one call:\n\n" + figures;
}

} // namespace

KnownTry Planner::knownTry(const TreeNode& node) const
{
    KnownTry known;
    known.node = node.id;
    known.parent = m_tree.parentCandidate(node.id);
    known.title = node.title;
    known.proposer = node.proposer;
    const auto payload = m_payloads.find(node.id);
    known.payload = payload == m_payloads.end() ? std::string() : payload->second;
    known.outcome = node.verdict->outcome;
    known.reason = m_book.find(node.id)->reason;
    known.provenance = m_book.find(node.id)->provenance.value_or(Provenance::Model);
    known.score = m_tree.score(node.id);
    known.parentScore = known.parent ? m_tree.score(*known.parent) : std::nullopt;
    if (m_setup.exchanges) {
        const Spending spending = m_setup.exchanges->of(node.id);
        known.tokens = spending.tokens();
        known.usd = spending.unpriced > 0 ? std::nullopt : std::optional(spending.usd);
    }
    return known;
}

/// Of the implementations of an idea before this one, repaired ones too, the fastest that passed; the oldest among
/// equals.
Result<std::optional<RefinedTry>> Planner::refinedTry(NodeId idea, NodeId before)
{
    std::optional<Ranked> best;
    for (const NodeId child : m_tree.at(idea).children) {
        const auto score = child < before && m_tree.isParent(child) ? m_tree.score(child) : std::nullopt;
        if (score && (!best || *score > best->weight)) {
            best = Ranked{*score, child};
        }
    }
    if (!best) {
        return std::nullopt;
    }
    ESPALIER_TRY(const StoredNode node, stored(best->id));
    ESPALIER_TRY(Evaluation evaluation, evaluationOf(best->id));
    std::string diagnosis = diagnosisOf(evaluation);
    return RefinedTry{best->id, node.title, node.source, std::move(evaluation), best->weight, std::move(diagnosis)};
}

Result<LessonsContext> Planner::lessonsContext()
{
    LessonsContext context{m_setup.task, m_setup.seed, taskRoot, nullptr};
    ESPALIER_TRY(context.background, background(taskRoot));
    return context;
}

Result<Evaluation> Planner::evaluationOf(NodeId node)
{
    ESPALIER_TRY(const std::vector<StoredStage> stages, editions::stagesOf(m_journal.store(), node));
    return mergeRecords(stages, std::nullopt).evaluation;
}

Result<std::shared_ptr<const Background>> Planner::background(NodeId parent)
{
    auto background = std::make_shared<Background>();
    background->deviceSheet = m_setup.deviceSheet;
    background->lessons = m_setup.lessons;
    background->hints = hintsForPrompts();
    background->attachments = m_attachments;
    background->bestScore = m_tree.bestScore();
    background->parentPinned = m_tree.at(parent).pinned;
    for (const auto& [id, node] : m_tree.nodes()) {
        if (node.kind == NodeKind::Idea && node.parent == parent) {
            ESPALIER_TRY(const StoredNode idea, stored(id));
            background->ideas.push_back({id, node.parent, node.title, idea.ideaText});
        } else if (node.kind == NodeKind::Candidate && node.verdict) {
            background->tried.push_back(knownTry(node));
        }
    }
    ESPALIER_CHECK(addOpenIdeas(*background, parent));
    ESPALIER_TRY(background->parentEvaluation, evaluationOf(parent));
    background->diagnosis = diagnosisOf(background->parentEvaluation);
    ESPALIER_TRY(background->exemplars, exemplars(parent, background->tried));
    return background;
}

/// What waits under other parents, the most promising of it: nobody need think of it again. A tuner's series say
/// nothing to a model.
Result<void> Planner::addOpenIdeas(Background& background, NodeId parent)
{
    std::size_t left = mostOpenIdeas;
    for (const bool series : {false, true}) {
        for (const Ranked& open : m_tree.openIdeas(series)) {
            const TreeNode& node = m_tree.at(open.id);
            if (left == 0) {
                break;
            }
            if (node.parent == parent || (series && !node.oneByOne)) {
                continue;
            }
            --left;
            ESPALIER_TRY(const StoredNode idea, stored(open.id));
            background.ideas.push_back({open.id, node.parent, node.title, idea.ideaText});
        }
    }
    std::sort(background.ideas.begin(), background.ideas.end(),
              [](const KnownIdea& a, const KnownIdea& b) { return a.node < b.node; });
    return {};
}

/// The fastest ones beside the parent, and one to contrast: what failed, or was slowest, under the same parent.
Result<std::vector<Exemplar>> Planner::exemplars(NodeId parent, const std::vector<KnownTry>& tried)
{
    std::vector<const KnownTry*> fast;
    const KnownTry* contrast = nullptr;
    for (const KnownTry& one : tried) {
        if (one.node == parent) {
            continue;
        }
        if (one.score && !m_tree.at(one.node).banned) {
            fast.push_back(&one);
        }
        const bool slower = one.score && one.parentScore && *one.score < *one.parentScore;
        if (one.parent == parent && (slower || isFailure(one.outcome))) {
            contrast = &one; // the newest
        }
    }
    std::stable_sort(fast.begin(), fast.end(),
                     [](const KnownTry* a, const KnownTry* b) { return *a->score > *b->score; });
    std::erase_if(fast, [](const KnownTry* one) { return *one->score <= 1; }); // nothing to learn from those, but below
    fast.resize(std::min(fast.size(), fastExemplars));
    if (contrast && std::find(fast.begin(), fast.end(), contrast) == fast.end()) {
        fast.push_back(contrast);
    }
    std::vector<Exemplar> result;
    for (const KnownTry* one : fast) {
        ESPALIER_TRY(const StoredNode node, stored(one->node));
        if (node.source.empty()) {
            continue;
        }
        Exemplar exemplar{one->node,
                          one->title,
                          node.source,
                          one->outcome,
                          one->outcome == Outcome::Passed ? std::string() : one->reason,
                          one->score,
                          "",
                          one->provenance};
        const NodeSummary* summary = m_book.find(one->node);
        if (one->score && summary->timeUs) {
            exemplar.times =
                fmt::format("- objective: {} ({})\n",
                            timeText(summary->timeUs->value, summary->provenance.value_or(Provenance::Model)),
                            summary->provenance == Provenance::Measured ? "measured" : "modelled");
        }
        result.push_back(std::move(exemplar));
    }
    return result;
}

} // namespace espalier
