// SPDX-License-Identifier: Apache-2.0
// Kernels that have their verdict and are judged once more: what reaches the front, winners at the end of a run, and
// what the engineer asks for.
#include "core/engine/engine_core.h"

#include "core/base/json.h"
#include "core/engine/device_change.h"
#include "core/search/editions.h"
#include "core/search/record_merge.h"
#include "core/search/renewed_figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::size_t winnersAtOnce = 2;
constexpr std::size_t mostWinners = 4; ///< when one after the other does not hold what it promised

PassStart passAgain(NodeDetail full, Again what)
{
    PassStart start{.node = full.summary.id, .source = std::move(full.source)};
    if (full.parentCandidate && *full.parentCandidate != taskRoot && !full.parentSource.empty()) {
        start.parentSource = std::move(full.parentSource);
    }
    start.soFar = std::move(full.evaluation);
    start.built = true;
    start.again = what;
    return start;
}

} // namespace

/// Something that reaches the best is timed with more care. False when it cannot be read.
bool EngineCore::timeFront(NodeId node)
{
    auto full = detail(node);
    if (!full) {
        return false;
    }
    m_pipeline->add(passAgain(std::move(*full), Again::Front));
    log(fmt::format("Node {} reaches the best: it is timed in the full tier.", node.value));
    return true;
}

/// The best of many noisy figures is flattered by its noise: the headline must come from a second measurement. True
/// when one was started. Modelled figures have no noise.
bool EngineCore::measureWinners()
{
    const auto best = m_book.best();
    const NodeSummary* first = best ? m_book.find(*best) : nullptr;
    const bool outdated = first && first->olderEdition; // judged by a gate that does not stand any more
    const bool noisy = m_journal.info().provenance == Provenance::Measured;
    const auto anew = DeviceChange::toTimeAnew(m_journal.store());
    const auto due = [&](const NodeSummary& node) {
        return node.olderEdition ||
               (noisy && m_winners < mostWinners && (!node.measuredAgain || (anew && anew->contains(node.id))));
    };
    if (!first || *best == taskRoot || !due(*first)) {
        return false;
    }
    bool started = false;
    for (const NodeId id : m_book.winners(winnersAtOnce)) {
        if (!due(*m_book.find(id)) || !m_measuredAgain.insert(id).second) {
            continue;
        }
        if (auto full = detail(id)) {
            m_pipeline->add(passAgain(std::move(*full), Again::Winner));
            ++m_winners;
            started = true;
        }
    }
    if (started) {
        log(outdated ? "What leads was judged under an earlier edition of the task: it is verified and timed again."
                     : "The winners are measured again on new inputs, in the full tier.");
        m_pipeline->setLaunching(true, 0);
        m_pipeline->pump();
    }
    return started;
}

/// Where the task's edition has brought another root, and that one has its verdict: ratios are over it from now on.
Result<void> EngineCore::renewRatios()
{
    Store& store = m_journal.store();
    ESPALIER_TRY(const auto before, editions::rootOfRatios(store));
    const NodeSummary* root = m_book.find(taskRoot);
    if (!before || !root || root->state != NodeState::Done || root->outcome != Outcome::Passed) {
        return {};
    }
    ESPALIER_TRY(const editions::Since holding, editions::since(store));
    ESPALIER_TRY(std::vector<StoredStage> stages, store.stages(taskRoot));
    const auto now = std::stable_partition(stages.begin(), stages.end(),
                                           [&](const StoredStage& stage) { return stage.edition < holding.root; });
    renewed_figures::Renewed renewed;
    ESPALIER_CHECK(store.together([&]() -> Result<void> {
        ESPALIER_TRY(renewed,
                     renewed_figures::overRoot(store, mergeRecords({now, stages.end()}, std::nullopt).evaluation,
                                               mergeRecords({stages.begin(), now}, std::nullopt).evaluation));
        return editions::ratiosRenewed(store);
    }));
    for (const auto& [node, evaluation] : renewed) {
        m_book.finished(node, evaluation);
        m_planner->onMeasuredAgain(node, evaluation, 0);
    }
    ESPALIER_TRY(const auto outdated, editions::outdated(store));
    for (const NodeId node : outdated) {
        m_book.setOlderEdition(node);
    }
    ESPALIER_CHECK(DeviceChange::mark(store, m_book));
    log(fmt::format("The task's new root has its time: the ratios of {} kernels are over it now.", renewed.size()));
    return {};
}

/// The session is on another device of its kind than before, which the root's time there will say more of.
Result<void> EngineCore::beginOnAnother()
{
    Store& store = m_journal.store();
    ESPALIER_TRY(const auto timed, store.devicesOfNodes());
    if (timed.empty()) {
        return {}; // nothing is from before
    }
    ESPALIER_TRY(DeviceChange change, DeviceChange::read(store));
    const NodeSummary* root = m_book.find(taskRoot);
    change.begin(m_journal.info().deviceUuid,
                 root && root->state == NodeState::Done ? root->timeUs : std::nullopt); // else it is another root's
    return change.write(store);
}

