// SPDX-License-Identifier: Apache-2.0
#include "core/build/module_name.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <string>

namespace espalier {

bool ofOneModule(std::string_view library, std::string_view sourceName)
{
    constexpr std::size_t digits = 8;
    std::string name(sourceName);
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    const std::string mark = fmt::format("_{}_{}_", name.size(), name);
    std::string_view first;
    for (std::size_t at = library.find(mark); at != std::string_view::npos; at = library.find(mark, at + 1)) {
        if (at < digits) {
            continue;
        }
        const std::string_view path = library.substr(at - digits, digits);
        if (!std::all_of(path.begin(), path.end(), [](unsigned char c) { return std::isxdigit(c) != 0; })) {
            continue;
        }
        if (!first.empty() && path != first) {
            return false;
        }
        first = path;
    }
    return true;
}

} // namespace espalier
