// SPDX-License-Identifier: Apache-2.0
#include "core/worker/judge_process.h"

#include "core/base/hash.h"
#include "core/worker/judge_link.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <poll.h>
#include <sys/epoll.h>

namespace espalier {

namespace {

using Clock = std::chrono::steady_clock;
using worker::JudgeLink;

/// One job from submit() to its Finished.
struct PendingJob {
    EvaluationJob job;
    std::string taskHash;
    std::map<std::string, std::shared_ptr<const std::string>> artefacts; ///< by hash
    bool sent = false;                                                   ///< `evaluate` is on its way
    bool cancelled = false;
    std::optional<Clock::time_point> deadline; ///< set when it is the judge's next
};

class JudgeProcess final : public Evaluator
{
public:
    explicit JudgeProcess(JudgeSettings settings);
    ~JudgeProcess() override;
    Result<void> begin();

    const JudgeHello& hello() const override { return m_hello; }
    void submit(EvaluationJob job) override;
    void cancel(RequestId id) override;
    int descriptor() const override { return m_epoll.get(); }
    int timeoutMilliseconds() const override;
    std::vector<evaluator::Event> receive() override;

private:
    Result<void> startLink();
    Result<void> awaitHello();
    void handle(worker::FromJudge message);
    Result<void> acceptHello(const worker::HelloReply& reply);
    void sendMissing(const worker::Missing& missing);
    void finish(const worker::Finished& finished);
    void refuse(const EvaluationJob& job, NotRunCause cause, std::string reason);
    void lose(const Error& error);
    void checkDeadlines();
    void dropLink();

    JudgeSettings m_settings;
    JudgeHello m_hello;
    bool m_greeted = false; ///< the current judge has said hello
    std::string m_parked;   ///< why; empty: in service
    UniqueFd m_epoll;       ///< stable for the engine; holds the link's own
    std::optional<JudgeLink> m_link;
    std::optional<Clock::time_point> m_helloDeadline;
    std::deque<PendingJob> m_jobs; ///< in the judge's order
    std::deque<RequestId> m_asked; ///< jobs whose `have` waits for its `missing`
    std::vector<evaluator::Event> m_events;
    std::deque<Clock::time_point> m_losses;
};

JudgeProcess::JudgeProcess(JudgeSettings settings)
    : m_settings(std::move(settings)), m_epoll(::epoll_create1(EPOLL_CLOEXEC))
{
}

JudgeProcess::~JudgeProcess()
{
    if (m_link) {
        m_link->quit(std::chrono::milliseconds(300));
    }
}

Result<void> JudgeProcess::startLink()
{
    ESPALIER_TRY(JudgeLink link, JudgeLink::start(m_settings.launcher.command(m_settings.device)));
    m_link.emplace(std::move(link));
    epoll_event event = {};
    event.events = EPOLLIN;
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, m_link->epoll(), &event);
    m_greeted = false;
    m_helloDeadline = Clock::now() + m_settings.helloDeadline;
    m_link->send(worker::Hello{});
    return {};
}

void JudgeProcess::dropLink()
{
    if (m_link) {
        ::epoll_ctl(m_epoll.get(), EPOLL_CTL_DEL, m_link->epoll(), nullptr);
        m_link.reset(); // kills the judge; its runners die with it
    }
    m_helloDeadline.reset();
}

Result<void> JudgeProcess::begin()
{
    ESPALIER_CHECK(startLink());
    auto greeted = awaitHello();
    if (!greeted) {
        dropLink();
    }
    return greeted;
}

Result<void> JudgeProcess::awaitHello()
{
    while (!m_greeted) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(*m_helloDeadline - Clock::now()).count();
        if (left <= 0) {
            return fail(ErrorCode::WorkerLost,
                        fmt::format("the judge of device {} did not answer within {} s; is the driver hanging "
                                    "(try nvidia-smi) or the launcher waiting for a password?",
                                    m_settings.device, m_settings.helloDeadline.count() / 1000));
        }
        pollfd polled = {m_link->epoll(), POLLIN, 0};
        ::poll(&polled, 1, static_cast<int>(std::min<long long>(left, 1000)));
        ESPALIER_TRY(const std::vector<worker::FromJudge> messages, m_link->receive());
        for (const worker::FromJudge& message : messages) {
            if (const auto* complaint = std::get_if<worker::Complaint>(&message)) {
                return fail(ErrorCode::NotSupported, complaint->message);
            }
            if (const auto* reply = std::get_if<worker::HelloReply>(&message)) {
                ESPALIER_CHECK(acceptHello(*reply));
            }
        }
    }
    return {};
}