void EngineCore::timeRootOnAnother()
{
    const auto change = DeviceChange::read(m_journal.store());
    const NodeSummary* root = m_book.find(taskRoot);
    if (!change || !change->awaited() || root->state != NodeState::Done || root->outcome != Outcome::Passed ||
        m_pipeline->judgedAgain(taskRoot)) {
        return;
    }
    if (auto full = detail(taskRoot)) {
        m_pipeline->add(passAgain(std::move(*full), Again::Time));
        log("This is another device of the same kind: the root is timed here once, earlier figures are kept.");
    }
}

/// `again`: it had a verdict before. Else it is another root, or another gate, than on the device before.
void EngineCore::rootMeasured(const Evaluation& evaluation, bool again)
{
    const std::string& here = m_journal.info().deviceUuid;
    auto change = DeviceChange::read(m_journal.store());
    if (!change || !change->awaited() || !evaluation.timing || !evaluation.timing->objectiveUs ||
        !DeviceChange::names(here, evaluation.timing->device)) { // of before: only its verdict was looked at here
        return;
    }
    change->measured(here, *evaluation.timing->objectiveUs, again);
    const auto kept = change->write(m_journal.store());
    const auto marked = kept ? DeviceChange::mark(m_journal.store(), m_book) : kept;
    if (!marked) {
        return pause(marked.error().message);
    }
    if (!change->sentence().empty()) {
        log(change->sentence());
    }
}

/// Verdicts may be asked for again wherever a kernel was built; figures only where it passed.
Result<void> EngineCore::judgeAgain(const command::JudgeAgain& command)
{
    ESPALIER_TRY(NodeDetail full, detail(command.node));
    const NodeSummary node = full.summary;
    const auto no = [](std::string sentence) { return fail(ErrorCode::InvalidInput, std::move(sentence)); };
    if (m_state == RunState::Pausing) {
        return no("The run is pausing: ask again when what runs has ended.");
    }
    if (m_pipeline->judgedAgain(node.id)) {
        return no(fmt::format("Node {} is being judged again already.", node.id.value));
    }
    const bool built = node.state == NodeState::Done && full.evaluation.build && !full.evaluation.build->key.empty() &&
                       full.evaluation.outcome != Outcome::BuildFailed;
    if (node.kind == NodeKind::Idea || !built) {
        return no(fmt::format("Node {} has no verdict yet that could be looked at again: only kernels that were built "
                              "and judged can.",
                              node.id.value));
    }
    if (command.what != Again::Verify && full.evaluation.outcome != Outcome::Passed && node.overturned) {
        return no(fmt::format("Node {} passes by hand only: to the judge its outputs are wrong, and it times or "
                              "profiles nothing wrong. If they are right, "
                              "the task's tolerance is what to change.",
                              node.id.value));
    }
    if (command.what != Again::Verify && full.evaluation.outcome != Outcome::Passed) {
        return no(fmt::format(
            "Node {} did not pass: verify it again first, a rejected kernel is not timed or profiled.", node.id.value));
    }
    if (m_journal.info().epoch != full.evaluation.epoch && !m_journal.info().epoch.empty() &&
        command.what == Again::Profile) {
        return no(fmt::format("Node {} was measured in another environment: time it again first.", node.id.value));
    }
    ESPALIER_CHECK(m_acts.perform(
        {{"act", "judge-again"}, {"node", node.id.value}, {"what", std::string(nameOf(command.what))}}, {}));
    const NodeId id = node.id;
    const bool alone = m_state != RunState::Running;
    if (alone) {
        const Errand errand{m_state, m_why, m_byEngineer};
        resumeRun(StepLimit::nothing());
        if (m_state != RunState::Running) {
            return {}; // no judge, or the store fails: it has been said
        }
        m_errand = errand;
        m_winding = Planner::State::Limited; // nothing but this is started
    }
    // A gate that has changed is looked at whole: times of the old one do not stand beside the new verdict.
    // So is a root that is to be timed here anyway, which a run that begins has ordered.
    const bool whole = (node.olderEdition && node.outcome == Outcome::Passed) ||
                       (m_pipeline->judgedAgain(id) && command.what == Again::Verify);
    const Again what = whole ? Again::Time : command.what;
    m_pipeline->add(passAgain(std::move(full), what));
    log(fmt::format("Node {} is judged again ({}).", id.value, nameOf(what)));
    return {};
}

/// What was asked for is done: the session stands where it stood.
void EngineCore::endErrand()
{
    const Errand errand = std::move(*std::exchange(m_errand, std::nullopt));
    m_winding.reset();
    m_pipeline->setLaunching(false, 0);
    m_clock.stop();
    saveTime(true);
    m_byEngineer = errand.byEngineer;
    enterState(errand.state, errand.why);
    reportChanges(true);
}

} // namespace espalier
