// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/ctl/verbs.h"

namespace CLI {
class App;
}

namespace espalier::ctl {

/// The subcommands of steer; parsing fills `verb`, which must outlive it.
void addSteer(CLI::App& app, SteerVerb& verb);

} // namespace espalier::ctl
