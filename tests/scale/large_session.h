// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/engine_parts.h"
#include "tests/support/fakes.h"

#include <cstdint>
#include <filesystem>

namespace espalier {

/// Engine parts on the fakes of tests/support: compiler and judge in memory, and one proposer without end: a single
/// idea and a series under every parent, kernels whose times follow from their place. Refers to the ledger. `model`:
/// the proposer reads what a model is told (Proposer::readsBackground), so that every question to it is as dear as one
/// to a model.
EngineParts largeSessionParts(FakeLedger& ledger, bool model = false);

/// A session as a search leaves it behind: its root measured by an engine, then `nodes` nodes, every third an idea
/// (some of them series), candidates under earlier ideas with sources of 4 kB, one in five rejected, outcomes and
/// figures in their rows, a tenth of the stages' records. All were asked for ideas but the last hundred. Errors: the
/// store's and engine's.
Result<void> writeLargeSession(const std::filesystem::path& file, std::int64_t nodes);

} // namespace espalier
