// SPDX-License-Identifier: Apache-2.0
#include "core/model/expression.h"

#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

const Parameters parameters = {{"rows", 6}, {"cols", 65537}, {"n", 10}, {"big", INT64_MAX}};

std::string integer(std::string_view text)
{
    const auto parsed = Expression::parse(text);
    if (!parsed) {
        return parsed.error().message;
    }
    const auto value = parsed->evaluateInteger(parameters);
    return value ? std::to_string(*value) : value.error().message;
}

TEST(Expression, Arithmetic)
{
    EXPECT_EQ(integer("1 + 2 * 3"), "7");
    EXPECT_EQ(integer("(1 + 2) * 3"), "9");
    EXPECT_EQ(integer("10 - 3 - 4"), "3");
    EXPECT_EQ(integer("--3"), "3");
    EXPECT_EQ(integer("-rows * -2"), "12");
    EXPECT_EQ(integer("5 * rows * cols"), "1966110");
    EXPECT_EQ(integer("min(rows, 4) + max(rows, 4)"), "10");
    EXPECT_EQ(integer("ceildiv(cols, 128)"), "513");
    EXPECT_EQ(integer("floordiv(cols, 128)"), "512");
    EXPECT_EQ(integer("floordiv(-7, 2)"), "-4");
    EXPECT_EQ(integer("ceildiv(-7, 2)"), "-3");
    EXPECT_EQ(integer("cols % 128"), "1");
    EXPECT_EQ(integer("-1 % 4"), "3");
    EXPECT_EQ(integer("log2(65536)"), "16");
    EXPECT_EQ(integer("sqrt(49) + 1"), "8");
    EXPECT_EQ(integer("1e3"), "1000");
    EXPECT_EQ(integer("0.5 * n"), "5");
}

TEST(Expression, QuotientIsExact)
{
    EXPECT_EQ(integer("n / 3 * 3"), "10");
    EXPECT_EQ(integer("n / 4 * 2"), "5");
    EXPECT_EQ(integer("0.1 * 3 / 0.3"), "1");
    EXPECT_EQ(integer("n / 4"), "expression \"n / 4\": 2.5 is not a whole number");
    EXPECT_DOUBLE_EQ(Expression::parse("3 * (7 / 2)")->evaluate({}).value(), 10.5);
    EXPECT_DOUBLE_EQ(Expression::parse("1e-5")->evaluate({}).value(), 1e-5);
}

TEST(Expression, LimitsOfNumbers)
{
    EXPECT_EQ(integer("big"), std::to_string(INT64_MAX));
    EXPECT_EQ(integer("big + 1"), "expression \"big + 1\": 9.22337e+18 does not fit 63 bits");
    EXPECT_EQ(integer("big * big / big"), "expression \"big * big / big\": 9.22337e+18 does not fit 63 bits");
    EXPECT_DOUBLE_EQ(Expression::parse("big * 4")->evaluate(parameters).value(), 4.0 * 9223372036854775807.0);
    EXPECT_EQ(integer("1 / (rows - 6)"), "expression \"1 / (rows - 6)\": division by zero");
    EXPECT_EQ(integer("sqrt(-1)"), "expression \"sqrt(-1)\": sqrt of a negative number");
    EXPECT_EQ(integer("log2(0)"), "expression \"log2(0)\": log2 of a number that is not above 0");
    EXPECT_NE(integer("1e308 * 1e308").find("too large"), std::string::npos);
}

TEST(Expression, ComplaintsNameThePlace)
{
    EXPECT_EQ(integer("rows *"),
              "expression \"rows *\", position 7: expected a number, a name or \"(\"; found the end");
    EXPECT_EQ(integer("rows cols"),
              "expression \"rows cols\", position 6: expected an operator or the end; found \"cols\"");
    EXPECT_EQ(integer("foo(1)"), "expression \"foo(1)\", position 1: expected a function (min, max, ceildiv, floordiv, "
                                 "log2, sqrt); found \"foo(1)\"");
    EXPECT_EQ(integer("min(1)"),
              "expression \"min(1)\", position 6: expected \",\" and a second argument; found \")\"");
    EXPECT_EQ(integer("depth"), "expression \"depth\": the parameter depth has no value");
    EXPECT_EQ(integer(""), "expression \"\", position 1: expected a number, a name or \"(\"; found the end");
    EXPECT_NE(integer("1.").find("expected a digit"), std::string::npos);
    EXPECT_NE(integer("99999999999999999999").find("below 2^63"), std::string::npos);
}

TEST(Expression, NamesOfParameters)
{
    EXPECT_EQ(Expression::parse("rows * min(cols, rows) + log2(n)")->names(),
              (std::vector<std::string>{"cols", "n", "rows"}));
}

TEST(Expression, NestingIsBounded)
{
    EXPECT_EQ(integer(std::string(64, '(') + "1" + std::string(64, ')')), "1");
    EXPECT_NE(integer(std::string(65, '(') + "1" + std::string(65, ')')).find("at most 64 levels"), std::string::npos);
    EXPECT_NE(integer(std::string(900, '-') + "1").find("at most 64 levels"), std::string::npos);
    EXPECT_NE(integer(std::string(1001, '1')).find("at most 1000"), std::string::npos);
    std::string sum = "1";
    while (sum.size() < 990) {
        sum += "+1";
    }
    EXPECT_EQ(integer(sum), std::to_string(sum.size() / 2 + 1));
}

/// Neither parser nor evaluation may crash or hang on anything; sanitizer builds make this count.
TEST(Expression, SurvivesNoise)
{
    std::mt19937 random(7);
    const std::string alphabet = "0123456789.eE+-*/%(), rowscninmaxlog2\t_\xC3";
    for (int i = 0; i < 40000; ++i) {
        std::string text;
        for (auto length = random() % 24; length > 0; --length) {
            text += alphabet[random() % alphabet.size()];
        }
        if (const auto parsed = Expression::parse(text)) {
            (void)parsed->evaluateInteger(parameters);
            const auto again = Expression::parse(parsed->text());
            ASSERT_TRUE(again.has_value()) << text;
        } else {
            ASSERT_FALSE(parsed.error().message.empty());
        }
    }
}

} // namespace
} // namespace espalier
