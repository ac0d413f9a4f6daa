// SPDX-License-Identifier: Apache-2.0
#include "core/model/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace espalier {

struct Expression::Node {
    enum class Kind {
        Number,
        Name,
        Negate,
        Add,
        Subtract,
        Multiply,
        Divide,
        Modulo,
        Min,
        Max,
        CeilDiv,
        FloorDiv,
        Log2,
        Sqrt
    };
    Kind kind = Kind::Number;
    std::string text;                            ///< Name
    std::int64_t numerator = 0, denominator = 1; ///< Number when `exact`
    double real = 0;
    bool exact = true;
    std::shared_ptr<const Node> left, right;
};

namespace {

using Node = Expression::Node;
using Kind = Node::Kind;
using NodePointer = std::shared_ptr<const Node>;

constexpr std::size_t longest = 1000;
constexpr int deepest = 64;

/// A fraction while it fits, so that `n / 3 * 3` is n again; a double from there on.
struct Value {
    bool exact = true;
    std::int64_t numerator = 0, denominator = 1;
    double real = 0;

    static Value whole(std::int64_t number) { return {true, number, 1, static_cast<double>(number)}; }
    static Value inexact(double number) { return {false, 0, 1, number}; }
    bool isWhole() const { return exact && denominator == 1; }
};

__extension__ typedef __int128 Wide;

Value fraction(Wide numerator, Wide denominator, double otherwise)
{
    if (denominator < 0) {
        numerator = -numerator;
        denominator = -denominator;
    }
    Wide a = numerator < 0 ? -numerator : numerator, b = denominator;
    while (b != 0) {
        a = std::exchange(b, a % b);
    }
    if (a > 1) {
        numerator /= a;
        denominator /= a;
    }
    if (numerator > INT64_MAX || numerator < -Wide(INT64_MAX) || denominator > INT64_MAX) {
        return Value::inexact(otherwise);
    }
    const auto n = static_cast<std::int64_t>(numerator), d = static_cast<std::int64_t>(denominator);
    return {true, n, d, static_cast<double>(n) / static_cast<double>(d)};
}

struct Function {
    std::string_view name;
    Kind kind;
    int arity;
};

constexpr std::array<Function, 6> functions = {{
    {"min", Kind::Min, 2},
    {"max", Kind::Max, 2},
    {"ceildiv", Kind::CeilDiv, 2},
    {"floordiv", Kind::FloorDiv, 2},
    {"log2", Kind::Log2, 1},
    {"sqrt", Kind::Sqrt, 1},
}};

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isNameStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Recursive descent over the grammar of tasks/SCHEMA.md. `m_depth` bounds the recursion.
class Parser
{
public:
    explicit Parser(std::string_view text) : m_text(text) {}

    Result<NodePointer> parseAll()
    {
        ESPALIER_TRY(NodePointer root, sum());
        skipSpace();
        if (m_at != m_text.size()) {
            return complain("an operator or the end");
        }
        return root;
    }

private:
    std::unexpected<Error> complain(std::string_view expected) const
    {
        const std::string found =
            m_at < m_text.size() ? fmt::format("\"{}\"", m_text.substr(m_at, 8)) : std::string("the end");
        return fail(ErrorCode::InvalidInput, fmt::format("expression \"{}\", position {}: expected {}; found {}",
                                                         m_text.substr(0, 80), m_at + 1, expected, found));
    }

    void skipSpace()
    {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) {
            ++m_at;
        }
    }

    char peek()
    {
        skipSpace();
        return m_at < m_text.size() ? m_text[m_at] : '\0';
    }

    bool take(char c)
    {
        if (m_at >= m_text.size() || peek() != c) {
            return false;
        }
        ++m_at;
        return true;
    }

    static NodePointer binary(Kind kind, NodePointer left, NodePointer right)
    {
        auto node = std::make_shared<Node>();
        node->kind = kind;
        node->left = std::move(left);
        node->right = std::move(right);
        return node;
    }

