// SPDX-License-Identifier: Apache-2.0
// The engine's device: which judge, which epoch, and what happens when it is lost.
#include "core/engine/device_change.h"
#include "core/engine/device_facts.h"
#include "core/engine/device_sheet.h"
#include "core/engine/engine_core.h"
#include "core/engine/epoch.h"

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr double lossWindowSeconds = 60;

} // namespace

/// Everything that a run needs: true when it is there. Otherwise the run has ended with its reason.
bool EngineCore::ready()
{
    if (!m_evaluator && !startJudge()) {
        return false;
    }
    const NodeSummary* root = m_book.find(taskRoot);
    if (root->state == NodeState::Done && root->outcome != Outcome::Passed) {
        failRun(fmt::format("The root kernel of task {} does not pass ({}): {}", m_task->id, nameOf(root->outcome),
                            root->reason));
        return false;
    }
    timeRootOnAnother(); // at every start: a pause may have dropped it
    return true;
}

/// A session that has run keeps its kind of device: modelled and measured figures do not mix.
std::string EngineCore::wantedDevice() const
{
    const SessionInfo& info = m_journal.info();
    const bool hasRun = !info.deviceName.empty();
    return info.device == "auto" && hasRun && info.provenance == Provenance::Model ? "sim" : info.device;
}

bool EngineCore::startJudge()
{
    auto started = m_parts.startJudge(wantedDevice());
    if (!started) {
        failRun(started.error().message);
        return false;
    }
    const JudgeHello hello = (*started)->hello();
    m_evaluator = std::move(*started);
    if (!acceptFrame(hello)) {
        return false;
    }
    m_losses.clear();
    m_pipeline->setEvaluator(m_evaluator.get());
    if (hello.sandbox.starts_with("none")) {
        log(fmt::format("The candidates run without a sandbox ({}): their evidence is of a lower grade.",
                        hello.sandbox));
    }
    return true;
}

bool EngineCore::acceptFrame(const JudgeHello& hello)
{
    SessionInfo info = m_journal.info();
    m_deviceSheet = deviceSheet(hello);
    const bool first = info.deviceName.empty();
    const std::string epoch = epochOf(hello, m_parts.toolkit(), *m_task, info.epoch);
    if (!first && hello.provenance() != info.provenance) {
        failRun(
            fmt::format("{} was measured on {}, and this machine offers {} only: go on where the device is, or start "
                        "a new session.",
                        info.file, info.deviceName, hello.deviceName));
        return false;
    }
    const bool same = !first && epoch == info.epoch && hello.deviceName == info.deviceName;
    const bool another = same && DeviceChange::isAnother(info.deviceUuid, hello.uuid);
    if (!same || hello.uuid != info.deviceUuid) {
        if (!first && !same) {
            log(fmt::format(
                "Device, driver, toolkit or flags have changed ({}): earlier figures are kept, and new ones "
                "are not ranked with them; the root is timed again.",
                hello.deviceName));
        }
        info.deviceName = hello.deviceName;
        info.deviceUuid = hello.uuid;
        info.provenance = hello.provenance();
        info.epoch = epoch;
        const auto kept = m_journal.together([&]() -> Result<void> {
            if (another) {
                ESPALIER_CHECK(beginOnAnother());
            }
            ESPALIER_CHECK(m_journal.store().setInfo(info)); // with the next one a single write
            return m_journal.setValue(DeviceFacts::key, DeviceFacts::of(hello, epoch).text());
        });
        if (!kept) {
            failRun(kept.error().message);
            return false;
        }
        tell(event::SessionOpened{info});
    }
    return rebuild({hello.provenance(), epoch}, hello.architecture);
}

