// SPDX-License-Identifier: Apache-2.0
#include "core/model/limit.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::array<std::string_view, 6> relations = {"<=", "<", "==", "!=", ">=", ">"};

} // namespace

const std::vector<std::string>& Limit::metrics()
{
    static const std::vector<std::string> names = {
        "registers",         "shared_bytes",        "spill_bytes",
        "local_bytes",       "workspace_bytes",     "launches",
        "library_bytes",     "tensor_instructions", "fp16_instructions",
        "bf16_instructions", "tf32_instructions",   "fp8_instructions",
        "fp64_instructions", "atomic_instructions", "async_copy_instructions"};
    return names;
}

bool Limit::holds(double measured) const
{
    if (relation == "<=") {
        return measured <= value;
    }
    if (relation == "<") {
        return measured < value;
    }
    if (relation == "==") {
        return measured == value;
    }
    if (relation == "!=") {
        return measured != value;
    }
    return relation == ">=" ? measured >= value : measured > value;
}

std::string Limit::text() const
{
    return fmt::format("{} {} {}", what, relation, value);
}

std::string Limit::sentence() const
{
    return fmt::format("{} says {}", by.empty() ? "the contract" : by, text());
}

std::optional<Limit> Limit::parse(std::string_view text)
{
    const std::string_view all = trimmed(text);
    const std::size_t begin = all.find_first_of("<>=!");
    if (begin == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t end = std::min(all.find_first_not_of("<>=!", begin), all.size());
    Limit limit;
    limit.what = trimmed(all.substr(0, begin));
    limit.relation = all.substr(begin, end - begin);
    const std::string_view number = trimmed(all.substr(end));
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), limit.value);
    const bool isNumber = !number.empty() && parsed.ec == std::errc() && parsed.ptr == number.data() + number.size() &&
                          std::isfinite(limit.value);
    const auto& known = metrics();
    if (!isNumber || std::find(known.begin(), known.end(), limit.what) == known.end() ||
        std::find(relations.begin(), relations.end(), limit.relation) == relations.end()) {
        return std::nullopt;
    }
    return limit;
}

} // namespace espalier
