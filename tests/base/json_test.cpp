// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <gtest/gtest.h>

using namespace espalier;

TEST(JsonAccess, SyntaxErrorsNameThePlace)
{
    const auto parsed = parseJson("{\n  \"a\": 1,\n  \"b\" 2\n}", "task.json");
    ASSERT_FALSE(parsed);
    EXPECT_TRUE(parsed.error().message.starts_with("task.json: line 3, column ")) << parsed.error().message;
}

TEST(JsonAccess, ComplaintsNameFieldAndExpectation)
{
    const Json json = Json::parse(R"({"cases":[{"role":"tiem","n":1.5}]})");
    const JsonReader reader(json, "task.json");
    const auto cases = reader.at("cases")->items();
    ASSERT_TRUE(cases);
    const JsonReader& first = (*cases)[0];
    EXPECT_EQ(first.at("role")->oneOf({"verify", "time"}).error().message,
              "task.json: cases[0].role: expected one of verify, time; found \"tiem\"");
    EXPECT_EQ(first.at("n")->integer().error().message, "task.json: cases[0].n: expected a whole number; found 1.5");
    EXPECT_EQ(first.at("m").error().message, "task.json: cases[0].m: this field is missing");
    EXPECT_EQ(first.onlyFields({"role"}).error().message, "task.json: cases[0].n: unknown field; expected one of role");
}

TEST(JsonAccess, DeepNestingIsNoCrash)
{
    const auto parsed = parseJson(std::string(20000, '['), "deep");
    EXPECT_FALSE(parsed);
}

TEST(JsonAccess, HugeUnsignedIsRefused)
{
    const Json json = Json::parse("18446744073709551615");
    EXPECT_FALSE(JsonReader(json, "x").integer());
}
