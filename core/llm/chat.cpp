// SPDX-License-Identifier: Apache-2.0
#include "core/llm/chat.h"

namespace espalier::llm {

std::string_view nameOf(Finish finish)
{
    switch (finish) {
    case Finish::Complete:
        return "complete";
    case Finish::Length:
        return "length";
    case Finish::Truncated:
        return "truncated";
    case Finish::Refused:
        return "refused";
    case Finish::TooLong:
        return "too_long";
    }
    return "complete";
}

std::string_view nameOf(ChatFailure::Kind kind)
{
    switch (kind) {
    case ChatFailure::Kind::Unreachable:
        return "unreachable";
    case ChatFailure::Kind::Deadline:
        return "deadline";
    case ChatFailure::Kind::Rejected:
        return "rejected";
    case ChatFailure::Kind::RateLimited:
        return "rate_limited";
    case ChatFailure::Kind::Quota:
        return "quota";
    case ChatFailure::Kind::Overflow:
        return "overflow";
    case ChatFailure::Kind::Server:
        return "server";
    case ChatFailure::Kind::NotRecorded:
        return "not_recorded";
    case ChatFailure::Kind::Cancelled:
        return "cancelled";
    case ChatFailure::Kind::Unusable:
        return "unusable";
    }
    return "unusable";
}

} // namespace espalier::llm
