// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier::test {

/// A library of tests/judge/candidates/sim_candidate.cu ("honest", "zero", …), or "task" for its task.json.
std::string embedded(const std::string& name);

} // namespace espalier::test
