// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

namespace espalier {

class Workbench;

/// What one does to a node.
enum class Act {
    Pin,
    Prune,
    BoostMore,
    BoostLess,
    BranchBudget,
    NewIdea,
    EditIdea,
    AskAgain,
    AskIdeas,
    Inject,
    InjectRoot,
    Cross,
    VerifyAgain,
    TimeAgain,
    ProfileNow,
    Nsight,
    Kill,
    Overturn,
    Copy,
    Export,
    ToParent,
    ToBest,
    Count
};

/// Why this cannot be done to the selected node now, as a sentence for the disabled action; empty: it can. Thread: GUI.
QString whyNot(Act act, const Workbench& bench);

} // namespace espalier
