// SPDX-License-Identifier: GPL-3.0-only
#include "views/steering_reasons.h"

#include "views/workbench.h"

#include <QCoreApplication>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("SteeringReasons", source);
}

bool hasVerdict(const NodeSummary& node)
{
    return node.kind != NodeKind::Idea && node.state == NodeState::Done && node.outcome != Outcome::NotRun;
}

bool passed(const NodeSummary& node)
{
    return hasVerdict(node) && node.outcome == Outcome::Passed;
}

QString whyNotAgain(Act act, const NodeSummary& node)
{
    if (node.kind == NodeKind::Idea) {
        return tr("An idea is not judged: select one of its candidates");
    }
    if (node.state != NodeState::Done) {
        return tr("It has no verdict yet: wait until it was judged");
    }
    if (node.outcome == Outcome::NotRun || node.outcome == Outcome::BuildFailed) {
        return tr("It was not built: there is nothing to judge again");
    }
    if (act != Act::VerifyAgain && node.outcome != Outcome::Passed) {
        return tr("Only a kernel that passed is timed or profiled");
    }
    return {};
}

/// Acts on one node, which is there.
QString whyNot(Act act, const NodeSummary& node, const Workbench& bench)
{
    const bool idea = node.kind == NodeKind::Idea, candidate = node.kind == NodeKind::Candidate;
    switch (act) {
    case Act::Prune: {
        const bool first = node.kind == NodeKind::Root && bench.nodes().at(0).id == node.id;
        return node.pruned   ? QString()
               : first       ? tr("The root cannot be pruned: everything grows from it")
               : node.pinned ? tr("It is pinned, and so protected: unpin it first")
                             : QString();
    }
    case Act::EditIdea:
        return !idea                            ? tr("Only an idea has words to edit")
               : node.state != NodeState::Draft ? tr("It is implemented already: write a new idea instead")
                                                : QString();
    case Act::AskAgain:
    case Act::AskIdeas:
        return bench.session()->models.empty()
                   ? tr("No model takes part in this session: start one with a model to ask it")
               : act == Act::AskAgain && !candidate ? tr("Only a candidate is written again: ask for ideas instead")
                                                    : QString();
    case Act::Cross:
        return passed(node) ? QString() : tr("Only kernels that passed are crossed");
    case Act::VerifyAgain:
    case Act::TimeAgain:
    case Act::ProfileNow:
        return whyNotAgain(act, node);
    case Act::Kill:
        return !candidate                      ? tr("Only a candidate that runs or waits can be killed")
               : node.state == NodeState::Done ? tr("It has ended: there is nothing to kill")
               : node.pinned                   ? tr("It is pinned, and so protected: unpin it first")
                                               : QString();
    case Act::Overturn:
        return hasVerdict(node) ? QString() : tr("There is no verdict to overturn");
    case Act::Copy:
    case Act::Nsight:
        return idea ? tr("An idea has no source: select one of its candidates") : QString();
    case Act::Export:
        return idea           ? tr("An idea has no source: select one of its candidates")
               : passed(node) ? QString()
                              : tr("Only a candidate that passed can be exported");
    case Act::ToParent:
        return bench.nodes().parentCandidateOf(bench.selectedIndex()) < 0 ? tr("This is a root") : QString();
    default:
        return {};
    }
}

} // namespace

QString whyNot(Act act, const Workbench& bench)
{
    if (!bench.session()) {
        return tr("No session is open");
    }
    if (!bench.whyNotSearched().isEmpty() && act != Act::Copy && act != Act::ToParent && act != Act::ToBest) {
        return bench.whyNotSearched();
    }
    if (act == Act::ToBest) {
        return bench.nodes().bestIndex() < 0 ? tr("Nothing has passed yet") : QString();
    }
    if (act == Act::InjectRoot) {
        return {};
    }
    const int index = bench.selectedIndex();
    return index < 0 ? tr("Select a node first") : whyNot(act, bench.nodes().at(index), bench);
}

} // namespace espalier
