// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/toolkit.h"

#include <string>
#include <vector>

namespace espalier {

/// The bubblewrap sandbox that a compiler runs in: /usr, the toolkit and the task's include roots read-only, private
/// memory file systems for everything else, no network, own process space, dies with its parent. A candidate's
/// `#include` or `.incbin` finds nothing of the host. Values; thread: any.
struct CompilerSandbox {
    bool available = false;
    std::string grade; ///< "bubblewrap", or "none: bubblewrap is not installed" with the reason
};

/// Tries it once by running a program inside.
CompilerSandbox probeCompilerSandbox(const Toolkit& toolkit);

/// Where an include root is seen inside: "/include/0". The real path may hold any bytes; the compiler sees ASCII.
std::string sandboxedIncludeRoot(std::size_t index);

/// A file that the sandbox shows as /build/NAME, copied from an open descriptor of the child's.
struct SandboxFile {
    int descriptor;
    std::string name;
};

/// The command line up to and with "--"; the program's own follows. Working directory inside: /build, writable.
std::vector<std::string> sandboxCommand(const Toolkit& toolkit, const std::vector<std::string>& includeRoots,
                                        const std::vector<SandboxFile>& files, std::uint64_t scratchBytes);

/// The whole environment of a compiler, in the sandbox or not.
std::vector<std::string> compilerEnvironment(const Toolkit& toolkit, const std::string& temporaryFolder);

} // namespace espalier
