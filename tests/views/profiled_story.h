// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/views/scripted_session.h"

namespace espalier {

/// Gives every passed candidate of a scripted session a profile: traffic and operations that fit its time, samples on
/// the lines of its source, launches. One candidate's figures lie above a roof when `impossible` names it.
void addProfiles(ScriptedLink& link, Provenance provenance, std::optional<NodeId> impossible = std::nullopt);

/// norm.cu with its recorded PTX and machine code, samples on the latter, as the only candidate under a root.
NodeId scriptNorm(ScriptedLink& link);

} // namespace espalier
