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
    }
    return "complete";
}

} // namespace espalier::llm
