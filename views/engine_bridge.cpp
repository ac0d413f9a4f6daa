// SPDX-License-Identifier: GPL-3.0-only
#include "views/engine_bridge.h"

#include "views/format.h"

#include <QMetaObject>
#include <QPointer>
#include <map>
#include <mutex>
#include <utility>

namespace espalier {

/// Where the observer leaves events. Shared with the engine's thread; the bridge may be gone when one arrives.
struct EngineBridge::Mailbox {
    std::mutex mutex;
    EngineBridge* bridge = nullptr; ///< null once the bridge has turned away
    std::vector<event::Event> events;
    bool announced = false;
};

namespace {

/// Joins neighbouring Changes, so that the models work once per turn of the event loop.
std::vector<event::Event> coalesced(std::vector<event::Event> events)
{
    std::vector<event::Event> out;
    for (event::Event& incoming : events) {
        auto* changes = std::get_if<event::Changes>(&incoming);
        auto* last = out.empty() ? nullptr : std::get_if<event::Changes>(&out.back());
        if (!changes || !last) {
            out.push_back(std::move(incoming));
            continue;
        }
        std::map<NodeId, NodeSummary> newest;
        for (auto* part : {last, changes}) {
            for (NodeSummary& node : part->nodes) {
                newest.insert_or_assign(node.id, std::move(node));
            }
        }
        last->nodes.clear();
        for (auto& [id, node] : newest) {
            last->nodes.push_back(std::move(node));
        }
        last->revision = changes->revision;
        last->status = std::move(changes->status);
    }
    return out;
}

} // namespace

/// A session on its way: what it has said so far is told when the whole of it was read.
struct EngineBridge::Coming {
    std::shared_ptr<Mailbox> mailbox;
    std::vector<event::Event> held;
};

EngineBridge::EngineBridge(std::unique_ptr<EngineLink> link, QObject* parent) : QObject(parent), m_link(std::move(link))
{
}

EngineBridge::~EngineBridge()
{
    turnAway(m_mailbox);
    turnAway(m_coming ? m_coming->mailbox : nullptr);
}

void EngineBridge::turnAway(const std::shared_ptr<Mailbox>& mailbox)
{
    if (mailbox) {
        const std::lock_guard lock(mailbox->mutex);
        mailbox->bridge = nullptr;
    }
}

Engine::Observer EngineBridge::observerFor(const std::shared_ptr<Mailbox>& mailbox)
{
    return [mailbox](const event::Event& event) {
        const std::lock_guard lock(mailbox->mutex);
        if (!mailbox->bridge) {
            return;
        }
        mailbox->events.push_back(event);
        if (!std::exchange(mailbox->announced, true)) {
            // The lock keeps the bridge alive here: its destructor takes it first.
            QMetaObject::invokeMethod(
                mailbox->bridge, [bridge = mailbox->bridge, mailbox] { bridge->drain(mailbox); }, Qt::QueuedConnection);
        }
    };
}

void EngineBridge::open(EngineOptions options)
{
    turnAway(m_coming ? m_coming->mailbox : nullptr);
    auto mailbox = std::make_shared<Mailbox>();
    mailbox->bridge = this;
    m_coming = std::make_unique<Coming>(Coming{mailbox, {}});
    emit opening(format::text(options.session.string()));
    m_link->open(std::move(options), observerFor(mailbox));
}

void EngineBridge::close()
{
    const bool wasOpen = isOpen();
    turnAway(m_coming ? m_coming->mailbox : nullptr);
    m_coming.reset();
    turnAway(m_mailbox);
    m_link->close([this] { QMetaObject::invokeMethod(this, &EngineBridge::released, Qt::QueuedConnection); });
    if (wasOpen) {
        leave(std::nullopt);
    }
}

/// The open session is there no more.
void EngineBridge::leave(const std::optional<Error>& error)
{
    m_mailbox.reset();
    m_answers.clear();
    m_viewedBecause.clear();
    emit closed(error);
}

void EngineBridge::send(command::Command command, Answer answered)
{
    if (!isOpen()) {
        if (answered) {
            const Error error{ErrorCode::NotFound, "No session is open: open one first."};
            emit commandFailed(QString(), error);
            answered(error);
        }
        return;
    }
    const std::uint64_t ticket = answered ? ++m_lastTicket : 0;
    if (answered) {
        m_answers.emplace(ticket, std::move(answered));
    }
    m_link->post(std::move(command), ticket);
}

void EngineBridge::drain(const std::shared_ptr<Mailbox>& mailbox)
{
    std::vector<event::Event> events;
    {
        const std::lock_guard lock(mailbox->mutex);
        events.swap(mailbox->events);
        mailbox->announced = false;
    }
    for (event::Event& event : coalesced(std::move(events))) {
        if (m_coming && mailbox == m_coming->mailbox) {
            takeComing(std::move(event));
        } else if (mailbox == m_mailbox) { // else a slot closed the session
            deliver(event);
        }
    }
}

void EngineBridge::takeComing(event::Event event)
{
    if (const auto* failed = std::get_if<event::Closed>(&event)) {
        const auto error = failed->error.value_or(Error{ErrorCode::Internal, "The session ended before it was open."});
        m_coming.reset();
        return emit openFailed(error);
    }
    const bool whole = std::holds_alternative<event::Changes>(event);
    m_coming->held.push_back(std::move(event));
    if (whole) {
        takeOver();
    }
}

/// The session that was opened takes the place of the one before.
void EngineBridge::takeOver()
{
    const std::unique_ptr<Coming> coming = std::move(m_coming);
    m_link->takeOver();
    if (isOpen()) {
        turnAway(m_mailbox);
        leave(std::nullopt);
    }
    m_mailbox = coming->mailbox;
    for (const event::Event& event : coming->held) {
        if (coming->mailbox != m_mailbox) {
            return; // a slot closed it
        }
        deliver(event);
    }
}

void EngineBridge::deliver(const event::Event& event)
{
    std::visit([this](const auto& one) { take(one); }, event);
}

void EngineBridge::take(const event::SessionOpened& event)
{
    m_viewedBecause = format::text(event.viewedBecause);
    emit opened(event.info);
}

void EngineBridge::take(const event::Answered& event)
{
    if (auto node = m_answers.extract(event.ticket)) {
        node.mapped()(event.error);
    }
}

void EngineBridge::take(const event::Changes& event)
{
    emit changed(event.nodes, event.status);
}
void EngineBridge::take(const event::Detail& event)
{
    emit detailArrived(event.detail);
}
void EngineBridge::take(const event::Listings& event)
{
    emit listingsArrived(event.listings);
}
void EngineBridge::take(const event::Exchanges& event)
{
    emit exchangesArrived(event.node, event.exchanges, event.hints, event.attachments);
}
void EngineBridge::take(const event::AnswerGrew& event)
{
    emit answerGrew(event.node, event.exchange, format::text(event.text));
}
void EngineBridge::take(const event::ReproWritten& event)
{
    emit reproWritten(event.node, format::text(event.file), format::text(event.compiler));
}
void EngineBridge::take(const event::Standing& event)
{
    emit standingArrived(event);
}
void EngineBridge::take(const event::Plan& event)
{
    emit planned(event);
}
void EngineBridge::take(const event::CommandFailed& event)
{
    emit commandFailed(format::text(event.what), event.error);
}
void EngineBridge::take(const event::Log& event)
{
    emit logged({{format::text(event.time), format::text(event.text)}});
}
void EngineBridge::take(const event::Finished& event)
{
    emit runEnded(event.summary);
}

void EngineBridge::take(const event::Exported& event)
{
    QStringList files;
    for (const std::string& file : event.files) {
        files += format::text(file);
    }
    emit exported(event.node, files);
}

void EngineBridge::take(const event::Closed& event)
{
    leave(event.error);
}

} // namespace espalier
