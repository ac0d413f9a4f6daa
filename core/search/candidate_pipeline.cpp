// SPDX-License-Identifier: Apache-2.0
#include "core/search/candidate_pipeline.h"

#include "core/search/node_payload.h"
#include "core/search/program_identity.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

JudgeLosses keptLosses(Store& store)
{
    const auto kept = store.value(JudgeLosses::key);
    return JudgeLosses::parse(kept ? kept->value_or("") : std::string());
}

} // namespace

CandidatePipeline::CandidatePipeline(Setup setup, SessionJournal& journal, NodeBook& book, BuildPool& pool)
    : m_setup(std::move(setup)), m_heldTask(m_setup.task), m_journal(journal), m_book(book),
      m_shelf(pool, m_setup.task, m_setup.architecture, m_setup.builders),
      m_rootOrder{SourceRole::Candidate, m_setup.task->root.text, {}}, m_losses(keptLosses(journal.store()))
{
    m_references.push_back(
        {"oracle", {SourceRole::Oracle, m_setup.task->oracle.source.text, {}}, "", std::nullopt, false});
    if (m_setup.incumbent) {
        const Incumbent& incumbent = *m_setup.incumbent;
        m_references.push_back(
            {incumbent.name, {SourceRole::Incumbent, incumbent.source, {}}, "", incumbent.library, false});
    }
    if (m_setup.withBaselines) {
        for (const Baseline& baseline : m_setup.task->baselines) {
            m_references.push_back({baseline.id,
                                    {SourceRole::Baseline, baseline.source.text, baseline.libraries},
                                    "",
                                    std::nullopt,
                                    false});
        }
    }
    for (Reference& reference : m_references) {
        reference.key = reference.order.key();
    }
}

void CandidatePipeline::add(PassStart start)
{
    Pass pass;
    pass.order = {SourceRole::Candidate, start.source, {}};
    pass.key = pass.order.key();
    pass.host = hostIdentity(start.source);
    for (const std::string& source : start.foreseen) {
        pass.foreseen.push_back({SourceRole::Candidate, source, {}});
    }
    const NodeId node = start.node;
    pass.start = std::move(start);
    m_passes.insert_or_assign(node, std::move(pass));
}

void CandidatePipeline::endWithoutSource(NodeId node, std::string reason)
{
    Evaluation evaluation;
    evaluation.cause = NotRunCause::NoSource;
    evaluation.stage = Stage::Generate;
    evaluation.reason = std::move(reason);
    evaluation.epoch = m_setup.epoch;
    record({node, std::move(evaluation), 0, true});
}

void CandidatePipeline::setEvaluator(Evaluator* evaluator)
{
    for (const auto& [id, node] : m_judging) {
        if (Pass* pass = judged(id)) {
            pass->step = Step::Built;
            m_book.returnedToQueue(node);
        }
    }
    m_judging.clear();
    m_judgeFaults.forget();
    m_evaluator = evaluator;
}

void CandidatePipeline::setLaunching(bool launching, std::int64_t allowance, OwnKernels own)
{
    m_launching = launching;
    m_allowance = allowance;
    m_own = own;
    if (!launching) {
        cancelAhead();
    }
}

void CandidatePipeline::pump()
{
    startBuilds();
    startJudging();
    buildAhead(); // last: only what nobody needs a builder for
}

// --- records -----------------------------------------------------------------------------------------------------

void CandidatePipeline::record(Unwritten item)
{
    if (m_unwritten.empty()) {
        const auto result = write(item);
        if (result) {
            return written(item);
        }
        trouble(result.error());
    }
    m_unwritten.push_back(std::move(item)); // behind what waits already: the order of records is their meaning
}

Result<void> CandidatePipeline::write(Unwritten& item)
{
    if (!item.stageWritten) {
        ESPALIER_CHECK(m_journal.addStage(item.node, item.record, item.seconds));
        item.stageWritten = true;
    }
    if (item.ends) {
        ESPALIER_TRY(std::optional<StoredNode> node, m_journal.store().node(item.node));
        if (node) {
            node->state = NodeState::Done;
            EndedRecord ended = EndedRecord::of(item.record, node->source);
            if (const auto before = NodePayload::parse(node->payload).ended; item.again && before) {
                ended.deviceSeconds += before->deviceSeconds;
            }
            node->payload = NodePayload::withEnded(node->payload, ended);
            ESPALIER_CHECK(m_journal.updateNode(*node));
        }
    }
    return {};
}

