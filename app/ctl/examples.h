// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace espalier::ctl {

/// "Examples:" of one verb, for its --help; of no verb the first one of each. Lines are a command, blanks, what it
/// does;
/// "(needs …)" in the latter says what else must be there. tests/app runs them all.
std::string examplesOf(std::string_view verb = {});

} // namespace espalier::ctl
