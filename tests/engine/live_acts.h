// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace espalier {

/// Candidates somewhere below a node.
inline std::vector<NodeId> candidatesBelow(const EngineHarness& engine, NodeId above)
{
    std::vector<NodeId> found;
    for (const auto& [id, node] : engine.nodes) {
        for (const NodeSummary* up = &node; !up->parents.empty(); up = &engine.nodes.at(up->parents.front().parent)) {
            if (up->parents.front().parent == above && node.kind != NodeKind::Idea) {
                found.push_back(id);
            }
        }
    }
    return found;
}

/// Turns, each of which is reported, until something is seen.
template <typename Condition>
void turnUntil(EngineHarness& engine, Condition seen)
{
    engine.secondsPerTurn = 0.06;
    for (int i = 0; i < 5000 && !seen(); ++i) {
        engine.turn();
    }
    ASSERT_TRUE(seen()) << engine.tree();
}

inline std::string lastRefusal(const EngineHarness& engine)
{
    return engine.failures.empty() ? std::string() : engine.failures.back().error.message;
}

} // namespace espalier
