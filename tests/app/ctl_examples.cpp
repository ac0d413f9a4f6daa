// SPDX-License-Identifier: Apache-2.0
#include "tests/app/ctl_examples.h"

#include <algorithm>
#include <cctype>

namespace espalier::test {

std::vector<Example> examplesIn(std::string_view text)
{
    constexpr std::string_view program = "espalierctl ";
    std::vector<Example> all;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end);
        line = line.substr(0, line.find_last_not_of(" \n") + 1);
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        line.remove_prefix(indent);
        if (indent < 2 || !line.starts_with(program) || line.size() == program.size() ||
            !std::islower(static_cast<unsigned char>(line[program.size()]))) {
            continue;
        }
        const std::size_t gap = std::min(line.find("  "), line.size());
        Example one;
        one.command = line.substr(0, gap);
        one.does = line.substr(gap);
        one.verb = one.command.substr(program.size(), one.command.find(' ', program.size()) - program.size());
        all.push_back(std::move(one));
    }
    return all;
}

} // namespace espalier::test
