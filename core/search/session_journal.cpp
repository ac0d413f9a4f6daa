// SPDX-License-Identifier: Apache-2.0
#include "core/search/session_journal.h"

#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

constexpr double restSeconds = 2;

} // namespace

std::string timestamp()
{
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    std::tm parts = {};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds);
}

Result<void> SessionJournal::done(Result<void> result)
{
    m_written = true;
    if (result && m_afterWrite) {
        m_afterWrite();
    }
    return result;
}

void SessionJournal::rest(double now)
{
    if (std::exchange(m_written, false) || (m_quietAt && now < *m_quietAt)) {
        m_quietAt = now;
    } else if (m_quietAt && now - *m_quietAt >= restSeconds) {
        m_quietAt = checkpoint() ? std::nullopt : std::optional(now); // somebody reads: once more
    }
}

int SessionJournal::restMilliseconds() const
{
    return m_written ? 0 : m_quietAt ? static_cast<int>(1000 * restSeconds) : -1;
}

bool SessionJournal::checkpoint()
{
    return m_store->checkpoint().value_or(false); // what is wrong with the file, the next write says
}

Result<void> SessionJournal::addNode(const StoredNode& node)
{
    return done(m_store->addNode(node));
}

Result<void> SessionJournal::updateNode(const StoredNode& node)
{
    return done(m_store->updateNode(node));
}

Result<void> SessionJournal::addStage(NodeId node, const Evaluation& record, double seconds)
{
    return done(m_store->addStage({node, record.stage, 0, record, seconds, timestamp()}));
}

Result<void> SessionJournal::addAct(std::string author, std::string what)
{
    return done(m_store->addAct({timestamp(), std::move(author), std::move(what)}));
}

Result<std::int64_t> SessionJournal::addExchange(const Exchange& exchange)
{
    auto id = m_store->addExchange(exchange);
    ESPALIER_CHECK(done(id ? Result<void>() : std::unexpected(id.error())));
    return id;
}

Result<void> SessionJournal::updateExchange(const Exchange& exchange)
{
    return done(m_store->updateExchange(exchange));
}

Result<void> SessionJournal::setValue(std::string_view key, std::string_view value)
{
    return done(m_store->setValue(key, value));
}

Result<void> SessionJournal::setInfo(const SessionInfo& info)
{
    return done(m_store->setInfo(info));
}

Result<void> SessionJournal::addSeconds(double seconds)
{
    const auto total = m_store->addSeconds(seconds);
    return done(total ? Result<void>() : std::unexpected(total.error()));
}

} // namespace espalier
