// SPDX-License-Identifier: Apache-2.0
#include "core/judge/judge_loop.h"

#include "core/base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <poll.h>

namespace espalier::judge {

JudgeLoop::JudgeLoop(LineChannel lines, ArtefactStore& store) : m_lines(std::move(lines)), m_store(store) {}

void JudgeLoop::send(const worker::FromJudge& message)
{
    constexpr int patience = 60000; // an engine that reads nothing for a minute is gone
    if (!m_lines.send(worker::encode(message), patience)) {
        m_closed = true;
    }
}

void JudgeLoop::greet(const worker::Hello& hello)
{
    if (hello.version != worker::protocolVersion) {
        send(worker::Complaint{
            fmt::format("this judge speaks protocol {}, the engine {}; install the same Espalier on both machines",
                        worker::protocolVersion, hello.version)});
        m_quit = true;
        m_exitCode = 1;
    } else if (!*m_hello) {
        send(worker::Complaint{m_hello->error().message});
        m_quit = true;
        m_exitCode = 1;
    } else {
        m_greeted = true;
        send(worker::HelloReply{worker::protocolVersion, **m_hello});
    }
}

void JudgeLoop::answerCancelled(RequestId id)
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::NotRun;
    evaluation.cause = NotRunCause::Cancelled;
    evaluation.stage = Stage::Verify;
    evaluation.reason = "cancelled before it began";
    send(worker::Finished{id, std::move(evaluation)});
}

void JudgeLoop::enqueue(worker::Evaluate job)
{
    const bool known = m_current == job.id || std::any_of(m_queue.begin(), m_queue.end(),
                                                          [&](const auto& queued) { return queued.id == job.id; });
    if (known) {
        return send(worker::Complaint{
            fmt::format("evaluation {} is already here; every one needs an id of its own", job.id.value)});
    }
    if (m_queue.size() >= worker::maxQueuedJobs) {
        return send(worker::Complaint{
            fmt::format("more than {} evaluations are waiting; wait for answers", worker::maxQueuedJobs)});
    }
    m_queue.push_back(std::move(job));
}

void JudgeLoop::cancel(RequestId id)
{
    if (m_current == id) {
        m_cancelled = true;
        return;
    }
    const auto found =
        std::find_if(m_queue.begin(), m_queue.end(), [&](const auto& queued) { return queued.id == id; });
    if (found != m_queue.end()) { // else it has just finished: its answer is on the way
        m_queue.erase(found);
        answerCancelled(id);
    }
}

void JudgeLoop::handle(const std::string& line)
{
    if (trimmed(line).empty()) {
        return;
    }
    auto message = worker::decodeToJudge(line);
    if (!message) {
        return send(worker::Complaint{printable(message.error().message, 500)});
    }
    if (const auto* hello = std::get_if<worker::Hello>(&*message)) {
        return greet(*hello);
    }
    if (std::holds_alternative<worker::Quit>(*message)) {
        m_quit = true;
        return;
    }
    if (!m_greeted) {
        return send(worker::Complaint{"say hello first: {\"type\":\"hello\",\"version\":1}"});
    }
    if (const auto* have = std::get_if<worker::Have>(&*message)) {
        worker::Missing missing;
        std::copy_if(have->hashes.begin(), have->hashes.end(), std::back_inserter(missing.hashes),
                     [&](const std::string& hash) { return !m_store.has(hash); });
        send(missing);
    } else if (const auto* put = std::get_if<worker::Put>(&*message)) {
        if (auto stored = m_store.put(put->hash, put->bytes); stored) {
            send(worker::Stored{put->hash});
        } else {
            send(worker::Complaint{stored.error().message});
        }
    } else if (auto* evaluate = std::get_if<worker::Evaluate>(&*message)) {
        enqueue(std::move(*evaluate));
    } else if (const auto* cancelled = std::get_if<worker::Cancel>(&*message)) {
        cancel(cancelled->id);
    }
}

void JudgeLoop::service()
{
    if (m_closed) {
        return;
    }
    const auto more = m_lines.fill();
    for (auto line = m_lines.next(); line && !m_quit; line = m_lines.next()) {
        handle(*line);
    }
    if (!more) {
        send(worker::Complaint{more.error().message});
        m_closed = true;
        m_exitCode = 1;
    } else if (!*more) {
        m_closed = true;
    }
}

void JudgeLoop::work(const Evaluate& evaluate)
{
    const worker::Evaluate job = std::move(m_queue.front());
    m_queue.pop_front();
    m_current = job.id;
    m_cancelled = false;
    Evaluator::Callbacks callbacks;
    callbacks.progress = [&](Stage stage, const std::string& text) { send(worker::Progress{job.id, stage, text}); };
    callbacks.verified = [&](const VerifyRecord& record) { send(worker::Verified{job.id, record}); };
    Evaluation evaluation = evaluate(job, callbacks);
    m_current.reset();
    if (!m_closed) {
        send(worker::Finished{job.id, std::move(evaluation)});
    }
}

int JudgeLoop::run(const Result<JudgeHello>& hello, const Evaluate& evaluate, const std::function<bool()>& deviceLost)
{
    m_hello = &hello;
    while (!m_quit && !m_closed) {
        if (!m_queue.empty()) {
            work(evaluate);
            if (deviceLost()) {
                fmt::print(stderr, "the device does not work any more; the judge ends so that a new one can start\n");
                return 1;
            }
            // What the engine said meanwhile comes first: a cancel of the next job, an end.
            pollfd polled = {m_lines.readFd(), POLLIN, 0};
            if (::poll(&polled, 1, 0) > 0) {
                service();
            }
            continue;
        }
        pollfd polled = {m_lines.readFd(), POLLIN, 0};
        if (::poll(&polled, 1, -1) > 0) {
            service();
        }
    }
    return m_exitCode;
}

} // namespace espalier::judge
