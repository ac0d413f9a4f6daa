// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace espalier::test {

/// Mounts a file system without a free byte on `folder`, in a mount name space that this process and its children have
/// to themselves from then on: every write there ends with ENOSPC. False where the kernel gives no such name space.
/// Only in a process with one thread.
bool mountFullDisk(const std::filesystem::path& folder);
void unmountFullDisk(const std::filesystem::path& folder); ///< so that the folder can be removed

} // namespace espalier::test
