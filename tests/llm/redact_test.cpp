// SPDX-License-Identifier: Apache-2.0
#include "core/llm/redact.h"

#include <gtest/gtest.h>

using espalier::llm::Redactor;

namespace {

std::string clean(std::string_view text)
{
    return Redactor().clean(text);
}

} // namespace

TEST(B28_Redact, KnownSecretsWhereverTheyStand)
{
    Redactor redactor;
    redactor.add("planted+key/7f3");
    EXPECT_EQ(redactor.clean("a planted+key/7f3 b planted%2Bkey%2F7f3 c"), "a [redacted] b [redacted] c");
    EXPECT_EQ(redactor.cleanAnswer("// planted+key/7f3\nAuthorization: x"), "// [redacted]\nAuthorization: x");
}

TEST(B28_Redact, TheTokenOfAHeaderAloneToo)
{
    Redactor redactor;
    redactor.add("Bearer 0123456789");
    EXPECT_EQ(redactor.clean("you sent 0123456789"), "you sent [redacted]");
}

TEST(B28_Redact, ShortWordsAreNoSecrets)
{
    Redactor redactor;
    redactor.add("float");
    EXPECT_EQ(redactor.clean("float x"), "float x");
}

TEST(B28_Redact, KnownShapes)
{
    EXPECT_EQ(clean("Authorization: Bearer abc.def-123456\nHost: x"), "Authorization: Bearer [redacted]\nHost: x");
    EXPECT_EQ(clean(R"({"authorization": "Bearer abcdefghijkl", "a": 1})"),
              R"({"authorization": "Bearer [redacted]", "a": 1})");
    EXPECT_EQ(clean(R"("{\"x-api-key\": \"abcdef\"}")"), R"("{\"x-api-key\": \"[redacted]\"}")");
    EXPECT_EQ(clean("https://h/v1beta/models?key=AbC123456&alt=sse"), "https://h/v1beta/models?key=[redacted]&alt=sse");
    EXPECT_EQ(clean("http://me:secret@proxy:80/"), "http://me:[redacted]@proxy:80/");
    EXPECT_EQ(clean("Incorrect API key provided: sk-proj-abcDEF123456789xyz."),
              "Incorrect API key provided: [redacted].");
    EXPECT_EQ(clean("AIzaSyA1234567890abcdefghijklmnopqrstuv"), "[redacted]");
    EXPECT_EQ(clean("token Bearer abcdefghijklmnop"), "token Bearer [redacted]");
    EXPECT_EQ(clean("OPENAI_API_KEY=whatever123"), "OPENAI_API_KEY=[redacted]");
}

TEST(B28_Redact, OrdinaryTextStays)
{
    for (const char* text :
         {"the risk-averse scheduler", "task-sk-learn", "a ? key : value", "int key=3;", "https://host:8000/v1",
          "x @ y://z", "bearer of news", "sk-short", "const int* authorization = 0;", "a://b c@d"}) {
        EXPECT_EQ(clean(text), text);
    }
    EXPECT_EQ(clean(""), "");
}
