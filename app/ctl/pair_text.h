// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/ctl/verbs.h"
#include "core/engine/session_reader.h"

namespace espalier::ctl {

/// `show --diff A B`: which of two candidates is better and how surely, their figures side by side, and what differs in
/// source, PTX or machine code. Prints; returns the exit code.
int showPair(const SessionReader& reader, const ShowVerb& options);

} // namespace espalier::ctl
