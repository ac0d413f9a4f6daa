// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/device_use.h"
#include "core/engine/engine_parts.h"
#include "core/engine/run_clock.h"
#include "core/engine/session_opening.h"
#include "core/engine/step_limit.h"
#include "core/search/planner.h"

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace espalier {

struct Participants;

/// The engine without its thread: one session, one search, driven by handle() and turn(). Owns everything. Dropping it
/// at any moment is what kill -9 leaves behind: whatever was reported is in the session.
/// Thread: one at a time. Errors: commands that cannot be done are answered by CommandFailed; trouble of ours (store,
/// compiler, judge) pauses the run with its sentence.
class EngineCore
{
public:
    static Result<std::unique_ptr<EngineCore>> open(const EngineOptions& options, EngineParts parts,
                                                    Engine::Observer observer);
    ~EngineCore();

    void begin(); ///< the first events
    void handle(const command::Command& command);
    Result<void> perform(const command::Command& command); ///< the same; the first thing that it was refused for
    /// Waits for something to happen (at most `milliseconds`; `wake`: a further descriptor, or -1) and works it off.
    void turn(int wake, int milliseconds);
    bool ended() const { return m_ended; } ///< after Stop, or when the session cannot be read any more
    const std::optional<Error>& closedBecause() const { return m_closedBecause; }
    RunState state() const { return m_state; }

private:
    struct Handler;
    struct Errand { ///< of the engineer's while the session did not run: where it stood
        RunState state;
        std::string why;
        bool byEngineer;
    };

    struct Floor {
        NodeId node{0};
        std::optional<Interval> timeUs;
        double us = 0; ///< 0: not known
    };

    EngineCore(OpenedSession session, EngineParts parts, Engine::Observer observer);

    // engine_core.cpp: the loop and the run's states
    void run(const command::Run& command);
    void resumeRun(StepLimit step);
    void pause(std::string why);
    void stop();
    void settle();
    bool workOff();
    void plan();
    void checkEnd(Planner::State planned);
    bool askLessons(const std::string& why);
    void awaitLessons();
    void dropLessons();
    void finish(std::string why);
    void checkSpending();
    void enterState(RunState state, std::string why);
    void failRun(std::string why);
    double usd() const { return m_planner->usd() + m_exchanges.total().usd; }
    std::int64_t tokens() const { return m_planner->tokens() + m_exchanges.total().tokens(); }
    std::int64_t room() const;

    // engine_stopping.cpp: rules by which a run has enough
    std::optional<std::string> enough(bool ending);
    bool enoughStill();
    double floorOf(const NodeSummary& node);

    // engine_again.cpp: what is judged once more
    bool timeFront(NodeId node);
    bool measureWinners();
    Result<void> judgeAgain(const command::JudgeAgain& command);
    Result<void> renewRatios();
    Result<void> beginOnAnother();
    void timeRootOnAnother();
    void rootMeasured(const Evaluation& evaluation, bool again);
    void endErrand();

    // engine_commands.cpp: what concerns the whole session
    Result<void> setBudget(const Budget& budget);
    Result<void> changeBudget(const command::ChangeBudget& change);
    Change budgetChange(const Budget& budget);
    Result<void> setStrategy(const std::string& words);
    Result<Change> strategyChange(const std::string& words);
    Result<void> kill(NodeId node);
    void noteControl(const char* act);
    Result<void> undo();
    Result<Change> changeBack(const Replaced& replaced);
    void listen();
    void serveCommands();

    // engine_proposers.cpp: who takes part
    Result<void> openProposers(const EngineOptions& options);
    Result<void> changeProposers(const command::ChangeProposers& command);
    Result<Change> proposersChange(const Participants& after);

    // engine_judge.cpp: device, epoch, loss
    bool ready();
    bool startJudge();
    bool acceptFrame(const JudgeHello& hello);
    bool rebuild(const SearchFrame& frame, const std::string& architecture);
    std::string wantedDevice() const;
    void receiveFromJudge();
    void observeDevice();
    void onLost(const evaluator::Lost& lost);

    // engine_report.cpp: what observers are told
    void tell(event::Event event) { m_observer(event); }
    void log(std::string text);
    void reportChanges(bool now);
    RunStatus status() const;
    RunSummary summary();
    std::int64_t improvements() const;
    void refuse(std::string what, Error error);
    void saveTime(bool now);
    Result<NodeDetail> detail(NodeId node);
    Result<void> askListings(NodeId node);
    void tellListings();
    void tellExchanges(NodeId node);
    void takeSpending();
    void tellStanding();
    void tellPlan();
    Result<std::vector<std::string>> exportNode(const command::Export& command);
    Result<std::string> writeRepro(const command::Repro& command);

    EngineParts m_parts;
    Engine::Observer m_observer;
    std::shared_ptr<const Task> m_task;
    std::optional<Incumbent> m_incumbent;
    SessionJournal m_journal;
    ActHistory m_acts{m_journal, m_parts.author};
    ExchangeBook m_exchanges{m_journal};
    std::string m_deviceSheet; ///< once a judge has said what its device is
    NodeBook m_book;
    std::shared_ptr<const Strategy> m_strategy;
    std::string m_strategyWords;
    ProposerSet m_proposers;
    std::unique_ptr<BuildPool> m_pool;
    std::unique_ptr<Evaluator> m_evaluator;
    std::unique_ptr<CandidatePipeline> m_pipeline;
    std::unique_ptr<Planner> m_planner;
    std::unique_ptr<CommandSocket> m_socket; ///< nullptr: nobody steers from outside
    std::unique_ptr<ListingDesk> m_listings; ///< made for the first question
    RunClock m_clock;
    DeviceUse m_use;
    std::string m_useKept; ///< as the session has it

    RunState m_state = RunState::Idle;
    std::string m_why;
    bool m_byEngineer = false;               ///< a pause that comes is theirs
    std::optional<Planner::State> m_winding; ///< the search is over and its winners are measured again
    std::optional<Errand> m_errand;
    std::set<NodeId> m_measuredAgain;    ///< asked for in this run
    std::size_t m_winners = 0;           ///< how many of them since the search last went on
    std::optional<std::string> m_enough; ///< a rule of the session's says so: the sentence
    std::optional<Floor> m_floor;        ///< of the best, as it was read last
    bool m_toldNoFloor = false;
    std::optional<std::string> m_closing; ///< the run is over for this reason; a model is asked what it has taught
    std::optional<std::string> m_spent;   ///< seconds or money are used up: the sentence
    StepLimit m_step;                     ///< in place of the budget alone
    std::deque<double> m_losses;          ///< times of lost judges
    bool m_ended = false;
    std::optional<Error> m_closedBecause;
    std::uint64_t m_revision = 0;
    double m_lastReport = -1;
    double m_lastGrown = -1;
    bool m_reportDue = false; ///< something waits to be told
    RunStatus m_reported;
    std::optional<event::Standing> m_standing; ///< as it was told last
    std::optional<event::Plan> m_plan;         ///< likewise
    double m_lastPlan = -1;
    std::optional<Error> m_refusal; ///< of the command that is being performed
};

} // namespace espalier
