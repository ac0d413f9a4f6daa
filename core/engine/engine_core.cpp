// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine_core.h"

#include "core/search/ended_record.h"
#include "core/search/record_merge.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <limits>
#include <poll.h>

namespace espalier {
namespace {

constexpr int tickMilliseconds = 250; ///< how exactly a budget of seconds is kept

std::string keptDeviceUse(Store& store)
{
    const auto kept = store.value(DeviceUse::key);
    return kept ? kept->value_or("") : std::string();
}

bool active(RunState state)
{
    return state == RunState::Running || state == RunState::Pausing;
}

} // namespace

Result<std::unique_ptr<EngineCore>> EngineCore::open(const EngineOptions& options, EngineParts parts,
                                                     Engine::Observer observer)
{
    ESPALIER_TRY(OpenedSession session, openSession(options, parts));
    const SessionInfo info = session.store->info();
    auto core = std::unique_ptr<EngineCore>(new EngineCore(std::move(session), std::move(parts), std::move(observer)));
    core->m_strategyWords = options.strategyOnce.value_or(info.strategy);
    ESPALIER_TRY(core->m_strategy, makeStrategy(core->m_strategyWords, info.seed));
    ESPALIER_CHECK(core->m_exchanges.restore());
    ESPALIER_CHECK(core->m_acts.restore());
    ESPALIER_CHECK(core->openProposers(options));
    return core;
}

EngineCore::EngineCore(OpenedSession session, EngineParts parts, Engine::Observer observer)
    : m_parts(std::move(parts)), m_observer(std::move(observer)), m_task(std::move(session.task)),
      m_incumbent(std::move(session.incumbent)), m_journal(std::move(session.store), m_parts.afterWrite),
      m_clock(m_parts.seconds, m_journal.store().secondsSpent()),
      m_use(m_parts.seconds, keptDeviceUse(m_journal.store())), m_useKept(m_use.text())
{
}

EngineCore::~EngineCore() = default;

void EngineCore::begin()
{
    const SessionInfo& info = m_journal.info();
    tell(event::SessionOpened{info});
    if (!info.remark.empty()) {
        log(info.remark);
    }
    if (rebuild({info.provenance, info.epoch}, "")) {
        listen();
        tellStanding();
        reportChanges(true);
    }
}

void EngineCore::run(const command::Run& command)
{
    if (command.budget && *command.budget != m_journal.info().budget) {
        if (const auto result = setBudget(*command.budget); !result) {
            return refuse("budget", result.error());
        }
    }
    if (m_state != RunState::Running || m_step.isOn()) {
        noteControl("run");
    }
    resumeRun({});
}

void EngineCore::resumeRun(StepLimit step)
{
    if (m_closing) {
        dropLessons();
        m_state = RunState::Paused; // it was over but for the lessons
    }
    if (m_state == RunState::Running && !step.isOn() && !m_step.isOn()) {
        m_spent.reset(); // the budget may have grown
        m_enough.reset();
        return;
    }
    m_step = step;
    m_byEngineer = step.isOn(); // after a step it is for them to go on
    m_spent.reset();
    m_enough.reset();
    m_winding.reset();
    m_errand.reset();
    m_measuredAgain.clear();
    m_winners = 0;
    m_clock.start();
    enterState(RunState::Running, "");
    reportChanges(true); // starting the judge may take a moment
    m_pipeline->flush(); // before anything else: a new judge may mean a new pipeline
    if (m_pipeline->hasUnwritten()) {
        return; // the store fails still; settle() pauses with its sentence
    }
    if (ready()) {
        m_planner->goOn();
    }
}

void EngineCore::pause(std::string why)
{
    if (active(m_state)) {
        m_byEngineer = m_byEngineer && why.empty();
        if (!why.empty() || m_why.empty()) {
            m_why = why.empty() ? "paused" : std::move(why);
        }
        m_state = RunState::Pausing;
        dropLessons();
        m_winding.reset();
        m_errand.reset();
        m_pipeline->setLaunching(false, 0);
        m_pipeline->forgetAgain();
        const bool begins = !m_planner->readsOn();
        m_planner->pauseQuestions(true);
        if (const auto seconds = begins ? m_planner->readsOn() : std::nullopt) {
            log(fmt::format("An answer of a model is coming: it is read for at most {:.0f} s; stopping the run again "
                            "does not wait for it.",
                            *seconds));
        }
    }
}

void EngineCore::stop()
{
    dropLessons();
    if (m_planner) {
        m_planner->pauseQuestions(false);
    }
    if (m_pipeline) {
        m_pipeline->abandon();
    }
    m_clock.stop();
    saveTime(true);
    if (active(m_state)) {
        enterState(RunState::Paused, "stopped");
    }
    if (m_pipeline) {
        reportChanges(true);
    }
    m_ended = true;
}

// --- the loop ----------------------------------------------------------------------------------------------------

void EngineCore::turn(int wake, int milliseconds)
{
    if (m_ended) {
        return;
    }
    std::vector<pollfd> polled;
    const auto watch = [&polled](int descriptor) {
        if (descriptor >= 0) {
            polled.push_back({descriptor, POLLIN, 0});
        }
    };
    watch(wake);
    watch(m_pool ? m_pool->descriptor() : -1);
    watch(m_evaluator ? m_evaluator->descriptor() : -1);
    watch(m_listings ? m_listings->descriptor() : -1);
    for (const int descriptor : m_socket ? m_socket->descriptors() : std::vector<int>()) {
        watch(descriptor);
    }
    int wait = active(m_state) ? tickMilliseconds : milliseconds;
    const auto atMost = [&wait](int limit) {
        if (limit >= 0) {
            wait = wait < 0 ? limit : std::min(wait, limit);
        }
    };
    atMost(milliseconds);
    if (m_evaluator) {
        atMost(m_evaluator->timeoutMilliseconds());
    }
    for (const auto& proposer : m_proposers) {
        watch(proposer->descriptor());
        atMost(proposer->timeoutMilliseconds());
    }
    if (m_reportDue) {
        atMost(50);
    }
    if (m_planner && m_planner->indexAhead()) {
        atMost(0);
    }
    atMost(m_journal.restMilliseconds());
    ::poll(polled.data(), polled.size(), wait);
    m_journal.rest(m_clock.now());
    tellListings();
    serveCommands();
    if (!m_planner || m_ended) {
        return;
    }
    observeDevice();
    m_pipeline->onBuildPool();
    settle();
    receiveFromJudge();
    observeDevice();
    m_planner->onProposers();
    settle();
    saveTime(false);
    takeSpending();
    reportChanges(false);
}

/// Works until nothing more follows from what is known.
void EngineCore::settle()
{
    (void)workOff();
    do {
        plan();
    } while (workOff());
    observeDevice();
}

bool EngineCore::workOff()
{
    bool any = false;
    for (pipeline::Event& event : m_pipeline->take()) {
        any = true;
        if (const auto* ended = std::get_if<pipeline::Ended>(&event)) {
            if (ended->node == taskRoot) {
                rootMeasured(ended->evaluation, ended->again);
            }
            if (ended->again) {
                m_planner->onMeasuredAgain(ended->node, ended->evaluation, deviceSecondsOf(ended->evaluation));
                continue;
            }
            m_planner->onEnded(ended->node, ended->evaluation);
            if (const auto renewed = ended->node == taskRoot ? renewRatios() : Result<void>(); !renewed) {
                pause(renewed.error().message);
            }
            if (ended->node != taskRoot && countsAsEvaluation(ended->evaluation.cause)) {
                m_clock.evaluated();
            }
        } else if (auto* trouble = std::get_if<pipeline::Trouble>(&event)) {
            log(trouble->error.message);
            pause(std::move(trouble->error.message));
        } else if (auto* broken = std::get_if<pipeline::Broken>(&event)) {
            failRun(std::move(broken->error.message));
        } else if (auto* note = std::get_if<pipeline::Note>(&event)) {
            log(std::move(note->text));
        }
    }
    if (auto trouble = m_planner->takeTrouble()) {
        any = true;
        log(trouble->message);
        pause(std::move(trouble->message));
    }
    return any;
}

void EngineCore::plan()
{
    if (m_state == RunState::Pausing && m_pipeline->quiet() && !m_planner->readsOn()) {
        m_clock.stop();
        saveTime(true);
        enterState(RunState::Paused, m_why);
    }
    if (m_closing) {
        return awaitLessons();
    }
    if (m_state != RunState::Running || !m_evaluator) {
        return;
    }
    if (m_winding) {
        m_pipeline->setLaunching(true, 0);
        m_pipeline->pump();
        if (m_pipeline->idle()) {
            checkEnd(*m_winding);
        }
        return;
    }
    checkSpending();
    if (!m_enough) {
        m_enough = enough(false);
    }
    if (m_spent || m_enough) {
        m_pipeline->setLaunching(true, 0); // what the engineer gave is judged all the same
        m_pipeline->pump();
        const bool idle = m_pipeline->idle();
        if (m_spent || idle) { // who has enough may find that it was not: until then what was asked may be answered
            m_planner->pauseQuestions(true);
        }
        if (idle && !m_planner->readsOn()) {
            checkEnd(Planner::State::Limited);
        }
        return;
    }
    m_planner->resumeQuestions();
    const Planner::State planned = m_planner->pump(room(), m_step.expansions());
    m_pipeline->setLaunching(
        true, room(), m_step.isOn() ? CandidatePipeline::OwnKernels::Counted : CandidatePipeline::OwnKernels::Free);
    m_pipeline->pump();
    if (m_pipeline->idle() && !m_planner->awaitsProposers()) {
        checkEnd(planned);
    }
}

/// Nothing runs and nothing can be started: why?
void EngineCore::checkEnd(Planner::State planned)
{
    if (planned == Planner::State::Working && !m_spent && !m_enough) {
        return; // an outcome waits to be consumed
    }
    if (m_errand) {
        return endErrand();
    }
    if ((!m_step.isSpent() || m_spent) && measureWinners()) {
        m_winding = planned;
        return;
    }
    m_winding.reset();
    if (m_enough && !m_spent && !enoughStill()) {
        return;
    }
    m_pipeline->setLaunching(false, 0);
    m_clock.stop();
    saveTime(true);
    if (m_step.isSpent() && !m_spent) {
        return enterState(RunState::Paused, "the step is done");
    }
    const auto held = m_proposers.held();
    if (held && !m_spent && !m_enough && !held->spent && planned != Planner::State::Limited) {
        log(held->sentence);
        enterState(RunState::Paused, held->sentence); // what can be done without the model is done
        return reportChanges(true);
    }
    const Budget& budget = m_journal.info().budget;
    std::string why;
    if (m_strategy->waitsForEngineer()) {
        why =
            "the strategy waits for the engineer: pin a kernel to be asked for ideas, pin or boost an idea to have it "
            "implemented";
    }
    if (m_spent) {
        why = *m_spent;
    } else if (m_enough) {
        why = *m_enough;
    } else if (held && held->spent) {
        why = held->sentence;
    } else if (planned == Planner::State::Limited && budget.evaluations) {
        why = fmt::format("the budget of {} evaluations is used up", *budget.evaluations);
    } else if (why.empty()) {
        why = m_planner->whyExhausted();
    }
    if (!askLessons(why)) {
        finish(std::move(why));
    }
}

void EngineCore::finish(std::string why)
{
    enterState(RunState::Finished, std::move(why));
    reportChanges(true);
    tell(event::Finished{summary()});
}

void EngineCore::checkSpending()
{
    const Budget& budget = m_journal.info().budget;
    if (budget.seconds && m_clock.total() >= *budget.seconds) {
        m_spent = fmt::format("the budget of {:g} seconds is used up", *budget.seconds);
    } else if (budget.usd && *budget.usd > 0 && usd() >= *budget.usd) {
        m_spent = fmt::format("the budget of {:.2f} USD is used up", *budget.usd);
    }
}

/// Evaluations that the budget and the step still allow to start or to be under way.
std::int64_t EngineCore::room() const
{
    const Budget& budget = m_journal.info().budget;
    const std::int64_t evaluations = m_book.counts().evaluations;
    return m_step.allowed(budget.evaluations ? *budget.evaluations - evaluations
                                             : std::numeric_limits<std::int64_t>::max() / 2,
                          evaluations);
}

void EngineCore::enterState(RunState state, std::string why)
{
    m_state = state;
    m_why = std::move(why);
    if (!active(state)) {
        (void)m_journal.checkpoint(); // else rest() tries again
    }
}

void EngineCore::failRun(std::string why)
{
    if (!active(m_state)) {
        return;
    }
    log(why);
    dropLessons();
    m_winding.reset();
    m_errand.reset();
    m_pipeline->abandon();
    m_clock.stop();
    saveTime(true);
    // The next try starts from what is stored, with a new judge: the cause may have been mended meanwhile.
    m_pipeline->setEvaluator(nullptr);
    m_evaluator.reset();
    enterState(RunState::Failed, std::move(why));
    reportChanges(true);
    tell(event::Finished{summary()});
}

} // namespace espalier
