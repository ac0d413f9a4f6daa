// SPDX-License-Identifier: Apache-2.0
#include "core/build/slip_advice.h"
#include "tests/build/build_support.h"

namespace espalier {
namespace {

std::string adviceOn(const std::string& text, std::string_view source = {})
{
    const CompileMessage warning{"candidate.cu", 1, 0, false, "variable \"a\" was declared but never referenced"};
    return slipAdvice({warning, {"candidate.cu", 2, 0, true, text}}, source, test::copyTask());
}

TEST(SlipAdvice, Field03ASignatureIsAnsweredByThePrototype)
{
    const std::string answer =
        "candidate.cu, line 2: copy_f32 has another signature than the task's; it must be " + test::signature;
    EXPECT_EQ(adviceOn("more than one instance of overloaded function \"copy_f32\" has \"C\" linkage"), answer);
    EXPECT_EQ(adviceOn("cannot overload functions distinguished by return type alone",
                       "// one\nextern \"C\" int copy_f32(const float* x)\n"),
              answer)
        << "the name stands in the line only";
    EXPECT_EQ(adviceOn("‘cudaError_t copy_f32(const float*)’ was declared ‘extern’ and later ‘static’"), answer);
    EXPECT_NE(adviceOn("more than one instance of overloaded function \"copy_f32_workspace\" has \"C\" linkage")
                  .find("it must be extern \"C\" size_t copy_f32_workspace(int64_t n)"),
              std::string::npos);
    EXPECT_EQ(adviceOn("cannot overload functions distinguished by return type alone", "// one\nint other();\n"), "");
    EXPECT_EQ(adviceOn("identifier \"copy\" is undefined"), "");
}

TEST(SlipAdvice, Field12AWordOfALaterLanguage)
{
    EXPECT_NE(adviceOn("identifier \"requires\" is undefined").find("// espalier: std c++20"), std::string::npos);
    EXPECT_EQ(adviceOn("identifier \"requires\" is undefined", "// espalier: std c++20\n"), "");
    EXPECT_EQ(adviceOn("expected a \";\""), "");
}

} // namespace
} // namespace espalier
