// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/command.h"
#include "views/engine_bridge.h"

#include <QString>
#include <functional>
#include <optional>

namespace espalier {

struct NodeSummary;
class Workbench;

/// Steering acts as entries of the undo stack: one comes there when the engine has done it, so what it refuses is
/// never taken back. Nothing changes in the window when one is asked for: it changes when the engine says so. Undo
/// steers back; it does not unmeasure what ran in between. `answered`: called with the engine's answer; the sentence of
/// a refusal is told by the window anyway. Thread: GUI.

/// `back` takes back what `forth` does.
void steer(Workbench& bench, const QString& text, command::Command forth, command::Command back,
           EngineBridge::Answer answered = {});

/// The same where the way back depends on what is there by then. nullopt: nothing is left to do.
using CommandNow = std::function<std::optional<command::Command>()>;
void steer(Workbench& bench, const QString& text, CommandNow forth, CommandNow back,
           EngineBridge::Answer answered = {});

/// A command that adds a node, which `isIt` knows when it comes: it is selected then. Nodes are never removed: undo
/// prunes it, redo restores it.
void grow(Workbench& bench, const QString& text, command::Command forth,
          std::function<bool(const NodeSummary& node)> isIt, EngineBridge::Answer answered = {});

/// The boost one step from this one: twice or half, within what the engine takes.
double boostStep(double boost, bool more);
/// Boosts a node and says so in the undo stack.
void setBoost(Workbench& bench, const NodeSummary& node, double boost);
void setPruned(Workbench& bench, const NodeSummary& node, bool pruned);

} // namespace espalier
