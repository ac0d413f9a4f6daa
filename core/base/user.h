// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier {

/// What the account of the person at work is called: by the system's table, else $USER; empty where neither says.
/// Thread: any.
std::string userName();

} // namespace espalier
