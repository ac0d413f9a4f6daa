// SPDX-License-Identifier: Apache-2.0
#include "core/engine/session_view.h"

#include <fmt/format.h>
#include <utility>

namespace espalier {

namespace {

bool isQuestion(const command::Command& command)
{
    return std::holds_alternative<command::FetchDetail>(command) ||
           std::holds_alternative<command::FetchListings>(command) ||
           std::holds_alternative<command::FetchExchanges>(command);
}

} // namespace

SessionView::SessionView(std::filesystem::path file, std::string why, ListingSource listings, Observer observer)
    : m_file(std::move(file)), m_why(std::move(why)), m_listings(std::move(listings)), m_observer(std::move(observer))
{
}

Result<std::unique_ptr<SessionView>> SessionView::open(std::filesystem::path file, std::string why,
                                                       ListingSource listings, Observer observer)
{
    std::unique_ptr<SessionView> view(
        new SessionView(std::move(file), std::move(why), std::move(listings), std::move(observer)));
    ESPALIER_CHECK(view->read());
    view->m_observer(event::SessionOpened{view->m_reader->info(), view->m_why});
    ESPALIER_CHECK(view->tellChanges());
    return view;
}

/// What is written to a session stands in its file or in the log beside it.
SessionView::Mark SessionView::mark() const
{
    Mark mark;
    for (const char* suffix : {"", "-wal"}) {
        const std::string file = m_file.string() + suffix;
        std::error_code absent;
        const auto size = std::filesystem::file_size(file, absent);
        const auto time = std::filesystem::last_write_time(file, absent);
        if (!absent) {
            mark[file] = {size, time};
        }
    }
    return mark;
}

Result<void> SessionView::read()
{
    m_mark = mark(); // before reading: what comes meanwhile is read again
    ESPALIER_TRY(m_reader, SessionReader::open(m_file.string()));
    return {};
}

Result<void> SessionView::tellChanges()
{
    ESPALIER_TRY(std::vector<std::string> hints, m_reader->hints());
    ESPALIER_TRY(std::vector<BannedTechnique> bans, m_reader->bans());
    event::Changes changes{++m_revision, {}, status()};
    for (const auto& [id, node] : m_reader->book().nodes()) {
        const auto told = m_told.find(id);
        if (told == m_told.end() || told->second != node) {
            changes.nodes.push_back(node);
            m_told[id] = node;
        }
    }
    m_observer(std::move(changes));
    m_observer(event::Standing{std::move(hints), std::move(bans)});
    m_observer(event::Plan{{}, m_reader->info().strategy});
    return {};
}

RunStatus SessionView::status() const
{
    const NodeBook& book = m_reader->book();
    const EvaluationCounts counts = book.counts();
    RunStatus status;
    status.budget = m_reader->info().budget;
    status.evaluations = counts.evaluations;
    status.passed = counts.passed;
    status.rejected = counts.rejected;
    status.failed = counts.failed;
    status.notRun = counts.notRun;
    status.best = book.headline();
    if (const NodeSummary* best = status.best ? book.find(*status.best) : nullptr) {
        status.bestSpeedupRoot = best->speedupRoot;
        status.bestTimeUs = best->timeUs;
    }
    status.seconds = m_reader->secondsSpent();
    status.idleShare = m_reader->idleShare();
    status.usd = m_reader->spending().usd;
    status.tokens = m_reader->spending().tokens();
    status.spending = m_reader->spending();
    return status;
}

void SessionView::refresh()
{
    if (mark() == m_mark) {
        return;
    }
    if (const auto result = read(); result) {
        (void)tellChanges();
    } // else: what was read still stands, and the next change is looked at again
}

Result<void> SessionView::answer(const command::Command& command)
{
    if (!isQuestion(command)) {
        return fail(ErrorCode::NotSupported, fmt::format("The session can only be looked at: {}", m_why));
    }
    if (const auto* detail = std::get_if<command::FetchDetail>(&command)) {
        ESPALIER_TRY(NodeDetail full, m_reader->detail(detail->node));
        m_observer(event::Detail{std::make_shared<const NodeDetail>(std::move(full))});
    } else if (const auto* code = std::get_if<command::FetchListings>(&command)) {
        ESPALIER_TRY(const NodeDetail full, m_reader->detail(code->node));
        const std::string key = full.evaluation.build ? full.evaluation.build->key : std::string();
        m_observer(event::Listings{std::make_shared<const CodeListings>(readListings(m_listings, code->node, key))});
    } else if (const auto* asked = std::get_if<command::FetchExchanges>(&command)) {
        ESPALIER_TRY(std::vector<Exchange> exchanges, m_reader->exchanges(asked->node));
        ESPALIER_TRY(std::vector<std::string> hints, m_reader->hints());
        ESPALIER_TRY(const std::vector<Attachment> attachments, m_reader->attachments());
        event::Exchanges told{asked->node, std::move(exchanges), std::move(hints), {}};
        for (const Attachment& attachment : attachments) {
            told.attachments.push_back(attachment.name);
        }
        m_observer(std::move(told));
    }
    return {};
}

void SessionView::handle(const command::Command& command, std::uint64_t ticket)
{
    const Result<void> done = answer(command);
    if (!done) {
        m_observer(event::CommandFailed{"view", done.error()});
    }
    if (ticket != 0) {
        m_observer(event::Answered{ticket, done ? std::nullopt : std::optional(done.error())});
    }
}

} // namespace espalier
