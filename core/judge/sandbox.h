// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/subprocess.h"
#include "core/judge/device_session.h"

#include <string>
#include <vector>

namespace espalier::judge {

/// The command line that confines an untrusted runner with bubblewrap: an empty root with only the libraries, the
/// device's nodes and the worker in it, no network, own process numbers, private /tmp, dies with the judge. Which form
/// this machine allows is found by trying, once. A value.
class Sandbox
{
public:
    /// Tries the forms from strong to weak on `/proc/self/exe --version`-like probes. Never fails: grade() says what
    /// came out.
    /// `first`: the runner is the first process in there, so that no other one's memory could be written.
    static Sandbox probe(const SandboxNeeds& needs, const std::string& worker, bool first = true);
    /// No confinement, with the reason.
    static Sandbox none(const SandboxNeeds& needs, const std::string& reason);

    bool active() const { return !m_prefix.empty(); }
    /// "bubblewrap", or "none: bubblewrap is not installed".
    const std::string& grade() const { return m_grade; }
    std::vector<std::string> wrap(const std::vector<std::string>& command) const;
    /// The same with further paths bound read-only, for a program that starts others: it is not the first process.
    std::vector<std::string> wrap(const std::vector<std::string>& command,
                                  const std::vector<std::string>& readOnly) const;
    /// How what it wraps is started. Without it the command itself would be the first process of the name space.
    ProcessSpec::Tree tree() const { return active() ? ProcessSpec::Tree::Own : ProcessSpec::Tree::Kept; }
    /// The environment of the process that starts it: what the sandbox does not clear itself.
    const std::vector<std::string>& environment() const { return m_environment; }

private:
    std::vector<std::string> m_prefix;
    std::string m_grade;
    std::vector<std::string> m_environment;
};

/// Folders of the libraries this process has loaded: the C and C++ runtime and, once the judge's device is open, the
/// driver's. A runner needs the same.
std::vector<std::string> loadedLibraryFolders();

} // namespace espalier::judge
