// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/model/evaluation.h"

#include <string>
#include <string_view>

namespace espalier::ctl {

/// Exit codes of DESIGN.md section 8 that are not a candidate's outcome.
constexpr int exitOk = 0;
constexpr int exitUsage = 2;
constexpr int exitNotRun = 5;
constexpr int exitInterrupted = 130;

/// One JSON object on standard output, nothing else: the contract of --json.
void printJson(const Json& object);
/// Text for people on standard output.
void print(std::string_view text);
/// A line on standard error: progress and explanations never mix with results.
void note(std::string_view text);
/// "3 calls of case 8x4096 on the same inputs gave the same bits"
std::string repeatText(const RepeatRecord& repeat);
/// Prints the sentence (as {"error": …} with --json) and returns the exit code it means: 2 when the user can mend it by
/// calling differently, 5 when something around us is broken.
int exitCodeOf(const Error& error);
int failWith(const Error& error, bool json);

} // namespace espalier::ctl