Result<void> JudgeProcess::acceptHello(const worker::HelloReply& reply)
{
    if (reply.version != worker::protocolVersion) {
        return fail(ErrorCode::VersionTooNew,
                    fmt::format("the judge speaks protocol {} and this engine {}; install the same Espalier on both "
                                "machines",
                                reply.version, worker::protocolVersion));
    }
    if (!m_hello.deviceId.empty() &&
        (reply.judge.uuid != m_hello.uuid || reply.judge.deviceName != m_hello.deviceName)) {
        return fail(ErrorCode::NotSupported,
                    fmt::format("the new judge answers for {} instead of {}; measurements of two devices are never "
                                "mixed, so start a new session",
                                reply.judge.deviceName, m_hello.deviceName));
    }
    m_hello = reply.judge;
    m_greeted = true;
    m_helloDeadline.reset();
    return {};
}

void JudgeProcess::refuse(const EvaluationJob& job, NotRunCause cause, std::string reason)
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::NotRun;
    evaluation.cause = cause;
    evaluation.stage = Stage::Verify;
    evaluation.reason = std::move(reason);
    m_events.emplace_back(std::in_place_type<evaluator::Finished>, job.id, std::move(evaluation));
}

void JudgeProcess::submit(EvaluationJob job)
{
    if (!m_parked.empty()) {
        return refuse(job, NotRunCause::Infrastructure, m_parked);
    }
    if (!m_link) {
        if (auto started = startLink(); !started) {
            return refuse(job, NotRunCause::Infrastructure, started.error().message);
        }
    }
    PendingJob pending;
    const auto add = [&pending](const Library& library) { pending.artefacts[library.hash] = library.bytes; };
    add(job.candidate);
    add(job.root);
    add(job.oracle);
    if (job.parent) {
        add(*job.parent);
    }
    if (job.incumbent) {
        add(job.incumbent->library);
    }
    for (const auto& [id, library] : job.baselines) {
        add(library);
    }
    auto text = std::make_shared<const std::string>(job.task->json);
    pending.taskHash = sha256(*text);
    pending.artefacts[pending.taskHash] = std::move(text);
    worker::Have have;
    for (const auto& [hash, bytes] : pending.artefacts) {
        have.hashes.push_back(hash);
    }
    pending.job = std::move(job);
    m_asked.push_back(pending.job.id);
    m_jobs.push_back(std::move(pending));
    m_link->send(have);
}

void JudgeProcess::sendMissing(const worker::Missing& missing)
{
    if (m_asked.empty()) {
        return;
    }
    const RequestId id = m_asked.front();
    m_asked.pop_front();
    const auto found =
        std::find_if(m_jobs.begin(), m_jobs.end(), [&](const PendingJob& job) { return job.job.id == id; });
    if (found == m_jobs.end() || found->cancelled) {
        return;
    }
    for (const std::string& hash : missing.hashes) {
        if (const auto artefact = found->artefacts.find(hash); artefact != found->artefacts.end()) {
            m_link->send(worker::Put{hash, *artefact->second});
        }
    }
    const EvaluationJob& job = found->job;
    worker::Evaluate evaluate;
    evaluate.id = job.id;
    evaluate.task = found->taskHash;
    evaluate.candidate = job.candidate.hash;
    evaluate.root = job.root.hash;
    evaluate.oracle = job.oracle.hash;
    if (job.parent) {
        evaluate.parent = job.parent->hash;
    }
    if (job.incumbent) {
        evaluate.incumbent.emplace(job.incumbent->library.hash, job.incumbent->symbol);
    }
    for (const auto& [baseline, library] : job.baselines) {
        evaluate.baselines.emplace_back(baseline, library.hash);
    }
    evaluate.cases = job.caseIds;
    evaluate.tier = job.tier;
    evaluate.setting = job.setting;
    evaluate.verifyOnly = job.verifyOnly;
    evaluate.sanitizing = job.sanitizing;
    evaluate.profiling = job.profiling;
    evaluate.verified = job.verified;
    m_link->send(evaluate);
    found->sent = true;
}

void JudgeProcess::cancel(RequestId id)
{
    const auto found =
        std::find_if(m_jobs.begin(), m_jobs.end(), [&](const PendingJob& job) { return job.job.id == id; });
    if (found == m_jobs.end() || found->cancelled) {
        return;
    }
    if (!found->sent) {
        refuse(found->job, NotRunCause::Cancelled, "cancelled before the judge began with it");
        m_jobs.erase(found);
        return;
    }
    found->cancelled = true;
    m_link->send(worker::Cancel{id});
    if (found->deadline) {
        found->deadline = std::min(*found->deadline, Clock::now() + m_settings.cancelDeadline);
    }
}

