// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/scripted_session.h"

namespace espalier {

namespace {

/// As the engine names it when it refuses.
std::string actOf(const command::Command& command)
{
    return std::holds_alternative<command::AddIdea>(command)     ? "add-idea"
           : std::holds_alternative<command::Inject>(command)    ? "inject"
           : std::holds_alternative<command::SetPruned>(command) ? "prune"
           : std::holds_alternative<command::SetBoost>(command)  ? "boost"
           : std::holds_alternative<command::AddHint>(command)   ? "hint"
           : std::holds_alternative<command::Ban>(command)       ? "ban"
           : std::holds_alternative<command::Ask>(command)       ? "ask"
                                                                 : "";
}

} // namespace

void ScriptedLink::open(EngineOptions options, Engine::Observer observer)
{
    opened.push_back(options.session.string());
    if (refusal) {
        observer(event::Closed{refusal});
        return;
    }
    m_observer = std::move(observer);
    if (info.file.empty()) {
        info.file = options.session.string();
    }
    send(event::SessionOpened{info, viewedBecause});
    if (answersWhole) {
        sendWhole();
    }
}

void ScriptedLink::sendWhole()
{
    event::Changes all{++m_revision, {}, status};
    for (const auto& [id, detail] : details) {
        all.nodes.push_back(detail.summary);
    }
    send(all);
    send(standing);
    sendPlan();
}

void ScriptedLink::post(command::Command command, std::uint64_t ticket)
{
    commands.push_back(command);
    m_failure.reset();
    perform(command);
    if (ticket != 0) {
        send(event::Answered{ticket, m_failure});
    }
}

void ScriptedLink::fail(const std::string& what, const std::string& sentence)
{
    m_failure = Error{ErrorCode::InvalidInput, sentence};
    send(event::CommandFailed{what, *m_failure});
}

void ScriptedLink::perform(const command::Command& command)
{
    if (!refuses.empty() && refuses == actOf(command)) {
        fail(refuses, "Not now.");
    } else if (steer(command)) {
        sendPlan();
    } else if (const auto* pin = std::get_if<command::SetPinned>(&command)) {
        change(pin->node, [&](NodeSummary& node) { node.pinned = pin->pinned; });
    } else if (const auto* prune = std::get_if<command::SetPruned>(&command)) {
        change(prune->node, [&](NodeSummary& node) { node.pruned = prune->pruned; });
        sendPlan();
    } else if (const auto* fetch = std::get_if<command::FetchDetail>(&command); fetch && answersDetails) {
        send(event::Detail{std::make_shared<NodeDetail>(details.at(fetch->node))});
    } else if (const auto* code = std::get_if<command::FetchListings>(&command)) {
        const auto found = listings.find(code->node);
        CodeListings none;
        none.node = code->node;
        none.ptx.missing = none.sass.missing =
            "The built library is no longer in the build cache: evaluate the candidate again.";
        send(event::Listings{found != listings.end() ? found->second : std::make_shared<const CodeListings>(none)});
    } else if (std::holds_alternative<command::Pause>(command)) {
        status.state = RunState::Paused;
        sendStatus();
    } else if (std::holds_alternative<command::Run>(command)) {
        status.state = RunState::Running;
        sendStatus();
    } else if (std::holds_alternative<command::Stop>(command)) {
        status.state = RunState::Idle;
        send(event::Closed{});
    } else if (const auto* repro = std::get_if<command::Repro>(&command)) {
        send(event::ReproWritten{repro->node, repro->folder + "/node.cu", compiler});
    } else if (const auto* out = std::get_if<command::Export>(&command)) {
        send(event::Exported{out->node, {out->folder + "/kernel.cu", out->folder + "/kernel.h"}});
    }
}

void ScriptedLink::close(std::function<void()> closed)
{
    m_observer = nullptr;
    if (closed && closesAtOnce) {
        closed();
    }
}

void ScriptedLink::add(NodeSummary node, NodeDetail detail)
{
    detail.summary = node;
    detail.evaluation.outcome = node.outcome;
    detail.evaluation.reason = node.reason;
    details[node.id] = std::move(detail);
    if (m_observer) {
        send(event::Changes{++m_revision, {node}, status});
    }
}

void ScriptedLink::change(NodeId node, const std::function<void(NodeSummary&)>& how)
{
    NodeDetail& detail = details.at(node);
    how(detail.summary);
    send(event::Changes{++m_revision, {detail.summary}, status});
}

void ScriptedLink::send(event::Event event)
{
    if (m_observer) {
        m_observer(event);
    }
}

void ScriptedLink::sendStatus()
{
    send(event::Changes{++m_revision, {}, status});
}

void scriptBigTree(ScriptedLink& link, int count)
{
    link.info = {"/tmp/big.espalier", "softmax_f32", "Row softmax, fp32"};
    link.info.deviceName = "Simulated H200";
    for (int i = 1; i <= count; ++i) {
        NodeSummary node;
        node.id = NodeId{i};
        // Growth as a search has it: newer nodes are likelier parents, lineages grow some twenty deep.
        const NodeId parent{std::max(1, int(i * (0.45 + 0.5 * ((i * 7919) % 101) / 100.0)))};
        node.kind = i == 1                                                   ? NodeKind::Root
                    : link.details.at(parent).summary.kind == NodeKind::Idea ? NodeKind::Candidate
                                                                             : NodeKind::Idea;
        if (i > 1) {
            node.parents = {{parent, EdgeRole::Primary}};
            node.ordinal = i;
        }
        node.state = NodeState::Done;
        node.title = "change number " + std::to_string(i);
        node.proposer = "tuner";
        node.outcome = i % 5 == 0 ? Outcome::Incorrect : Outcome::Passed;
        if (node.kind != NodeKind::Idea && node.outcome == Outcome::Passed) {
            node.provenance = Provenance::Model;
            const double speedup = 1 + (i * 31 % 100) / 100.0;
            node.timeUs = Interval{1000 / speedup, 990 / speedup, 1010 / speedup};
            node.speedupRoot = Interval{speedup, speedup - 0.01, speedup + 0.01};
        }
        link.add(node);
    }
    link.status.state = RunState::Running;
    link.status.best = NodeId{1};
}

} // namespace espalier
