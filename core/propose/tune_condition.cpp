// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tune_condition.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace espalier {
namespace {

/// Binary operators, the loosest first.
const std::array<std::vector<std::string_view>, 6> levels = {{
    {"||"},
    {"&&"},
    {"==", "!="},
    {"<=", ">=", "<", ">"},
    {"+", "-"},
    {"*", "/", "%"},
}};

std::optional<std::int64_t> apply(std::string_view op, std::int64_t a, std::int64_t b)
{
    std::int64_t out = 0;
    if (op == "+") {
        return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    }
    if (op == "-") {
        return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    }
    if (op == "*") {
        return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    }
    if (op == "/" || op == "%") {
        if (b == 0 || (a == INT64_MIN && b == -1)) {
            return std::nullopt;
        }
        return op == "/" ? a / b : a % b;
    }
    if (op == "&&") {
        return a != 0 && b != 0;
    }
    if (op == "||") {
        return a != 0 || b != 0;
    }
    return op == "=="   ? a == b
           : op == "!=" ? a != b
           : op == "<"  ? a < b
           : op == ">"  ? a > b
           : op == "<=" ? a <= b
                        : a >= b;
}

} // namespace

/// Recursive descent over one line.
class TuneConditionReader
{
public:
    explicit TuneConditionReader(std::string_view text) : m_text(text)
    {
        m_condition.m_text = std::string(trimmed(text));
    }

    Result<TuneCondition> run()
    {
        if (m_text.size() > TuneCondition::longest) {
            return fail(ErrorCode::InvalidInput, "The condition is longer than 1000 characters.");
        }
        if (!binary(0) || (skipBlanks(), m_at != m_text.size())) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("Expected {} at \"{}\".", m_expected.empty() ? "an operator" : m_expected,
                                    printable(m_text.substr(std::min(m_at, m_text.size())), 30)));
        }
        return std::move(m_condition);
    }

private:
    using Step = TuneCondition::Step;

    void skipBlanks()
    {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) {
            ++m_at;
        }
    }
    std::string_view operatorOf(std::size_t level)
    {
        skipBlanks();
        for (const std::string_view op : levels[level]) {
            if (m_text.substr(m_at, op.size()) == op) {
                m_at += op.size();
                return op;
            }
        }
        return {};
    }
    bool binary(std::size_t level)
    {
        if (level == levels.size()) {
            return unary();
        }
        if (!binary(level + 1)) {
            return false;
        }
        for (std::string_view op = operatorOf(level); !op.empty(); op = operatorOf(level)) {
            if (!binary(level + 1)) {
                return false;
            }
            m_condition.m_steps.push_back({Step::Kind::Binary, 0, std::string(op)});
        }
        return true;
    }
    bool unary()
    {
        skipBlanks();
        const char c = m_at < m_text.size() ? m_text[m_at] : '\0';
        if (++m_depth > TuneCondition::deepest) {
            m_expected = "fewer nested brackets";
            return false;
        }
        bool good = false;
        if (c == '!' || c == '-') {
            ++m_at;
            good = unary();
            m_condition.m_steps.push_back({c == '!' ? Step::Kind::Not : Step::Kind::Negate, 0, ""});
        } else if (c == '(') {
            ++m_at;
            good = binary(0) && (skipBlanks(), m_at < m_text.size()) && m_text[m_at] == ')';
            m_expected = good ? m_expected : m_expected.empty() ? "\")\"" : m_expected;
            m_at += good ? 1 : 0;
        } else {
            good = operand();
        }
        --m_depth;
        return good;
    }
    bool operand()
    {
        const std::size_t begin = m_at;
        while (m_at < m_text.size() &&
               (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '_')) {
            ++m_at;
        }
        const std::string_view word = m_text.substr(begin, m_at - begin);
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (!word.empty() && error == std::errc() && end == word.data() + word.size()) {
            m_condition.m_steps.push_back({Step::Kind::Number, number, ""});
            return true;
        }
        if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front()))) {
            m_expected = "a whole number, a name or \"(\"";
            m_at = begin;
            return false;
        }
        auto& names = m_condition.m_names;
        auto known = std::find(names.begin(), names.end(), word);
        if (known == names.end()) {
            known = names.insert(names.end(), std::string(word));
        }
        m_condition.m_steps.push_back({Step::Kind::Name, known - names.begin(), ""});
        return true;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_depth = 0;
    std::string m_expected;
    TuneCondition m_condition;
};

Result<TuneCondition> TuneCondition::read(std::string_view text)
{
    return TuneConditionReader(text).run();
}

bool TuneCondition::holds(const std::map<std::string, std::int64_t, std::less<>>& values) const
{
    std::vector<std::int64_t> stack;
    for (const Step& step : m_steps) {
        switch (step.kind) {
        case Step::Kind::Number:
            stack.push_back(step.number);
            break;
        case Step::Kind::Name: {
            const auto value = values.find(m_names[static_cast<std::size_t>(step.number)]);
            if (value == values.end()) {
                return false;
            }
            stack.push_back(value->second);
            break;
        }
        case Step::Kind::Not:
            stack.back() = stack.back() == 0;
            break;
        case Step::Kind::Negate: {
            const auto negated = apply("-", 0, stack.back());
            if (!negated) {
                return false;
            }
            stack.back() = *negated;
            break;
        }
        case Step::Kind::Binary: {
            const std::int64_t right = stack.back();
            stack.pop_back();
            const auto result = apply(step.op, stack.back(), right);
            if (!result) {
                return false;
            }
            stack.back() = *result;
            break;
        }
        }
    }
    return !stack.empty() && stack.back() != 0;
}

} // namespace espalier
