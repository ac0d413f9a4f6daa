// SPDX-License-Identifier: Apache-2.0
#include "core/worker/evaluator_group.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <utility>
#include <variant>

namespace espalier {

Result<std::unique_ptr<Evaluator>> EvaluatorGroup::of(std::vector<std::unique_ptr<Evaluator>> judges)
{
    assert(!judges.empty());
    const JudgeHello& first = judges.front()->hello();
    for (const auto& judge : judges) {
        const JudgeHello& other = judge->hello();
        if (other.deviceName != first.deviceName || other.driver != first.driver ||
            other.architecture != first.architecture || other.runtime != first.runtime) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{} ({}) and {} ({}) are not alike, and figures of different devices cannot be "
                                    "ranked together: name devices of one kind, or one alone.",
                                    first.deviceId, first.deviceName, other.deviceId, other.deviceName));
        }
    }
    UniqueFd poll(::epoll_create1(EPOLL_CLOEXEC));
    if (!poll) {
        return fail(ErrorCode::Internal, fmt::format("Watching several judges failed: {}.", std::strerror(errno)));
    }
    return std::unique_ptr<Evaluator>(new EvaluatorGroup(std::move(judges), std::move(poll)));
}

EvaluatorGroup::EvaluatorGroup(std::vector<std::unique_ptr<Evaluator>> judges, UniqueFd poll)
    : m_judges(std::move(judges)), m_hello(m_judges.front()->hello()), m_poll(std::move(poll)),
      m_watched(m_judges.size(), -1)
{
    for (std::size_t i = 1; i < m_judges.size(); ++i) {
        if (const std::string& uuid = m_judges[i]->hello().uuid; !uuid.empty()) {
            m_hello.uuid += "," + uuid;
        }
    }
    watchAll();
}

void EvaluatorGroup::watchAll()
{
    for (std::size_t i = 0; i < m_judges.size(); ++i) {
        const int now = m_judges[i]->descriptor();
        if (m_watched[i] >= 0) { // again even if the number is the same: it may be another file
            ::epoll_ctl(m_poll.get(), EPOLL_CTL_DEL, m_watched[i], nullptr);
        }
        m_watched[i] = now;
        if (now >= 0) {
            epoll_event wanted{};
            wanted.events = EPOLLIN;
            ::epoll_ctl(m_poll.get(), EPOLL_CTL_ADD, now, &wanted);
        }
    }
}

void EvaluatorGroup::submit(EvaluationJob job)
{
    std::vector<int> busy(m_judges.size());
    for (const auto& [id, judge] : m_jobs) {
        ++busy[judge];
    }
    const auto freest = static_cast<std::size_t>(std::min_element(busy.begin(), busy.end()) - busy.begin());
    m_jobs[job.id] = freest;
    m_judges[freest]->submit(std::move(job));
    watchAll(); // a judge that was lost starts anew with its next job
}

void EvaluatorGroup::cancel(RequestId id)
{
    if (const auto found = m_jobs.find(id); found != m_jobs.end()) {
        m_judges[found->second]->cancel(id);
    }
}

int EvaluatorGroup::timeoutMilliseconds() const
{
    int soonest = -1;
    for (const auto& judge : m_judges) {
        const int wait = judge->timeoutMilliseconds();
        soonest = wait < 0 ? soonest : soonest < 0 ? wait : std::min(soonest, wait);
    }
    return soonest;
}

std::vector<evaluator::Event> EvaluatorGroup::receive()
{
    std::vector<evaluator::Event> all;
    for (const auto& judge : m_judges) {
        for (evaluator::Event& event : judge->receive()) {
            if (const auto* finished = std::get_if<evaluator::Finished>(&event)) {
                m_jobs.erase(finished->id);
            } else if (const auto* lost = std::get_if<evaluator::Lost>(&event)) {
                for (const RequestId id : lost->unfinished) {
                    m_jobs.erase(id);
                }
            }
            all.push_back(std::move(event));
        }
    }
    watchAll();
    return all;
}

std::vector<std::string> devicesNamed(const std::string& text)
{
    std::vector<std::string> devices;
    std::size_t begin = 0;
    for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
        devices.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
    }
    devices.push_back(text.substr(begin));
    return devices;
}

} // namespace espalier
