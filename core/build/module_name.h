// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace espalier {

/// nvcc puts a name of the file's path into every symbol that the file keeps to itself ("4c24c829_12_candidate_cu_…"),
/// on the host's side, which looks kernels up, and on the device's. False where a library holds two of them: its halves
/// were not compiled as one file, and no kernel of an unnamed namespace would be found. `sourceName`: without a folder.
/// Any bytes. Thread: any.
bool ofOneModule(std::string_view library, std::string_view sourceName);

} // namespace espalier
