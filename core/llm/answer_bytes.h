// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace espalier::llm {

/// What a program or a person's editor wrote, as text: UTF-8 with plain line ends. UTF-16 and UTF-32 are known by their
/// mark or by their zero bytes; what is no UTF-8 is read as Windows' Latin alphabet; marks, zero bytes and a terminal's
/// colours go. Pure, linear; never fails.
std::string answerTextOf(std::string_view bytes);

} // namespace espalier::llm
