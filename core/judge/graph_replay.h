// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"
#include "core/judge/oracle_comparison.h"

#include <cstdint>
#include <optional>

namespace espalier::judge {

/// Whether one call of the entry puts all of its work on the given stream: it is captured into a CUDA graph, the same
/// buffers get new inputs and new poison, the graph is replayed without any host code of the library's, and the outputs
/// must be right. What the call sends to another stream or thread, or computes on the host, is missing from the graph;
/// what it keeps from the capture is stale. A direct call then tells whether the kernel itself is wrong. Nothing where
/// the call launches a graph of its own, which CUDA captures into no other (error 900, seen on an H200): then the
/// snapshots behind direct calls are all there is. Uses `set` of the area. CUDA devices only. Thread: the judge's.
Judged<std::optional<LaunchCount>> replayCaptured(const Context& context, OracleComparison& oracle, LoadedRunner& runner,
                                   WorkArea& area, std::size_t set, std::uint64_t workspaceBytes);

} // namespace espalier::judge
