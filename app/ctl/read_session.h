// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/session_reader.h"

#include <string>

namespace espalier::ctl {

/// A session to be read by a verb. What its file has to say of itself (a copy without its -wal) is a line on standard
/// error. Errors: as SessionReader::open().
Result<SessionReader> readSession(const std::string& file);

} // namespace espalier::ctl