void CandidatePipeline::written(const Unwritten& item)
{
    if (!item.ends) {
        return;
    }
    m_book.finished(item.node, item.record);
    if (item.record.outcome != Outcome::NotRun && item.record.build) {
        knowProgram(item.record.build->program, item.node);
    }
    m_passes.erase(item.node);
    if (m_losses.settled(item.node)) {
        keepLosses();
    }
    m_events.push_back(pipeline::Ended{item.node, item.record, item.again});
    if (item.again) {
        return;
    }
    if (item.node != taskRoot) {
        const NotRunCause cause = item.record.cause;
        m_allowance -= cause == NotRunCause::NoSource || cause == NotRunCause::Cancelled ? 0 : 1;
    } else if (item.record.outcome != Outcome::Passed) {
        broken(fmt::format("The root kernel of task {} does not pass ({}): {}", m_setup.task->id,
                           nameOf(item.record.outcome), item.record.reason));
    }
}

void CandidatePipeline::flush()
{
    while (!m_unwritten.empty()) {
        if (const auto result = write(m_unwritten.front()); !result) {
            return trouble(result.error());
        }
        const Unwritten item = std::move(m_unwritten.front());
        m_unwritten.erase(m_unwritten.begin());
        written(item);
    }
}

void CandidatePipeline::trouble(Error error)
{
    setLaunching(false, 0);
    m_events.push_back(pipeline::Trouble{std::move(error)});
}

void CandidatePipeline::broken(std::string message)
{
    setLaunching(false, 0);
    m_events.push_back(pipeline::Broken{{ErrorCode::InvalidInput, std::move(message)}});
}

// --- state -------------------------------------------------------------------------------------------------------

void CandidatePipeline::toQueue(Pass& pass)
{
    pass.step = Step::Queued;
    m_book.returnedToQueue(pass.start.node);
}

/// It has its figures already: it is no longer on its way.
void CandidatePipeline::forgetAgain(NodeId node, const std::string& why)
{
    m_passes.erase(node);
    m_book.returnedToQueue(node);
    m_book.setState(node, NodeState::Done);
    if (!why.empty()) {
        m_events.push_back(pipeline::Note{
            fmt::format("Node {} could not be judged again and keeps its verdict and figures: {}", node.value, why)});
    }
}

void CandidatePipeline::forgetAgain()
{
    std::vector<NodeId> waiting;
    for (const auto& [node, pass] : m_passes) {
        if (pass.start.again && pass.step != Step::Judging) {
            waiting.push_back(node);
        }
    }
    for (const NodeId node : waiting) {
        forgetAgain(node, "");
    }
}

bool CandidatePipeline::judgedAgain(NodeId node) const
{
    const auto found = m_passes.find(node);
    return found != m_passes.end() && found->second.start.again;
}

void CandidatePipeline::abandon()
{
    m_launching = false;
    m_ahead.clear();
    m_shelf.cancelAll();
    m_buildFaults.end();
    for (const auto& [id, node] : m_judging) {
        if (m_evaluator) {
            m_evaluator->cancel(id);
        }
    }
    m_judging.clear();
    m_judgeFaults.forget();
    for (auto& [node, pass] : m_passes) {
        if (pass.step != Step::Queued) {
            toQueue(pass);
        }
    }
    forgetAgain();
}

std::vector<pipeline::Event> CandidatePipeline::take()
{
    return std::exchange(m_events, {});
}

bool CandidatePipeline::quiet() const
{
    return m_shelf.running() == static_cast<int>(m_ahead.size()) && m_judging.empty();
}

bool CandidatePipeline::idle() const
{
    return quiet() && m_unwritten.empty() && m_events.empty() && !awaitsBuilder();
}

int CandidatePipeline::building() const
{
    return m_shelf.running();
}

int CandidatePipeline::waiting() const
{
    return static_cast<int>(std::count_if(m_passes.begin(), m_passes.end(),
                                          [](const auto& entry) { return entry.second.step == Step::Built; }));
}

bool CandidatePipeline::hasCandidates() const
{
    return std::any_of(m_passes.begin(), m_passes.end(), [this](const auto& entry) {
        return entry.first != taskRoot && !entry.second.start.again && !m_book.pruned(entry.first);
    });
}

std::int64_t CandidatePipeline::active() const
{
    return std::count_if(m_passes.begin(), m_passes.end(), [this](const auto& entry) {
        const Step step = entry.second.step;
        return entry.first != taskRoot && !entry.second.start.again &&
               (step == Step::Building || step == Step::Judging ||
                (step == Step::Built && !m_book.pruned(entry.first)));
    });
}

} // namespace espalier
