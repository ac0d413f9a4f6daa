// SPDX-License-Identifier: Apache-2.0
#include "core/model/language_standard.h"

#include "core/base/text.h"

#include <fmt/format.h>

namespace espalier {

bool isStandardName(std::string_view text)
{
    return text.size() == 5 && text.starts_with("c++") && text.find_first_not_of("0123456789abxyz", 3) == text.npos;
}

std::string languageStandard(std::string_view source, const Task& task)
{
    std::string standard = "c++17";
    for (const std::string& flag : task.build.flags) {
        if (flag.starts_with("-std=")) {
            standard = flag.substr(5);
        }
    }
    const std::string stated = statedStandard(source).value_or(std::string());
    return stated.empty() ? standard : stated;
}

Result<std::string> statedStandard(std::string_view source)
{
    int number = 0;
    for (const std::string_view line : splitLines(source)) {
        ++number;
        std::string_view text = trimmed(line);
        if (!text.starts_with("//")) {
            continue;
        }
        text = trimmed(text.substr(2));
        if (!text.starts_with("espalier:")) {
            continue;
        }
        text = trimmed(text.substr(9));
        if (!text.starts_with("std") || (text.size() > 3 && text[3] != ' ' && text[3] != '\t')) {
            continue;
        }
        const std::string_view name = trimmed(text.substr(3));
        if (!isStandardName(name)) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("line {}: expected a standard such as c++20 after \"espalier: std\"; found \"{}\"",
                                    number, printable(name, 40)));
        }
        return std::string(name);
    }
    return {};
}

} // namespace espalier
