// SPDX-License-Identifier: GPL-3.0-only
#include "views/workbench.h"

namespace espalier {

namespace {
constexpr std::size_t detailsKept = 64; ///< sources are small, but a long session has thousands
constexpr std::size_t listingsKept = 8; ///< a megabyte each, easily
} // namespace

Workbench::Workbench(std::unique_ptr<EngineLink> link, ThemeManager& themes, QObject* parent)
    : QObject(parent), m_themes(themes), m_bridge(std::move(link))
{
    connect(&m_bridge, &EngineBridge::opened, this, [this](const SessionInfo& info) {
        m_reopening = false;
        m_session = info;
        emit sessionOpened();
    });
    connect(&m_bridge, &EngineBridge::closed, this, [this](const std::optional<Error>& error) {
        if (m_reopening && !error && m_session) {
            EngineOptions again;
            again.session = m_session->file;
            m_bridge.open(std::move(again));
        } else {
            forget();
        }
    });
    connect(&m_bridge, &EngineBridge::openFailed, this, [this] {
        if (!m_bridge.isOpen()) { // else the session that is open goes on
            forget();
        }
    });
    connect(&m_bridge, &EngineBridge::changed, this, &Workbench::handleChanged);
    connect(&m_bridge, &EngineBridge::detailArrived, this, [this](const std::shared_ptr<const NodeDetail>& detail) {
        const NodeId node = detail->summary.id;
        if (m_details.size() >= detailsKept) {
            std::erase_if(m_details, [this](const auto& kept) { return kept.first != m_selected; });
        }
        m_asked.erase(node);
        const auto keyOf = [](const NodeDetail& one) {
            return one.evaluation.build ? one.evaluation.build->key : std::string();
        };
        if (const auto before = m_details.find(node);
            before != m_details.end() && keyOf(*before->second) != keyOf(*detail)) {
            m_listings.erase(node); // it was built meanwhile
        }
        m_details[node] = detail;
        emit detailChanged(node);
    });
    connect(&m_bridge, &EngineBridge::planned, this, [this](const event::Plan& plan) {
        m_plan = plan;
        emit planChanged();
    });
    connect(&m_bridge, &EngineBridge::standingArrived, this, [this](const event::Standing& standing) {
        m_standing = standing;
        emit standingChanged();
    });
    connect(&m_bridge, &EngineBridge::listingsArrived, this,
            [this](const std::shared_ptr<const CodeListings>& listings) {
                if (m_listings.size() >= listingsKept) {
                    m_listings.clear();
                }
                m_listings[listings->node] = listings;
                if (m_listingsAsked == listings->node) {
                    m_listingsAsked.reset();
                }
                emit listingsChanged(listings->node);
            });
}

Provenance Workbench::provenance() const
{
    return m_session ? m_session->provenance : Provenance::Model;
}

QString Workbench::whyNotSearched() const
{
    return !m_session ? tr("No session is open")
           : !m_bridge.viewedBecause().isEmpty()
               ? tr("This session can only be looked at: %1").arg(m_bridge.viewedBecause())
               : QString();
}

bool Workbench::isSearching() const
{
    return m_session && (m_nodes.status().state == RunState::Running || m_nodes.status().state == RunState::Pausing);
}

const std::string& Workbench::strategy() const
{
    static const std::string none;
    return !m_plan.strategy.empty() ? m_plan.strategy : m_session ? m_session->strategy : none;
}

int Workbench::selectedIndex() const
{
    return m_selected ? m_nodes.indexOf(*m_selected) : -1;
}

void Workbench::select(std::optional<NodeId> node)
{
    if (node && m_nodes.indexOf(*node) < 0) {
        return;
    }
    if (node != m_selected) {
        m_selected = node;
        emit selectionChanged();
    }
}

std::shared_ptr<const NodeDetail> Workbench::detail(NodeId node)
{
    if (const auto found = m_details.find(node); found != m_details.end()) {
        return found->second;
    }
    if (m_asked.emplace(node, true).second) {
        m_bridge.send(command::FetchDetail{node});
    }
    return nullptr;
}

std::shared_ptr<const CodeListings> Workbench::listings(NodeId node)
{
    if (const auto found = m_listings.find(node); found != m_listings.end()) {
        return found->second;
    }
    if (m_listingsAsked != node) { // of several that were asked for only the last is still wanted
        m_listingsAsked = node;
        m_bridge.send(command::FetchListings{node});
    }
    return nullptr;
}

void Workbench::handleChanged(const std::vector<NodeSummary>& nodes, const RunStatus& status)
{
    const bool first = m_nodes.count() == 0 && !nodes.empty();
    std::optional<NodeId> stale;
    for (const NodeSummary& node : nodes) {
        const auto known = m_details.find(node.id);
        if (known != m_details.end() && known->second->summary != node) {
            m_details.erase(known);
            stale = node.id == m_selected ? node.id : stale;
        }
        m_asked.erase(node.id); // an answer on its way may be older than this
    }
    m_nodes.apply(nodes, status);
    if (first && !m_selected) {
        select(status.best ? status.best : std::optional(m_nodes.at(0).id));
    }
    if (stale) {
        emit detailChanged(*stale); // whoever shows it asks again
    }
}

void Workbench::stopSearch()
{
    m_reopening = true;
    m_bridge.send(command::Stop{});
}

void Workbench::closeSession()
{
    m_reopening = false;
    m_bridge.close();
    if (m_session) { // it was being opened again
        forget();
    }
}

void Workbench::forget()
{
    m_reopening = false;
    m_session.reset();
    m_standing = {};
    m_plan = {};
    m_details.clear();
    m_asked.clear();
    m_listings.clear();
    m_listingsAsked.reset();
    m_undo.clear();
    select(std::nullopt);
    m_nodes.clear();
    emit sessionClosed();
}

} // namespace espalier