void JudgeProcess::finish(const worker::Finished& finished)
{
    const auto found =
        std::find_if(m_jobs.begin(), m_jobs.end(), [&](const PendingJob& job) { return job.job.id == finished.id; });
    if (found != m_jobs.end()) {
        m_events.emplace_back(std::in_place_type<evaluator::Finished>, finished.id, finished.evaluation);
        m_jobs.erase(found);
    }
}

void JudgeProcess::handle(worker::FromJudge message)
{
    if (const auto* reply = std::get_if<worker::HelloReply>(&message)) {
        if (auto accepted = acceptHello(*reply); !accepted) {
            m_parked = accepted.error().message;
            lose(accepted.error());
        }
    } else if (const auto* missing = std::get_if<worker::Missing>(&message)) {
        sendMissing(*missing);
    } else if (const auto* progress = std::get_if<worker::Progress>(&message)) {
        m_events.emplace_back(std::in_place_type<evaluator::Progress>, progress->id, progress->stage, progress->text);
    } else if (auto* verified = std::get_if<worker::Verified>(&message)) {
        m_events.emplace_back(std::in_place_type<evaluator::Verified>, verified->id, std::move(verified->record));
    } else if (const auto* finished = std::get_if<worker::Finished>(&message)) {
        finish(*finished);
    } else if (const auto* complaint = std::get_if<worker::Complaint>(&message)) {
        lose({ErrorCode::WorkerLost, complaint->message});
    }
}

void JudgeProcess::lose(const Error& error)
{
    const auto now = Clock::now();
    dropLink();
    m_losses.push_back(now);
    while (now - m_losses.front() > m_settings.lossWindow) {
        m_losses.pop_front();
    }
    const std::string device = m_hello.deviceName.empty() ? m_settings.device : m_hello.deviceName;
    std::string text = fmt::format("the judge of {} was lost: {}", device, error.message);
    if (m_losses.size() >= 2 && m_parked.empty()) {
        m_parked = fmt::format(
            "{} is parked after two losses of its judge within {} s: {}; check the device, then start the run again",
            device, m_settings.lossWindow.count(), error.message);
        text = m_parked;
    }
    evaluator::Lost lost{{error.code, std::move(text)}, {}};
    for (const PendingJob& job : m_jobs) {
        lost.unfinished.push_back(job.job.id);
    }
    m_jobs.clear();
    m_asked.clear();
    m_events.emplace_back(std::move(lost));
}

void JudgeProcess::checkDeadlines()
{
    const auto now = Clock::now();
    if (!m_link) {
        return;
    }
    if (m_helloDeadline && now >= *m_helloDeadline) {
        return lose({ErrorCode::WorkerLost, "it did not answer to hello in time"});
    }
    if (m_jobs.empty()) {
        return;
    }
    PendingJob& head = m_jobs.front();
    if (!head.deadline) {
        head.deadline = now + (head.job.tier == Tier::Full ? m_settings.fullDeadline : m_settings.quickDeadline);
        if (head.cancelled) {
            head.deadline = now + m_settings.cancelDeadline;
        }
    }
    if (now >= *head.deadline) {
        lose({ErrorCode::WorkerLost, fmt::format("it did not finish evaluation {} in time", head.job.id.value)});
    }
}

int JudgeProcess::timeoutMilliseconds() const
{
    if (!m_events.empty()) {
        return 0;
    }
    std::optional<Clock::time_point> next = m_helloDeadline;
    if (!m_jobs.empty()) {
        const auto deadline = m_jobs.front().deadline.value_or(Clock::now());
        next = next ? std::min(*next, deadline) : deadline;
    }
    if (!next) {
        return -1;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - Clock::now()).count() + 1;
    return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

std::vector<evaluator::Event> JudgeProcess::receive()
{
    if (m_link) {
        auto messages = m_link->receive();
        if (messages) {
            for (worker::FromJudge& message : *messages) {
                if (m_link) { // a message may have ended it
                    handle(std::move(message));
                }
            }
        } else {
            lose(messages.error());
        }
    }
    checkDeadlines();
    return std::exchange(m_events, {});
}

} // namespace

Result<std::unique_ptr<Evaluator>> startJudge(const JudgeSettings& settings)
{
    auto judge = std::make_unique<JudgeProcess>(settings);
    ESPALIER_CHECK(judge->begin());
    return judge;
}

} // namespace espalier