    Result<NodePointer> sum()
    {
        ESPALIER_TRY(NodePointer left, product());
        while (true) {
            const char c = peek();
            if (c != '+' && c != '-') {
                return left;
            }
            ++m_at;
            ESPALIER_TRY(NodePointer right, product());
            left = binary(c == '+' ? Kind::Add : Kind::Subtract, std::move(left), std::move(right));
        }
    }

    Result<NodePointer> product()
    {
        ESPALIER_TRY(NodePointer left, unary());
        while (true) {
            const char c = peek();
            if (c != '*' && c != '/' && c != '%') {
                return left;
            }
            ++m_at;
            ESPALIER_TRY(NodePointer right, unary());
            const Kind kind = c == '*' ? Kind::Multiply : c == '/' ? Kind::Divide : Kind::Modulo;
            left = binary(kind, std::move(left), std::move(right));
        }
    }

    Result<NodePointer> unary()
    {
        if (!take('-')) {
            return atom();
        }
        if (++m_depth > deepest) {
            return complain("at most 64 levels of nesting");
        }
        ESPALIER_TRY(NodePointer operand, unary());
        --m_depth;
        return binary(Kind::Negate, std::move(operand), nullptr);
    }

    Result<NodePointer> atom()
    {
        const char c = peek();
        if (isDigit(c)) {
            return number();
        }
        if (isNameStart(c)) {
            return nameOrCall();
        }
        if (!take('(')) {
            return complain("a number, a name or \"(\"");
        }
        return nested();
    }

    /// After "(": an expression and ")".
    Result<NodePointer> nested()
    {
        if (++m_depth > deepest) {
            return complain("at most 64 levels of nesting");
        }
        ESPALIER_TRY(NodePointer inner, sum());
        --m_depth;
        if (!take(')')) {
            return complain("\")\"");
        }
        return inner;
    }

    Result<NodePointer> number()
    {
        const std::size_t begin = m_at;
        const auto digits = [&] {
            const std::size_t first = m_at;
            while (m_at < m_text.size() && isDigit(m_text[m_at])) {
                ++m_at;
            }
            return m_at - first;
        };
        digits();
        std::size_t decimals = 0;
        bool exponent = false;
        if (m_at < m_text.size() && m_text[m_at] == '.') {
            ++m_at;
            decimals = digits();
            if (decimals == 0) {
                return complain("a digit");
            }
        }
        if (m_at < m_text.size() && (m_text[m_at] == 'e' || m_text[m_at] == 'E')) {
            ++m_at;
            exponent = true;
            if (m_at < m_text.size() && (m_text[m_at] == '+' || m_text[m_at] == '-')) {
                ++m_at;
            }
            if (digits() == 0) {
                return complain("a digit");
            }
        }
        return makeNumber(m_text.substr(begin, m_at - begin), decimals, exponent);
    }

    Result<NodePointer> makeNumber(std::string_view text, std::size_t decimals, bool exponent)
    {
        auto node = std::make_shared<Node>();
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), node->real);
        if (parsed.ec != std::errc() || !std::isfinite(node->real)) {
            return complain("a number that fits");
        }
        node->exact = false;
        if (!exponent && decimals <= 15) {
            std::string digits(text);
            std::erase(digits, '.');
            std::int64_t numerator = 0, denominator = 1;
            const auto whole = std::from_chars(digits.data(), digits.data() + digits.size(), numerator);
            for (std::size_t i = 0; i < decimals; ++i) {
                denominator *= 10;
            }
            if (whole.ec == std::errc()) {
                const std::int64_t common = std::gcd(numerator, denominator);
                node->exact = true;
                node->numerator = numerator / common;
                node->denominator = denominator / common;
            } else if (decimals == 0) {
                return complain("a whole number below 2^63");
            }
        }
        return node;
    }

    Result<NodePointer> nameOrCall()
    {
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && (isNameStart(m_text[m_at]) || isDigit(m_text[m_at]))) {
            ++m_at;
        }
        const std::string_view name = m_text.substr(begin, m_at - begin);
        if (peek() == '(') {
            return call(name, begin);
        }
        auto node = std::make_shared<Node>();
        node->kind = Kind::Name;
        node->text = name;
        return node;
    }

    Result<NodePointer> call(std::string_view name, std::size_t begin)
    {
        const auto found =
            std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
        if (found == functions.end()) {
            m_at = begin;
            return complain("a function (min, max, ceildiv, floordiv, log2, sqrt)");
        }
        take('(');
        if (++m_depth > deepest) {
            return complain("at most 64 levels of nesting");
        }
        ESPALIER_TRY(NodePointer left, sum());
        NodePointer right;
        if (found->arity == 2) {
            if (!take(',')) {
                return complain("\",\" and a second argument");
            }
            ESPALIER_TRY(right, sum());
        }
        --m_depth;
        if (!take(')')) {
            return complain("\")\"");
        }
        return binary(found->kind, std::move(left), std::move(right));
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_depth = 0;
};

