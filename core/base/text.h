// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> splitLines(std::string_view text); ///< without the line ends; no empty last line
std::vector<std::string_view> splitOn(std::string_view text, char separator);
/// Valid UTF-8, control characters but tab and newline replaced, cut to `limit` bytes with a "[N more bytes]" mark:
/// what a candidate or a compiler printed, made safe to store and show.
std::string printable(std::string_view bytes, std::size_t limit);
/// As one word of a shell's command line: quoted where it needs to be.
std::string shellWord(std::string_view text);
/// "1.82 us", "3.4 ms", "12 s": three significant digits.
std::string durationText(double seconds);
/// "1.5 GiB" (2^30).
std::string bytesText(unsigned long long bytes);

} // namespace espalier
