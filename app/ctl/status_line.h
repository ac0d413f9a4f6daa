// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/session.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier::ctl {

/// Columns that a text takes on a terminal: its code points ("≈" is three bytes and one column).
std::size_t columnsOf(std::string_view text);

/// The live line of a run in at most `columns` columns: what runs, how much of the budget is used, the best so far, the
/// rate and the time left. On a narrow terminal it says less: how far the run is and its best stay longest.
std::string statusLine(const RunStatus& status, Provenance provenance, std::size_t columns);

} // namespace espalier::ctl
