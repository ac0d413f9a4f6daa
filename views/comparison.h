// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QObject>
#include <optional>
#include <vector>

namespace espalier {

class Workbench;

/// Which candidates are looked at together: the selected one, what it is compared with, and those that were kept for
/// comparing. Shared by metric table and roofline. Thread: GUI.
class Comparison : public QObject
{
    Q_OBJECT
public:
    enum class Against { Parent, Root, Best };
    explicit Comparison(Workbench& bench, QObject* parent = nullptr);

    Against against() const { return m_against; }
    void setAgainst(Against against);
    std::optional<NodeId> baseline() const; ///< nullopt: the selected one has none, or is none itself
    const std::vector<NodeId>& kept() const { return m_kept; }
    bool isKept(NodeId node) const;
    void keep(NodeId node, bool kept);
    void clearKept();
    /// Baseline, the selected one, kept ones: each once.
    std::vector<NodeId> candidates() const;

signals:
    void changed(); ///< also when the selection changed

private:
    bool comparable(NodeId node) const;
    Workbench& m_bench;
    Against m_against = Against::Parent;
    std::vector<NodeId> m_kept;
};

} // namespace espalier
