// SPDX-License-Identifier: Apache-2.0
#include "core/base/error_codes.h"

#include <array>
#include <utility>

namespace espalier {
namespace {

constexpr std::array<std::pair<ErrorCode, std::string_view>, 11> names = {{
    {ErrorCode::InvalidInput, "invalid_input"},
    {ErrorCode::NotFound, "not_found"},
    {ErrorCode::NotSupported, "not_supported"},
    {ErrorCode::Io, "io"},
    {ErrorCode::Busy, "busy"},
    {ErrorCode::VersionTooNew, "version_too_new"},
    {ErrorCode::Protocol, "protocol"},
    {ErrorCode::WorkerLost, "worker_lost"},
    {ErrorCode::OutOfMemory, "out_of_memory"},
    {ErrorCode::Cancelled, "cancelled"},
    {ErrorCode::Internal, "internal"},
}};

} // namespace

std::string_view nameOf(ErrorCode code)
{
    for (const auto& [value, name] : names) {
        if (value == code) {
            return name;
        }
    }
    return "internal";
}

ErrorCode errorCodeNamed(std::string_view name)
{
    for (const auto& [value, known] : names) {
        if (known == name) {
            return value;
        }
    }
    return ErrorCode::Internal;
}

} // namespace espalier
