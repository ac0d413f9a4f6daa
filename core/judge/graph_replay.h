// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"
#include "core/judge/oracle_comparison.h"

#include <cstdint>

namespace espalier::judge {

/// Whether one call of the entry puts all of its work on the given stream: it is captured into a CUDA graph, the same
/// buffers get new inputs and new poison, the graph is replayed without any host code of the library's, and the outputs
/// must be right. What the call sends to another stream or thread, or computes on the host, is missing from the graph;
/// what it keeps from the capture is stale. A direct call then tells whether the kernel itself is wrong. A graph of the
/// call's own is captured with it (core/runner/graph_gate.h), so an error under capture is never waived. Uses `set` of
/// the area. CUDA devices only. Thread: the judge's.
Judged<LaunchCount> replayCaptured(const Context& context, OracleComparison& oracle, LoadedRunner& runner,
                                   WorkArea& area, std::size_t set, std::uint64_t workspaceBytes);

} // namespace espalier::judge
