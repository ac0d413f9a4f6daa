// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/status_line.h"

#include "core/base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace espalier::ctl {

namespace {

constexpr std::string_view separator = ", ";

struct Part {
    std::string text;
    int rank; ///< 0 stays longest
};

bool startsCharacter(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

std::string progressText(const RunStatus& status)
{
    return status.budget.evaluations ? fmt::format("{}/{} evaluations", status.evaluations, *status.budget.evaluations)
                                     : fmt::format("{} evaluations", status.evaluations);
}

std::vector<Part> partsOf(const RunStatus& status, Provenance provenance)
{
    std::vector<Part> parts = {{fmt::format("{}: {} building", nameOf(status.state), status.building), 3},
                               {fmt::format("{} judging", status.judging), 3},
                               {progressText(status), 0}};
    if (status.bestSpeedupRoot) {
        parts.push_back({fmt::format("best {}{:.2f}x (#{})", provenance == Provenance::Model ? "≈" : "",
                                     status.bestSpeedupRoot->value, status.best ? status.best->value : 0),
                         1});
    }
    if (status.evaluationsPerSecond > 0) {
        parts.push_back({fmt::format("{:.2f}/s", status.evaluationsPerSecond), 4});
    }
    if (status.readsOn) {
        parts.push_back({fmt::format("an answer is coming: {} s more at most", *status.readsOn), 0});
    } else if (status.secondsLeft) {
        parts.push_back({fmt::format("{} left", durationText(*status.secondsLeft)), 2});
    }
    return parts;
}

std::string joined(const std::vector<Part>& parts)
{
    std::string text;
    for (const Part& part : parts) {
        text += (text.empty() ? "" : std::string(separator)) + part.text;
    }
    return text;
}

/// The first columns of a text.
std::string cut(std::string text, std::size_t columns)
{
    std::size_t seen = 0;
    const auto end =
        std::find_if(text.begin(), text.end(), [&](char c) { return startsCharacter(c) && ++seen > columns; });
    text.erase(end, text.end());
    return text;
}

} // namespace

std::size_t columnsOf(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), startsCharacter));
}

std::string statusLine(const RunStatus& status, Provenance provenance, std::size_t columns)
{
    std::vector<Part> parts = partsOf(status, provenance);
    while (parts.size() > 1 && columnsOf(joined(parts)) > columns) {
        const int least = std::ranges::max(parts, {}, &Part::rank).rank;
        std::erase_if(parts, [least](const Part& part) { return part.rank == least; });
    }
    return cut(joined(parts), columns);
}

} // namespace espalier::ctl
