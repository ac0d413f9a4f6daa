// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/ctl/verbs.h"
#include "app/ctl/watch_progress.h"

namespace espalier::ctl {

/// Watches while another process (a run, the window) holds the session: what is saved goes to it as a command, and its
/// verdict is read from the file. Returns at Ctrl-C or after so many verdicts as the options say; true: that process
/// has ended, and what it left is in `progress`. An end is noticed when something is awaited or to be sent. Errors: the
/// store's.
Result<bool> watchElsewhere(const WatchVerb& options, WatchProgress& progress);

} // namespace espalier::ctl