/// Pipeline, planner and book anew from what is stored. False when that cannot be read: the engine is of no use then.
bool EngineCore::rebuild(const SearchFrame& frame, const std::string& architecture)
{
    Store& store = m_journal.store();
    const auto nodes = store.nodes(Store::Sources::Without);
    const std::int64_t firstRequest = m_planner ? m_planner->nextRequest() : 1; // late answers must not find new owners
    m_planner.reset();
    m_pipeline.reset();
    m_pool = m_parts.makeBuildPool(); // nothing of an earlier pipeline may answer this one
    m_book = NodeBook();
    CandidatePipeline::Setup setup;
    setup.task = m_task;
    setup.architecture = architecture;
    setup.epoch = frame.epoch;
    setup.builders = m_parts.builders;
    setup.profiling = m_parts.profiling;
    setup.incumbent = m_incumbent;
    setup.withBaselines = frame.provenance == Provenance::Measured;
    setup.simulated = frame.provenance == Provenance::Model;
    m_pipeline = std::make_unique<CandidatePipeline>(std::move(setup), m_journal, m_book, *m_pool);
    Planner::Setup planning{m_task, store.info().seed};
    planning.exchanges = &m_exchanges;
    planning.deviceSheet = m_deviceSheet;
    planning.lessons = m_parts.lessons ? m_parts.lessons() : std::string();
    planning.firstRequest = firstRequest;
    if (frame.provenance == Provenance::Measured) { // modelled figures have no noise
        planning.takeFullTime = [this](NodeId node) { return timeFront(node); };
    }
    m_planner = std::make_unique<Planner>(std::move(planning), *m_strategy, m_proposers, m_journal, m_acts, m_book,
                                          *m_pipeline);
    Result<void> restored = nodes ? m_planner->restore(*nodes, frame) : Result<void>();
    if (nodes && restored) {
        restored = DeviceChange::mark(store, m_book);
    }
    if (nodes && restored) { // a process may have ended between the root's verdict and this
        restored = renewRatios();
    }
    const Error* error = !nodes ? &nodes.error() : !restored ? &restored.error() : nullptr;
    if (!error) {
        m_exchanges.touchAll();
        takeSpending();
        return true;
    }
    enterState(RunState::Failed, error->message);
    m_closedBecause = *error;
    m_ended = true;
    return false;
}

/// A run that only ends, or only asks what it has taught, keeps no device waiting.
void EngineCore::observeDevice()
{
    const int judging = m_pipeline ? m_pipeline->judging() : 0;
    const bool running = (m_state == RunState::Running && !m_closing) || (m_state == RunState::Pausing && judging > 0);
    m_use.observe(running, judging, m_evaluator ? m_evaluator->lanes() : 1);
}

void EngineCore::receiveFromJudge()
{
    if (!m_evaluator) {
        return;
    }
    const Evaluator* judge = m_evaluator.get();
    for (const evaluator::Event& event : m_evaluator->receive()) {
        if (const auto* progress = std::get_if<evaluator::Progress>(&event)) {
            m_pipeline->onProgress(*progress);
        } else if (const auto* verified = std::get_if<evaluator::Verified>(&event)) {
            m_pipeline->onVerified(*verified);
        } else if (const auto* finished = std::get_if<evaluator::Finished>(&event)) {
            m_pipeline->onFinished(*finished);
        } else {
            onLost(std::get<evaluator::Lost>(event));
        }
        if (m_evaluator.get() != judge) {
            return;
        }
    }
}

/// The first time the judge comes back by itself and gets its candidate again; twice within a minute it parks, and
/// another one is started. Where the root cannot be run either, a person must look at the device.
void EngineCore::onLost(const evaluator::Lost& lost)
{
    const double now = m_clock.now();
    m_losses.push_back(now);
    while (now - m_losses.front() > lossWindowSeconds) {
        m_losses.pop_front();
    }
    log(lost.error.message);
    const bool rootToo = m_pipeline->onLost(lost);
    if (m_losses.size() < 2 && !rootToo) {
        return;
    }
    const JudgeHello before = m_evaluator->hello();
    m_pipeline->setEvaluator(nullptr);
    m_evaluator.reset();
    m_losses.clear();
    if (rootToo) {
        return pause(fmt::format("the judge was lost, with the task's root as well: {}", lost.error.message));
    }
    auto another = m_state == RunState::Running ? m_parts.startJudge(wantedDevice())
                                                : fail(ErrorCode::WorkerLost, lost.error.message);
    const auto same = [&](const JudgeHello& hello) {
        return hello.deviceName == before.deviceName && hello.uuid == before.uuid && hello.driver == before.driver;
    };
    if (!another || !same((*another)->hello())) {
        return pause(fmt::format("the judge was lost twice within {} s: {}", lossWindowSeconds, lost.error.message));
    }
    m_evaluator = std::move(*another);
    m_pipeline->setEvaluator(m_evaluator.get());
}

} // namespace espalier
