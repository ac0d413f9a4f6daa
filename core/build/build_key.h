// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/compile_step.h"
#include "core/build/toolchain.h"
#include "core/build/toolkit.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace espalier {

/// Names a build by everything that can change what comes out: source, the files beside it, command line, contents of
/// the include roots, toolkit, host compiler, architecture, role. Thread: any (the digests of large include roots are
/// kept and shared by the pool's threads). Errors: Io or NotFound naming an include root that cannot be read.
class BuildKeys
{
public:
    Result<std::string> keyOf(const BuildJob& job, const Toolkit& toolkit, const std::vector<InputFile>& files,
                              const std::vector<std::string>& arguments);

private:
    struct FileDigest {
        std::string stamp; ///< size and time of change: a file whose stamp is the same is not read again
        std::string digest;
    };
    Result<std::string> contentsOf(const std::string& root);

    std::mutex m_mutex;
    std::map<std::string, FileDigest> m_files;
};

/// Path, size and time of the g++ that nvcc will run; empty when there is none.
std::string hostCompilerIdentity();

} // namespace espalier
