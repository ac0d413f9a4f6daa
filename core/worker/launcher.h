// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// How a judge is started: a command put before its command line. Empty: a child of ours; {"ssh", "host"}: on another
/// machine; {"srun", "--gpus=1"}: by a batch system. A value.
struct Launcher {
    std::vector<std::string> prefix;
    std::string worker = "espalier-worker"; ///< on the machine where the judge runs
    std::vector<std::string> judgeOptions;  ///< further words after `judge --device D`

    /// The whole command line. ssh gets the judge's words quoted for the remote shell.
    std::vector<std::string> command(std::string_view device) const;
    bool remote() const { return !prefix.empty(); }
};

/// Our environment, with the running program's folder at the end of the PATH: a launcher on this machine, or over a
/// shared file system, finds the worker that came with it.
std::vector<std::string> launcherEnvironment();

/// espalier-worker beside the running program, else ESPALIER_WORKER, else the name alone (found on the PATH).
std::string findWorker();

} // namespace espalier
