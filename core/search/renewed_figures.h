// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"
#include "core/store/store.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

/// Figures that follow from measurements that there are, for another edition of the task. What is new is appended as a
/// further record of the edition that the measurement was made under. Thread: the store's. Errors: the store's.
namespace renewed_figures {

using Renewed = std::vector<std::pair<NodeId, Evaluation>>;

/// The objective of every timed kernel, by the task's weights.
Result<Renewed> addUp(Store& store, const Task& task);
/// Ratios over another root. `root`: its evaluation, timed beside the one before as its parent, or else alone, and then
/// against `before`, that one's last.
Result<Renewed> overRoot(Store& store, const Evaluation& root, const Evaluation& before);

} // namespace renewed_figures

} // namespace espalier
