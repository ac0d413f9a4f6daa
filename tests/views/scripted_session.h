// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/engine_link.h"

#include <map>
#include <memory>
#include <vector>

namespace espalier {

/// An engine's place taken by a script: real event values, no thread. open() sends what the test put in; commands are
/// kept for the test to read, and those that change the tree answer as the engine would.
class ScriptedLink : public EngineLink
{
public:
    void open(EngineOptions options, Engine::Observer observer) override;
    void takeOver() override {}
    void post(command::Command command, std::uint64_t ticket = 0) override;
    void close(std::function<void()> closed) override;
    std::vector<StrategyDescription> strategies() const override;

    void add(NodeSummary node, NodeDetail detail = {});
    /// Changes a node that is there and tells the observer.
    void change(NodeId node, const std::function<void(NodeSummary&)>& how);
    void send(event::Event event);
    void sendStatus();
    void sendWhole(); ///< all nodes, as an engine does when it has read them
    /// What runs, what waits, the first open idea as the next choice, the other open ideas, the most boosted first.
    void sendPlan();
    template <typename T>
    std::vector<T> sent() const
    {
        std::vector<T> found;
        for (const command::Command& command : commands) {
            if (const T* one = std::get_if<T>(&command)) {
                found.push_back(*one);
            }
        }
        return found;
    }

    SessionInfo info;
    RunStatus status;
    std::map<NodeId, NodeDetail> details;
    std::map<NodeId, std::shared_ptr<const CodeListings>> listings; ///< others: none, with a reason
    std::vector<command::Command> commands;
    std::vector<std::string> opened; ///< session files asked for
    std::optional<Error> refusal;    ///< open() answers with it
    bool answersDetails = true;
    event::Standing standing;
    std::string compiler;      ///< that a written program is built with
    std::string refuses;       ///< the act that is refused now, as the engine names it
    std::string viewedBecause; ///< the session can only be looked at
    bool closesAtOnce = true;  ///< else a session that is closed never ends
    bool answersWhole = true;  ///< open() sends the nodes too

private:
    void perform(const command::Command& command);
    bool steer(const command::Command& command);
    void fail(const std::string& what, const std::string& sentence);
    NodeId grow(NodeKind kind, NodeState state, std::vector<Edge> parents, const std::string& title, NodeDetail detail);

    Engine::Observer m_observer;
    std::optional<Error> m_failure; ///< of the command that is performed
    std::uint64_t m_revision = 0;
};

/// A search on softmax_f32 at its thirtieth evaluation, on the simulated device or on a GPU: the playbook's own sources
/// and words, every outcome there is, pins, a prune, work in progress. Fills `link`.
void scriptSoftmax(ScriptedLink& link, Provenance provenance);

/// A tree of `count` nodes as a search grows it, for figures.
void scriptBigTree(ScriptedLink& link, int count);

} // namespace espalier
