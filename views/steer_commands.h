// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/command.h"

#include <QString>
#include <functional>
#include <optional>

namespace espalier {

struct NodeSummary;
class Workbench;

/// Steering acts as entries of the undo stack. Nothing changes in the window when one is pushed: it changes when the
/// engine says so. Undo steers back; it does not unmeasure what ran in between. Thread: GUI.

/// `back` takes back what `forth` does.
void steer(Workbench& bench, const QString& text, command::Command forth, command::Command back);

/// The same where the way back depends on what is there by then. nullopt: nothing is left to do.
using CommandNow = std::function<std::optional<command::Command>()>;
void steer(Workbench& bench, const QString& text, CommandNow forth, CommandNow back);

/// A command that adds a node, which `isIt` knows when it comes: it is selected then. Nodes are never removed: undo
/// prunes it, redo restores it.
void grow(Workbench& bench, const QString& text, command::Command forth,
          std::function<bool(const NodeSummary& node)> isIt);

/// The boost one step from this one: twice or half, within what the engine takes.
double boostStep(double boost, bool more);
/// Boosts a node and says so in the undo stack.
void setBoost(Workbench& bench, const NodeSummary& node, double boost);
void setPruned(Workbench& bench, const NodeSummary& node, bool pruned);

} // namespace espalier
