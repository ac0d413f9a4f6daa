// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/line_channel.h"
#include "core/judge/artefact_store.h"
#include "core/judge/evaluation_run.h"
#include "core/judge/interrupts.h"
#include "core/worker/protocol.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace espalier::judge {

/// The judge's end of the protocol: reads lines, keeps artefacts and the queue of jobs, answers. While a job runs, its
/// waits call service(), so that a cancel, a new job or the engine's end is seen at once. Thread: the judge's only one.
class JudgeLoop final : public Interrupts
{
public:
    using Evaluate = std::function<Evaluation(const worker::Evaluate&, const Evaluator::Callbacks&)>;

    JudgeLoop(LineChannel lines, ArtefactStore& store);

    /// `hello`: the judge's answer, or why it cannot start. Returns the process's exit code.
    int run(const Result<JudgeHello>& hello, const Evaluate& evaluate, const std::function<bool()>& deviceLost);

    int descriptor() const override { return m_closed ? -1 : m_lines.readFd(); }
    void service() override;
    bool cancelled() const override { return m_cancelled || m_closed || m_quit; }

private:
    void handle(const std::string& line);
    void greet(const worker::Hello& hello);
    void enqueue(worker::Evaluate job);
    void cancel(RequestId id);
    void send(const worker::FromJudge& message);
    void answerCancelled(RequestId id);
    void work(const Evaluate& evaluate);

    LineChannel m_lines;
    ArtefactStore& m_store;
    const Result<JudgeHello>* m_hello = nullptr;
    std::deque<worker::Evaluate> m_queue;
    std::optional<RequestId> m_current;
    bool m_greeted = false;
    bool m_cancelled = false;
    bool m_closed = false; ///< stdin ended
    bool m_quit = false;
    int m_exitCode = 0;
};

/// Command line of `espalier-worker judge`: --device auto|sim|cuda:N [--runtime PATH] [--profile PATH] [--no-sandbox]
/// [--call-deadline MS] [--load-deadline MS]. `program`: the file beside this one that runners and simgpu are started
/// from.
int judgeMain(int argc, char** argv, const std::string& program = "espalier-worker");

} // namespace espalier::judge
