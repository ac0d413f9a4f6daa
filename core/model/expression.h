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

/// An arithmetic expression over named parameters: + - * / % ( ) , whole and decimal numbers, names, min max ceil_div
/// align_up. Parsed into a tree, never run as code. Immutable. Thread: any.
/// Errors: InvalidInput naming the position; at evaluation an unknown name, division by zero or overflow.
class Expression
{
public:
    static Result<Expression> parse(std::string_view text);
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
