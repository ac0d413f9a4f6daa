// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace espalier::ctl {

/// Prints why a command line was not taken, or the help that was asked for; returns the exit code.
int answerUsage(const CLI::App& app, const CLI::ParseError& error);

} // namespace espalier::ctl
