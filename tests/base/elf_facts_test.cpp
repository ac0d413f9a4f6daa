// SPDX-License-Identifier: Apache-2.0
#include "core/base/elf_facts.h"

#include "core/base/file.h"
#include "core/base/subprocess.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

/// Compiles plain C++ with g++: the loader's view of a library does not need nvcc.
std::string library(const std::string& source, std::vector<std::string> flags = {})
{
    const auto scratch = *ScratchFolder::create("elf");
    std::ofstream(scratch.path() / "a.cpp") << source;
    ProcessSpec spec;
    spec.argv = {
        "g++", "-shared", "-fPIC", "-o", (scratch.path() / "a.so").string(), (scratch.path() / "a.cpp").string()};
    spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
    const auto run = runToEnd(spec, {}, std::chrono::seconds(60));
    EXPECT_TRUE(run->status.success()) << run->err;
    return *readFile(scratch.path() / "a.so");
}

bool has(const std::vector<ElfFacts::Symbol>& symbols, std::string_view name)
{
    return std::any_of(symbols.begin(), symbols.end(), [&](const auto& symbol) { return symbol.name == name; });
}

TEST(ElfFacts, ImportsAndExports)
{
    const auto facts =
        readElf(library("extern \"C\" int getpid(); extern \"C\" int exported() { return getpid(); } static int "
                        "hidden() { return 1; } int use() { return hidden(); } int variable = 3;"));
    ASSERT_TRUE(facts.has_value()) << facts.error().message;
    EXPECT_TRUE(has(facts->imports, "getpid"));
    EXPECT_TRUE(has(facts->exports, "exported"));
    EXPECT_TRUE(has(facts->exports, "_Z3usev"));
    EXPECT_TRUE(has(facts->exports, "variable"));
    EXPECT_FALSE(has(facts->exports, "_ZL6hiddenv"));
    EXPECT_EQ(std::count(facts->needed.begin(), facts->needed.end(), "libc.so.6"), 1);
    EXPECT_EQ(facts->initArrayBytes, 8u);
    EXPECT_EQ(facts->finiArrayBytes, 8u);
    EXPECT_TRUE(facts->plainInit);
    EXPECT_TRUE(facts->plainFini);
    EXPECT_FALSE(facts->executableStack || facts->textRelocations || facts->indirectRelocations || facts->filters ||
                 facts->hasPreinit);
}

TEST(ElfFacts, EveryWayToRunAtLoad)
{
    EXPECT_EQ(readElf(library("__attribute__((constructor)) static void f() {}"))->initArrayBytes, 16u);
    EXPECT_EQ(readElf(library("__attribute__((destructor)) static void f() {}"))->finiArrayBytes, 16u);
    EXPECT_EQ(readElf(library("struct S { S(); ~S(); }; S::S() {} S::~S() {} static S s;"))->initArrayBytes, 16u);
    EXPECT_FALSE(readElf(library("asm(\".section .init,\\\"ax\\\"\\n nop\\n .text\");"))->plainInit);
    EXPECT_FALSE(readElf(library("asm(\".section .fini,\\\"ax\\\"\\n nop\\n .text\");"))->plainFini);
    const auto ifunc =
        readElf(library("static int one() { return 1; } extern \"C\" { typedef int (*F)(); static F pick() { return "
                        "one; } int f() __attribute__((ifunc(\"pick\"))); } int g() { return f(); }"));
    ASSERT_TRUE(ifunc.has_value());
    EXPECT_TRUE(
        std::any_of(ifunc->exports.begin(), ifunc->exports.end(), [](const auto& symbol) { return symbol.indirect; }));
    const auto hidden = readElf(library("static int one() { return 1; } extern \"C\" { typedef int (*F)(); static F "
                                        "pick() { return one; } __attribute__((visibility(\"hidden\"))) int f() "
                                        "__attribute__((ifunc(\"pick\"))); } int g() { return f(); }"));
    EXPECT_TRUE(hidden->indirectRelocations);
}

TEST(ElfFacts, LinkOptions)
{
    EXPECT_TRUE(readElf(library("int f;", {"-Wl,-z,execstack"}))->executableStack);
    EXPECT_EQ(readElf(library("int f;", {"-Wl,-rpath,/tmp/x"}))->runPath, "/tmp/x");
    EXPECT_TRUE(readElf(library("int f;", {"-Wl,--audit=/tmp/x.so"}))->filters);
    EXPECT_TRUE(readElf(library("int f;", {"-Wl,-f,libx.so"}))->filters);
    const std::string both = "extern \"C\" int getpid(); extern \"C\" int a() { return getpid(); }";
    EXPECT_TRUE(has(readElf(library(both, {"-Wl,--hash-style=sysv"}))->exports, "a"));
    EXPECT_TRUE(has(readElf(library(both, {"-Wl,--hash-style=both"}))->imports, "getpid"));
}

TEST(ElfFacts, RefusesWhatIsNoLibrary)
{
    EXPECT_FALSE(readElf("").has_value());
    EXPECT_FALSE(readElf("\177ELF").has_value());
    EXPECT_EQ(readElf("#!/bin/sh\n").error().message, "the built library is malformed: it is no ELF file");
}

/// Any bytes: an answer within the file, in bounded time (sanitizer builds make this count).
TEST(ElfFacts, SurvivesMutations)
{
    const std::string whole =
        library("#include <string>\nextern \"C\" int getpid(); int f(std::string s) { return getpid() + s.size(); }");
    std::mt19937 random(5);
    int read = 0;
    for (int i = 0; i < 6000; ++i) {
        std::string changed = whole;
        for (auto n = 1 + random() % 6; n > 0; --n) {
            // the headers and tables stand in the first pages; later bytes are code
            const std::size_t at =
                random() % std::min<std::size_t>(changed.size() - 8, random() % 2 ? 1200 : changed.size() - 8);
            const std::uint64_t values[] = {random(),           0,          ~0ull,          changed.size(),
                                            changed.size() - 1, 1ull << 63, random() % 4096};
            const std::uint64_t value = values[random() % 7];
            std::memcpy(changed.data() + at, &value, 1 + random() % 8);
        }
        if (random() % 8 == 0) {
            changed.resize(random() % changed.size());
        }
        read += readElf(changed).has_value() ? 1 : 0;
    }
    EXPECT_GT(read, 100);
}

} // namespace
} // namespace espalier
