// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>

namespace espalier::ctl {

constexpr std::int64_t anyWhole = std::numeric_limits<std::int64_t>::max();

/// Number options and positionals: whatever else is given is refused by one sentence that names the option, "--node
/// takes a positive whole number, not "abc"". Each gives the option back.
CLI::Option* takesWhole(CLI::Option* option, std::int64_t least, std::int64_t most = anyWhole);
CLI::Option* takesNumber(CLI::Option* option, double least, std::optional<double> most = std::nullopt);
CLI::Option* takesNumberAbove(CLI::Option* option, double bound, const char* example);

} // namespace espalier::ctl
