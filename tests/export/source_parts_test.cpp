// SPDX-License-Identifier: Apache-2.0
#include "core/export/source_parts.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(SourceParts, CommentsAndLiteralsAreNoCode)
{
    EXPECT_EQ(codeOf("a // b\nc /* d\ne */ f \"g\\\"h\" 'i' 1'000 R\"x(j)\")x\" k"),
              "a     \nc     \n     f \"    \" ' ' 1'000            k");
    EXPECT_EQ(codeOf("// one \\\ntwo\nthree"), "        \n   \nthree");
    EXPECT_EQ(codeOf("\"never closed\nx"), "\"            \nx");
}

TEST(SourceParts, MacrosAreFoundOnceAndOnlyWhereTheyAreDefined)
{
    EXPECT_EQ(macrosIn("#define A 1\n  #  define B(x) \\\n #define C\n// #define D\n#ifdef E\n#define A 2\n#endif\n"),
              (std::vector<std::string>{"A", "B"}));
    EXPECT_EQ(macrosIn("int x; #define Y\n"), std::vector<std::string>());
}

TEST(SourceParts, IncludesKeepTheirConditionals)
{
    EXPECT_EQ(includesIn("#include <a>\n#if X\nint i;\n#endif\n#if Y\n#if Z\n#endif\n#include \"b\" // c\n#else\n"
                         "#include <d>\n#endif\n/*\n#include <e>\n*/\n"),
              "#include <a>\n#if Y\n#include \"b\" // c\n#else\n#include <d>\n#endif\n");
    EXPECT_EQ(includesIn("#if X\n#include <a>\n"), "") << "a conditional that does not close";
}

TEST(SourceParts, ADefinitionIsMoreThanACallOrADeclaration)
{
    EXPECT_TRUE(definesFunction("extern \"C\" size_t f_workspace(int64_t n) noexcept\n{ return n; }", "f_workspace"));
    EXPECT_FALSE(definesFunction("size_t f_workspace(int64_t n);", "f_workspace"));
    EXPECT_FALSE(definesFunction("// size_t f_workspace(int64_t n) {}\n", "f_workspace"));
    EXPECT_FALSE(definesFunction("size_t my_f_workspace(int n) {}", "f_workspace"));
    EXPECT_FALSE(definesFunction("f_workspace(", "f_workspace"));
    EXPECT_TRUE(definesFunction("int f(int (*g)(int)) {}", "f"));
    EXPECT_TRUE(definesFunction("auto main() -> int { return 0; }", "main"));
    EXPECT_FALSE(definesFunction("auto main() -> int; struct S {};", "main"));
}

} // namespace
} // namespace espalier
