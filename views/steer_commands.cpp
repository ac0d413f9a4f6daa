// SPDX-License-Identifier: GPL-3.0-only
#include "views/steer_commands.h"

#include "views/workbench.h"

#include <QCoreApplication>
#include <QUndoCommand>
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("SteerCommands", source);
}

class SteerCommand : public QUndoCommand
{
public:
    SteerCommand(Workbench& bench, const QString& text, CommandNow forth, CommandNow back)
        : QUndoCommand(text), m_bench(bench), m_forth(std::move(forth)), m_back(std::move(back))
    {
    }
    void redo() override { send(m_forth()); }
    void undo() override { send(m_back()); }

private:
    void send(std::optional<command::Command> command)
    {
        if (command) {
            m_bench.bridge().send(std::move(*command));
        } else {
            setObsolete(true);
        }
    }
    Workbench& m_bench;
    CommandNow m_forth, m_back;
};

class GrowCommand : public QUndoCommand
{
public:
    GrowCommand(Workbench& bench, const QString& text, command::Command forth,
                std::function<bool(const NodeSummary&)> isIt)
        : QUndoCommand(text), m_bench(bench), m_forth(std::move(forth)), m_isIt(std::move(isIt))
    {
        QObject::connect(&bench.nodes(), &NodeStore::updated, &m_waiting,
                         [this](const QList<int>& added) { look(added); });
        const QString name = nameOf(*m_forth);
        QObject::connect(&bench.bridge(), &EngineBridge::commandFailed, &m_waiting, [this, name](const QString& what) {
            m_isIt = what == name ? nullptr : m_isIt; // what comes later is not taken for this one's
        });
    }
    void redo() override
    {
        if (m_node) {
            m_bench.bridge().send(command::SetPruned{*m_node, false});
        } else if (m_forth) {
            m_bench.bridge().send(*std::exchange(m_forth, std::nullopt));
        } else {
            setObsolete(true); // it was refused
        }
    }
    void undo() override
    {
        if (m_node) {
            m_bench.bridge().send(command::SetPruned{*m_node, true});
        } else {
            setObsolete(true);
        }
    }

private:
    /// As the engine names it when it refuses.
    static QString nameOf(const command::Command& command)
    {
        return std::holds_alternative<command::AddIdea>(command)  ? QStringLiteral("add-idea")
               : std::holds_alternative<command::Inject>(command) ? QStringLiteral("inject")
                                                                  : QStringLiteral("cross");
    }

    void look(const QList<int>& added)
    {
        for (const int index : added) {
            if (m_isIt && !m_node && m_isIt(m_bench.nodes().at(index))) {
                m_node = m_bench.nodes().at(index).id;
                m_isIt = nullptr;
                m_bench.select(m_node);
            }
        }
    }

    Workbench& m_bench;
    std::optional<command::Command> m_forth;
    std::function<bool(const NodeSummary&)> m_isIt;
    std::optional<NodeId> m_node;
    QObject m_waiting; ///< ends the connections with it
};

} // namespace

void steer(Workbench& bench, const QString& text, command::Command forth, command::Command back)
{
    steer(bench, text, CommandNow([forth = std::move(forth)] { return std::optional(forth); }),
          CommandNow([back = std::move(back)] { return std::optional(back); }));
}

void steer(Workbench& bench, const QString& text, CommandNow forth, CommandNow back)
{
    bench.undoStack().push(new SteerCommand(bench, text, std::move(forth), std::move(back)));
}

void grow(Workbench& bench, const QString& text, command::Command forth, std::function<bool(const NodeSummary&)> isIt)
{
    bench.undoStack().push(new GrowCommand(bench, text, std::move(forth), std::move(isIt)));
}

double boostStep(double boost, bool more)
{
    constexpr double least = 1.0 / 64, most = 512;
    return std::clamp(more ? std::max(boost, least) * 2 : boost / 2, least, most);
}

void setBoost(Workbench& bench, const NodeSummary& node, double boost)
{
    if (boost != node.boost) {
        steer(bench, tr("Boost node %1 to %2×").arg(node.id.value).arg(boost), command::SetBoost{node.id, boost},
              command::SetBoost{node.id, node.boost});
    }
}

void setPruned(Workbench& bench, const NodeSummary& node, bool pruned)
{
    steer(bench, (pruned ? tr("Prune node %1") : tr("Restore node %1")).arg(node.id.value),
          command::SetPruned{node.id, pruned}, command::SetPruned{node.id, !pruned});
}

} // namespace espalier
