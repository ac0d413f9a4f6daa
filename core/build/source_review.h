// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <string_view>
#include <vector>

namespace espalier {

/// What a person should look at before a candidate's code goes into theirs: a licence text or the namespace of a known
/// library in its source, where it was pasted from, maybe. Evidence with the check "review", each naming line and
/// library; never a verdict. Pure; thread: any.
std::vector<Evidence> reviewSource(std::string_view source);

} // namespace espalier
