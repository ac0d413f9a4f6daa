// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// A condition over tunables: `BLOCK * ITEMS <= 4096 && BLOCK % 32 == 0`. Whole numbers, names, + - * / %, comparisons,
/// && || !, brackets, with C's precedence. Parsed once, never evaluated as code; a value, thread: any.
class TuneCondition
{
public:
    static constexpr std::size_t longest = 1000; ///< characters
    static constexpr int deepest = 64;           ///< brackets

    /// Errors: InvalidInput saying what was expected where.
    static Result<TuneCondition> read(std::string_view text);

    /// What divides by zero or overflows does not hold; nor does one with a name that has no value.
    bool holds(const std::map<std::string, std::int64_t, std::less<>>& values) const;
    const std::vector<std::string>& names() const { return m_names; } ///< each once
    const std::string& text() const { return m_text; }
    bool operator==(const TuneCondition& other) const { return m_text == other.m_text; }

private:
    friend class TuneConditionReader;
    struct Step { ///< in postfix order
        enum class Kind { Number, Name, Binary, Not, Negate } kind = Kind::Number;
        std::int64_t number = 0; ///< of a name: which
        std::string op;
    };
    std::string m_text;
    std::vector<std::string> m_names;
    std::vector<Step> m_steps;
};

} // namespace espalier