std::unexpected<Error> cannot(std::string_view text, std::string_view why)
{
    return fail(ErrorCode::InvalidInput, fmt::format("expression \"{}\": {}", text, why));
}

class Evaluator
{
public:
    Evaluator(std::string_view text, const Parameters& parameters) : m_text(text), m_parameters(parameters) {}

    Result<Value> evaluate(const Node& node) const
    {
        if (node.kind == Kind::Number) {
            return node.exact ? Value{true, node.numerator, node.denominator,
                                      static_cast<double>(node.numerator) / static_cast<double>(node.denominator)}
                              : Value::inexact(node.real);
        }
        if (node.kind == Kind::Name) {
            const auto found = m_parameters.find(node.text);
            if (found == m_parameters.end()) {
                return cannot(m_text, fmt::format("the parameter {} has no value", node.text));
            }
            return Value::whole(found->second);
        }
        ESPALIER_TRY(const Value left, evaluate(*node.left));
        if (!node.right) {
            return unary(node.kind, left);
        }
        ESPALIER_TRY(const Value right, evaluate(*node.right));
        ESPALIER_TRY(const Value result, binary(node.kind, left, right));
        if (!std::isfinite(result.real)) {
            return cannot(m_text, "the result is too large");
        }
        return result;
    }

private:
    Result<Value> unary(Kind kind, const Value& a) const
    {
        switch (kind) {
        case Kind::Negate:
            return a.exact ? fraction(-Wide(a.numerator), a.denominator, -a.real) : Value::inexact(-a.real);
        case Kind::Log2:
            if (!(a.real > 0)) {
                return cannot(m_text, "log2 of a number that is not above 0");
            }
            return Value::inexact(std::log2(a.real));
        default:
            if (a.real < 0) {
                return cannot(m_text, "sqrt of a negative number");
            }
            return Value::inexact(std::sqrt(a.real));
        }
    }

    Result<Value> binary(Kind kind, const Value& a, const Value& b) const
    {
        const bool exact = a.exact && b.exact;
        const Wide an = a.numerator, ad = a.denominator, bn = b.numerator, bd = b.denominator;
        switch (kind) {
        case Kind::Add:
            return exact ? sumOf(an, ad, bn, bd, a.real + b.real) : Value::inexact(a.real + b.real);
        case Kind::Subtract:
            return exact ? sumOf(an, ad, -bn, bd, a.real - b.real) : Value::inexact(a.real - b.real);
        case Kind::Multiply:
            return exact ? fraction(an * bn, ad * bd, a.real * b.real) : Value::inexact(a.real * b.real);
        case Kind::Min:
        case Kind::Max: {
            const bool less = exact ? an * bd < bn * ad : a.real < b.real;
            return less == (kind == Kind::Min) ? a : b;
        }
        default:
            return quotient(kind, a, b);
        }
    }

    static Value sumOf(Wide an, Wide ad, Wide bn, Wide bd, double otherwise)
    {
        // |an * bd| and |bn * ad| stay below 2^126 each, so their sum fits
        return fraction(an * bd + bn * ad, ad * bd, otherwise);
    }

