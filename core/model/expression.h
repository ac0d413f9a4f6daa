// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Values of a case's parameters: "rows" -> 4096.
using Parameters = std::map<std::string, std::int64_t, std::less<>>;

/// An arithmetic expression over named parameters: + - * / % ( ) , whole and decimal numbers, names, min max ceildiv
/// floordiv log2 sqrt (the grammar is in tasks/SCHEMA.md). `/` is the exact quotient: 3 * (7 / 2) is 10.5. Parsed into
/// a tree, never run as code. At most 1000 characters and 64 levels of nesting. Immutable. Thread: any. Errors:
/// InvalidInput naming the position; at evaluation an unknown name, division by zero, overflow, or (for
/// evaluateInteger) a result that is not a whole number of 63 bits.
class Expression
{
public:
    Expression() = default; ///< without a tree: evaluates to 0
    static Result<Expression> parse(std::string_view text);
    static Expression constant(std::int64_t value);
    Result<std::int64_t> evaluateInteger(const Parameters& parameters) const;
    Result<double> evaluate(const Parameters& parameters) const;
    const std::string& text() const { return m_text; }
    std::vector<std::string> names() const; ///< the parameters it uses

    struct Node;

private:
    std::string m_text;
    std::shared_ptr<const Node> m_root;
};

} // namespace espalier
