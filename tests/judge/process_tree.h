// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace espalier::test {

/// Process ids of the children of `parent`, and theirs.
std::vector<int> descendantsOf(int parent);
std::string commandLineOf(int pid);

} // namespace espalier::test
