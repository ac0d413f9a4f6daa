// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/ctl/verbs.h"
#include "app/ctl/watched_file.h"

#include <string>

namespace espalier::ctl {

/// Watches while another process (a run, the window) holds the session: what is saved goes to it as a command, and its
/// verdict is read from the file. `text`: the node's own; a file that differs already counts as a save. Returns the exit
/// code: at Ctrl-C, after so many verdicts as the options say, or when that process has ended.
int watchElsewhere(const WatchVerb& options, WatchedFile file, const std::string& text);

} // namespace espalier::ctl
