// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"

#include "core/base/error_codes.h"

#include <cstdio>
#include <fmt/format.h>

namespace espalier::ctl {

namespace {

void write(std::FILE* stream, std::string_view text)
{
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fputc('\n', stream);
    std::fflush(stream);
}

bool isUsage(ErrorCode code)
{
    switch (code) {
    case ErrorCode::InvalidInput:
    case ErrorCode::NotFound:
    case ErrorCode::NotSupported:
    case ErrorCode::Busy:
    case ErrorCode::VersionTooNew:
        return true;
    default:
        return false;
    }
}

} // namespace

void printJson(const Json& object)
{
    write(stdout, object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void print(std::string_view text)
{
    write(stdout, text);
}

void note(std::string_view text)
{
    write(stderr, text);
}

std::string repeatText(const RepeatRecord& repeat)
{
    const std::string calls = fmt::format("{} calls of case {} on the same inputs", repeat.calls, repeat.caseId);
    return repeat.differing == 0 ? calls + " gave the same bits"
                                 : fmt::format("{} differ in {} of {} elements, by {:.3g} u at most", calls,
                                               repeat.differing, repeat.elements, repeat.spread);
}

int exitCodeOf(const Error& error)
{
    return error.code == ErrorCode::Cancelled ? exitInterrupted : isUsage(error.code) ? exitUsage : exitNotRun;
}

int failWith(const Error& error, bool json)
{
    if (json) {
        printJson({{"error", {{"code", nameOf(error.code)}, {"message", error.message}}}});
    } else {
        note(fmt::format("espalierctl: {}", error.message));
    }
    return exitCodeOf(error);
}

} // namespace espalier::ctl