    Result<Value> quotient(Kind kind, const Value& a, const Value& b) const
    {
        if (b.exact ? b.numerator == 0 : b.real == 0) {
            return cannot(m_text, "division by zero");
        }
        const bool exact = a.exact && b.exact;
        const Wide n = Wide(a.numerator) * b.denominator, d = Wide(a.denominator) * b.numerator;
        if (kind == Kind::Divide) {
            return exact ? fraction(n, d, a.real / b.real) : Value::inexact(a.real / b.real);
        }
        if (!exact) {
            const double q = a.real / b.real;
            return Value::inexact(kind == Kind::CeilDiv    ? std::ceil(q)
                                  : kind == Kind::FloorDiv ? std::floor(q)
                                                           : a.real - b.real * std::floor(q));
        }
        Wide floor = n / d;
        const bool rest = n % d != 0;
        if (rest && ((n < 0) != (d < 0))) {
            --floor;
        }
        if (kind == Kind::Modulo) {
            // a - b * floor: the sign follows b, so that n % 4 is an index for every n
            const Wide scale = Wide(a.denominator) * b.denominator;
            const Wide left = Wide(a.numerator) * b.denominator;
            const Wide right = Wide(b.numerator) * a.denominator;
            Wide remainder = left % right;
            if (remainder != 0 && ((remainder < 0) != (right < 0))) {
                remainder += right;
            }
            return fraction(remainder, scale, std::fmod(a.real, b.real));
        }
        if (kind == Kind::CeilDiv && rest) {
            ++floor;
        }
        return fraction(floor, 1, static_cast<double>(floor));
    }

    std::string_view m_text;
    const Parameters& m_parameters;
};

void collectNames(const Node& node, std::set<std::string>& into)
{
    if (node.kind == Kind::Name) {
        into.insert(node.text);
    }
    for (const NodePointer* child : {&node.left, &node.right}) {
        if (*child) {
            collectNames(**child, into);
        }
    }
}

} // namespace

Result<Expression> Expression::parse(std::string_view text)
{
    if (text.size() > longest) {
        return fail(ErrorCode::InvalidInput, fmt::format("expression \"{}…\" has {} characters; at most {} are allowed",
                                                         text.substr(0, 40), text.size(), longest));
    }
    Expression expression;
    expression.m_text = text;
    ESPALIER_TRY(expression.m_root, Parser(text).parseAll());
    return expression;
}

Expression Expression::constant(std::int64_t value)
{
    auto number = std::make_shared<Node>();
    number->numerator = value;
    Expression expression;
    expression.m_text = fmt::format("{}", value);
    expression.m_root = std::move(number);
    return expression;
}

Result<double> Expression::evaluate(const Parameters& parameters) const
{
    if (!m_root) {
        return 0.0;
    }
    ESPALIER_TRY(const Value value, Evaluator(m_text, parameters).evaluate(*m_root));
    return value.real;
}

Result<std::int64_t> Expression::evaluateInteger(const Parameters& parameters) const
{
    if (!m_root) {
        return 0;
    }
    ESPALIER_TRY(const Value value, Evaluator(m_text, parameters).evaluate(*m_root));
    if (value.isWhole()) {
        return value.numerator;
    }
    constexpr double exactDoubles = 9007199254740992.0; // 2^53: above it a double no longer proves a whole number
    if (!value.exact && value.real == std::floor(value.real)) {
        if (std::abs(value.real) < exactDoubles) {
            return static_cast<std::int64_t>(value.real);
        }
        return cannot(m_text, fmt::format("{:g} does not fit 63 bits", value.real));
    }
    return cannot(m_text, fmt::format("{:g} is not a whole number", value.real));
}

std::vector<std::string> Expression::names() const
{
    std::set<std::string> found;
    if (m_root) {
        collectNames(*m_root, found);
    }
    return {found.begin(), found.end()};
}

} // namespace espalier
