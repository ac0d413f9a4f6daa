// SPDX-License-Identifier: GPL-3.0-only
#include "views/steer_commands.h"

#include "views/workbench.h"

#include <QCoreApplication>
#include <QUndoCommand>
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("SteerCommands", source);
}

/// The engine has done it when it comes to the stack, so that what was refused is never there.
class SteerCommand : public QUndoCommand
{
public:
    SteerCommand(Workbench& bench, const QString& text, CommandNow forth, CommandNow back)
        : QUndoCommand(text), m_bench(bench), m_forth(std::move(forth)), m_back(std::move(back))
    {
    }
    void redo() override
    {
        if (!std::exchange(m_fresh, false)) {
            send(m_forth());
        }
    }
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
    bool m_fresh = true; ///< done, and about to be pushed
};

class GrowCommand : public QUndoCommand
{
public:
    GrowCommand(Workbench& bench, const QString& text, std::function<bool(const NodeSummary&)> isIt)
        : QUndoCommand(text), m_bench(bench), m_isIt(std::move(isIt))
    {
        QObject::connect(&bench.nodes(), &NodeStore::updated, &m_waiting,
                         [this](const QList<int>& added) { look(added); });
    }
    void redo() override
    {
        if (!std::exchange(m_fresh, false)) {
            prune(false);
        }
    }
    void undo() override { prune(true); }

private:
    void prune(bool pruned)
    {
        if (m_node) {
            m_bench.bridge().send(command::SetPruned{*m_node, pruned});
        } else {
            setObsolete(true);
        }
    }

    void look(const QList<int>& added)
    {
        for (const int index : added) {
            if (!m_node && m_isIt(m_bench.nodes().at(index))) {
                m_node = m_bench.nodes().at(index).id;
                m_bench.select(m_node);
            }
        }
    }

    Workbench& m_bench;
    std::function<bool(const NodeSummary&)> m_isIt;
    std::optional<NodeId> m_node;
    bool m_fresh = true; ///< done, and about to be pushed
    QObject m_waiting;   ///< ends the connections with it
};

} // namespace

void steer(Workbench& bench, const QString& text, command::Command forth, command::Command back,
           EngineBridge::Answer answered)
{
    steer(bench, text, CommandNow([forth = std::move(forth)] { return std::optional(forth); }),
          CommandNow([back = std::move(back)] { return std::optional(back); }), std::move(answered));
}

void steer(Workbench& bench, const QString& text, CommandNow forth, CommandNow back, EngineBridge::Answer answered)
{
    std::optional<command::Command> first = forth();
    if (!first) {
        return;
    }
    bench.bridge().send(std::move(*first), [&bench, text, forth = std::move(forth), back = std::move(back),
                                            answered = std::move(answered)](const std::optional<Error>& refusal) {
        if (!refusal) {
            bench.undoStack().push(new SteerCommand(bench, text, forth, back));
        }
        if (answered) {
            answered(refusal);
        }
    });
}

void grow(Workbench& bench, const QString& text, command::Command forth, std::function<bool(const NodeSummary&)> isIt,
          EngineBridge::Answer answered)
{
    // It looks out for its node from now on: that may come before the answer. Shared: functions are copied.
    const auto grown =
        std::make_shared<std::unique_ptr<GrowCommand>>(std::make_unique<GrowCommand>(bench, text, std::move(isIt)));
    bench.bridge().send(std::move(forth),
                        [&bench, grown, answered = std::move(answered)](const std::optional<Error>& refusal) {
                            if (refusal) {
                                grown->reset(); // what comes later is not taken for this one's
                            } else {
                                bench.undoStack().push(grown->release());
                            }
                            if (answered) {
                                answered(refusal);
                            }
                        });
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
