// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/engine_bridge.h"
#include "views/node_store.h"
#include "views/theme.h"

#include <QObject>
#include <QUndoStack>
#include <memory>
#include <optional>
#include <unordered_map>

namespace espalier {

/// What every panel is given: the open session, its nodes, the selection, details on demand, the undo stack and the
/// theme. Panels keep a reference and follow the signals; none knows another. Thread: GUI. Owned by the window's owner,
/// outlives the window.
class Workbench : public QObject
{
    Q_OBJECT
public:
    Workbench(std::unique_ptr<EngineLink> link, ThemeManager& themes, QObject* parent = nullptr);

    EngineBridge& bridge() { return m_bridge; }
    const NodeStore& nodes() const { return m_nodes; }
    ThemeManager& themes() { return m_themes; }
    const Theme& theme() const { return m_themes.theme(); }
    QUndoStack& undoStack() { return m_undo; }
    const std::optional<SessionInfo>& session() const { return m_session; }
    Provenance provenance() const;
    /// Why nothing can be done to the session, a sentence for disabled acts; empty: it can be searched and steered.
    QString whyNotSearched() const;
    bool isSearching() const; ///< or pausing

    /// What is planned next.
    const event::Plan& plan() const { return m_plan; }
    /// The strategy that searches now, with its parameters.
    const std::string& strategy() const;
    /// What the engineer told the session for good.
    const event::Standing& standing() const { return m_standing; }

    std::optional<NodeId> selected() const { return m_selected; }
    int selectedIndex() const;
    void select(std::optional<NodeId> node);

    /// The node's detail if it is known; otherwise asks for it and answers with detailChanged().
    std::shared_ptr<const NodeDetail> detail(NodeId node);

    /// PTX and machine code of a node; like detail(), answered with listingsChanged().
    std::shared_ptr<const CodeListings> listings(NodeId node);

    void closeSession();

    /// Abandons what runs. Stopping ends the engine, so the session is opened again, idle; tree and selection stay.
    void stopSearch();

signals:
    void sessionOpened();
    void sessionClosed();
    void planChanged();
    void standingChanged();
    void selectionChanged();
    void detailChanged(espalier::NodeId node);
    void listingsChanged(espalier::NodeId node);

private:
    void handleChanged(const std::vector<NodeSummary>& nodes, const RunStatus& status);
    void forget();

    ThemeManager& m_themes;
    NodeStore m_nodes;
    QUndoStack m_undo;
    std::optional<SessionInfo> m_session;
    event::Plan m_plan;
    event::Standing m_standing;
    std::optional<NodeId> m_selected;
    std::unordered_map<NodeId, std::shared_ptr<const NodeDetail>> m_details;
    std::unordered_map<NodeId, bool> m_asked;
    std::unordered_map<NodeId, std::shared_ptr<const CodeListings>> m_listings;
    std::optional<NodeId> m_listingsAsked;
    bool m_reopening = false;
    EngineBridge m_bridge;
};

} // namespace espalier
