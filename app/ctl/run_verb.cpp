// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/event_queue.h"
#include "app/ctl/exchange_text.h"
#include "app/ctl/interrupts.h"
#include "app/ctl/live_table.h"
#include "app/ctl/output.h"
#include "app/ctl/verbs.h"
#include "core/base/text.h"
#include "core/engine/run_estimate.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <poll.h>

namespace espalier::ctl {

namespace {

Json optionalJson(const std::optional<double>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json bestJson(const RunSummary& summary)
{
    if (!summary.best || !summary.bestTiming) {
        return nullptr;
    }
    const CaseTiming& timing = *summary.bestTiming;
    const auto& root = summary.speedupRoot;
    const auto& incumbent = summary.incumbent.empty() ? root : summary.speedupIncumbent; // without one it is the root
    Json baselines = Json::object();
    for (const auto& [id, speedup] : timing.speedupBaselines) {
        baselines[id] = speedup.value;
    }
    return {{"node", summary.best->value},
            {"case", timing.caseId},
            {"time_us", timing.timeUs.value},
            {"ci_low_us", timing.timeUs.low},
            {"ci_high_us", timing.timeUs.high},
            {"speedup_root", optionalJson(root ? std::optional(root->value) : std::nullopt)},
            {"speedup_root_low", optionalJson(root ? std::optional(root->low) : std::nullopt)},
            {"speedup_root_high", optionalJson(root ? std::optional(root->high) : std::nullopt)},
            {"speedup_incumbent", optionalJson(incumbent ? std::optional(incumbent->value) : std::nullopt)},
            {"speedup_incumbent_low", optionalJson(incumbent ? std::optional(incumbent->low) : std::nullopt)},
            {"speedup_incumbent_high", optionalJson(incumbent ? std::optional(incumbent->high) : std::nullopt)},
            {"speedup_baselines", baselines},
            {"measured_again", summary.measuredAgain},
            {"found_by", summary.bestFoundBy}};
}

Json summaryJson(const RunSummary& summary)
{
    return {{"task", summary.task},
            {"device", summary.device},
            {"why", summary.why},
            {"provenance", nameOf(summary.provenance)},
            {"evaluations", summary.counts.evaluations},
            {"passed", summary.counts.passed},
            {"rejected", summary.counts.rejected},
            {"failed", summary.counts.failed},
            {"not_run", summary.counts.notRun},
            {"best", bestJson(summary)},
            {"seconds", summary.seconds},
            {"idle_share", optionalJson(summary.idleShare)},
            {"tokens", summary.tokens},
            {"usd", summary.usd},
            {"models", spendingJson(summary.spending)},
            {"improvements", summary.improvements},
            {"tokens_per_improvement", optionalJson(summary.tokensPerImprovement)}};
}

/// The conversation with one engine: from open to the end of the run, an error, or Ctrl-C.
class Conversation
{
public:
    Conversation(const RunVerb& options, bool terminal) : m_options(options), m_table(terminal) {}

    int hold()
    {
        auto engine = Engine::open(m_options.engine, [this](const event::Event& event) { m_events.push(event); });
        if (!engine) {
            return failWith(engine.error(), m_options.json);
        }
        m_engine = std::move(*engine);
        m_engine->post(command::Run{});
        while (!m_ended) {
            std::array<pollfd, 2> polled = {pollfd{m_events.descriptor(), POLLIN, 0},
                                            pollfd{m_interrupts.descriptor(), POLLIN, 0}};
            ::poll(polled.data(), polled.size(), -1);
            while (const int signal = m_interrupts.take()) {
                interrupted(signal);
            }
            for (const event::Event& event : m_events.take()) {
                std::visit([this](const auto& one) { handle(one); }, event);
            }
        }
        m_engine.reset();
        m_table.clearStatus();
        return report();
    }

private:
    /// Ctrl-C asks for a pause, at which what runs ends; whoever asks a second time, or ends the program, waits for
    /// nothing.
    void interrupted(int signal)
    {
        ++m_interruptions;
        if (m_waiting) { // nothing runs that could end
            m_ended = true;
        } else if (m_interruptions == 1 && signal == SIGINT) {
            m_table.line("Pausing: running stages end and are stored. Press Ctrl-C again to abandon them.");
            m_engine->post(command::Pause{});
        } else {
            m_engine->post(command::Stop{});
        }
    }

    void handle(const event::SessionOpened& event)
    {
        m_info = event.info;
        m_table.opened(event.info);
    }
    void handle(const event::Changes& event)
    {
        m_table.changed(event.nodes, event.status);
        m_status = event.status;
        if (m_interruptions > 0 && event.status.state == RunState::Paused) {
            m_ended = true;
        }
        const bool waits = event.status.state == RunState::Paused && event.status.byEngineer;
        if (m_interruptions == 0 && waits && !m_waiting) {
            m_table.line(fmt::format("Paused by steer; espalierctl steer {} run goes on, Ctrl-C ends.", sessionWord()));
        }
        m_waiting = waits;
        if (m_interruptions == 0 && !waits &&
            (event.status.state == RunState::Paused || event.status.state == RunState::Failed)) {
            m_error =
                Error{ErrorCode::Internal, event.status.why}; // the engine paused by itself: a lost judge, a full disk
            m_ended = true;
        }
    }
    void handle(const event::Finished& event)
    {
        m_summary = event.summary;
        if (event.summary.best && !m_options.exportFolder.empty() && m_interruptions == 0) {
            m_engine->post(command::Export{*event.summary.best, "cuda", m_options.exportFolder});
        } else {
            m_ended = true;
        }
    }
    void handle(const event::Exported& event)
    {
        m_files = event.files;
        m_ended = true;
    }
    void handle(const event::CommandFailed& event)
    {
        m_table.line(fmt::format("espalierctl: {}: {}", event.what, event.error.message));
        m_ended = m_ended || m_summary.has_value();
    }
    void handle(const event::Log& event)
    {
        m_table.line(event.text);
        m_logged = event.text;
    }
    template <typename Other>
    void handle(const Other&)
    {
    } // answers to what a run does not ask
    void handle(const event::Closed& event)
    {
        if (event.error) {
            m_error = event.error;
        }
        m_ended = true;
    }

    /// The session as any shell, in any folder, takes it.
    std::string sessionWord() const { return shellWord(std::filesystem::absolute(m_info.file).string()); }

    int report()
    {
        if (m_interruptions > 0) {
            note(fmt::format("Paused; go on with: espalierctl run --session {}", sessionWord()));
            if (m_options.json) {
                printJson({{"interrupted", true}, {"session", m_info.file}, {"evaluations", m_status.evaluations}});
            }
            return exitInterrupted;
        }
        if (m_error) {
            const bool said = !m_options.json && m_error->message == m_logged;
            return said ? exitCodeOf(*m_error) : failWith(*m_error, m_options.json);
        }
        if (m_options.json) {
            Json json = summaryJson(*m_summary);
            if (!m_files.empty()) {
                json["exported"] = m_files;
            }
            printJson(json);
        } else {
            printSummary();
        }
        return exitOk;
    }

    void printSummary() const
    {
        const RunSummary& summary = *m_summary;
        print(fmt::format("{}", m_status.why.empty() ? "The run has finished." : m_status.why));
        print(fmt::format("{}, in {:.1f} s", summary.counts.inWords(), summary.seconds));
        if (summary.best && summary.bestTiming) {
            print(fmt::format(
                "best:     node {}, {}{}{} on case {}{}, by {}", summary.best->value,
                timeText(summary.bestTiming->timeUs.value, summary.provenance),
                summary.speedupIncumbent
                    ? fmt::format(", {} of {}", speedupText(*summary.speedupIncumbent, summary.provenance),
                                  summary.incumbent)
                    : "",
                summary.speedupRoot
                    ? fmt::format(", {} of the root", speedupText(*summary.speedupRoot, summary.provenance))
                    : "",
                summary.bestTiming->caseId, summary.provenance == Provenance::Model ? " (modelled, not measured)" : "",
                summary.bestFoundBy.empty() ? "the task's author" : summary.bestFoundBy));
        } else {
            print("best:     none: no candidate passed");
        }
        if (summary.spending.requests > 0) {
            print(fmt::format("models:   {}", spendingText(summary.spending)));
            print(summary.tokensPerImprovement
                      ? fmt::format("          {} improvement{}, {:.0f} tokens each", summary.improvements,
                                    summary.improvements == 1 ? "" : "s", *summary.tokensPerImprovement)
                  : summary.improvements > 0 ? fmt::format("          {} improvement{} by models", summary.improvements,
                                                           summary.improvements == 1 ? "" : "s")
                                             : std::string("          no improvement by a model"));
        }
        print(fmt::format("session:  {}", m_info.file));
        for (const std::string& file : m_files) {
            print(fmt::format("exported: {}", file));
        }
        if (m_files.empty() && summary.best) {
            print(
                fmt::format("export:   espalierctl export {} --node {} --to DIR", sessionWord(), summary.best->value));
        }
    }

    const RunVerb& m_options;
    LiveTable m_table;
    EventQueue m_events;
    Interrupts m_interrupts;
    SessionInfo m_info;
    RunStatus m_status;
    std::optional<RunSummary> m_summary;
    std::vector<std::string> m_files;
    std::optional<Error> m_error;
    std::string m_logged; ///< the last line
    int m_interruptions = 0;
    bool m_waiting = false; ///< paused by steer
    bool m_ended = false;
    std::unique_ptr<Engine> m_engine; ///< last: destroyed first, its observer uses the members above
};

Json estimateJson(const CostEstimate& estimate)
{
    return {{"model", estimate.model},
            {"evaluations", estimate.evaluations},
            {"idea_questions", estimate.ideaQuestions},
            {"kernels", estimate.kernels},
            {"repairs", estimate.repairs},
            {"input_tokens", estimate.inputTokens},
            {"output_tokens", estimate.outputTokens},
            {"most_tokens", estimate.mostTokens},
            {"usd", optionalJson(estimate.usd)},
            {"most_usd", optionalJson(estimate.mostUsd)}};
}

std::string estimateText(const CostEstimate& estimate)
{
    const std::string money = estimate.usd
                                  ? fmt::format("about {:.2f} USD, at most {:.2f}", *estimate.usd, *estimate.mostUsd)
                                  : std::string("price unknown");
    return fmt::format(
        "Estimate for {} evaluations with {}: {} questions for ideas, {} kernels, {} repairs; about {} tokens in "
        "and {} out (at most {} in all), {}.",
        estimate.evaluations, estimate.model, estimate.ideaQuestions, estimate.kernels, estimate.repairs,
        estimate.inputTokens, estimate.outputTokens, estimate.mostTokens, money);
}

/// Before anything is sent: what it may cost. The exit code of a dry run; nullopt: the run follows.
std::optional<int> sayEstimate(const RunVerb& options)
{
    const auto estimate = estimateRun(options.engine);
    if (!options.dryRun) {
        if (estimate && *estimate) {
            note(estimateText(**estimate));
        }
        return std::nullopt; // what is wrong is said by the run itself
    }
    if (!estimate) {
        return failWith(estimate.error(), options.json);
    }
    if (options.json) {
        printJson({{"estimate", *estimate ? estimateJson(**estimate) : Json(nullptr)}});
    } else {
        print(*estimate ? estimateText(**estimate) : std::string("No model takes part: nothing is to be paid."));
    }
    return exitOk;
}

} // namespace

int run(const RunVerb& options)
{
    if (const auto code = sayEstimate(options)) {
        return *code;
    }
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    return Conversation(options, terminal).hold();
}

} // namespace espalier::ctl
