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

EngineBridge::EngineBridge(std::unique_ptr<EngineLink> link, QObject* parent) : QObject(parent), m_link(std::move(link))
{
}

EngineBridge::~EngineBridge()
{
    if (m_mailbox) {
        const std::lock_guard lock(m_mailbox->mutex);
        m_mailbox->bridge = nullptr;
    }
}

void EngineBridge::open(EngineOptions options)
{
    close();
    auto mailbox = std::make_shared<Mailbox>();
    mailbox->bridge = this;
    m_mailbox = mailbox;
    m_opening = true;
    emit opening();
    m_link->open(std::move(options), [mailbox](const event::Event& event) {
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
    });
}

void EngineBridge::close()
{
    if (!m_mailbox) {
        return;
    }
    {
        const std::lock_guard lock(m_mailbox->mutex);
        m_mailbox->bridge = nullptr;
    }
    m_mailbox.reset();
    m_link->close();
    m_opening = false;
    if (std::exchange(m_open, false)) {
        emit closed(std::nullopt);
    }
}

void EngineBridge::send(command::Command command)
{
    if (m_open) {
        m_link->post(std::move(command));
    }
}

void EngineBridge::drain(const std::shared_ptr<Mailbox>& mailbox)
{
    std::vector<event::Event> events;
    {
        const std::lock_guard lock(mailbox->mutex);
        events.swap(mailbox->events);
        mailbox->announced = false;
    }
    for (const event::Event& event : coalesced(std::move(events))) {
        if (mailbox != m_mailbox) {
            return; // a slot closed the session
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
    m_opening = false;
    m_open = true;
    emit opened(event.info);
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
    m_mailbox.reset();
    m_opening = false;
    if (std::exchange(m_open, false)) {
        emit closed(event.error);
    } else {
        emit openFailed(event.error.value_or(Error{ErrorCode::Internal, "The session ended before it was open."}));
    }
}

} // namespace espalier
