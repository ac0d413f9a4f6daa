// SPDX-License-Identifier: Apache-2.0
// Device code has one name however its source is written, and another one when it does something else.
#include "tests/build/build_support.h"

#include "core/build/device_code.h"
#include "tests/support/fat_binary.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

std::string ptxName(const std::string& text)
{
    return deviceCodeHash(fatLibrary({{1, 90, text}}), DeviceCode::Ptx).value();
}

TEST(DeviceCode, MarksOfLinesAreNoPartOfThePtx)
{
    const std::string plain = ".version 9.0\n.visible .entry k()\n{\n\tadd.f32 %f1, %f2, %f3;\n\tret;\n}\n";
    EXPECT_EQ(
        ptxName(plain),
        ptxName(
            "// made by\n.version 9.0\n.file 1 \"candidate.cu\"\n.visible .entry k()\n{\n\t.loc 1 77 3\n\tadd.f32 %f1, "
            "%f2, %f3; // sum\n\tret;\n}\n.section .debug_str\n{\n.b8 1,2,3\n}\n"));
    EXPECT_NE(ptxName(plain), ptxName(".version 9.0\n.visible .entry k()\n{\n\tsub.f32 %f1, %f2, %f3;\n\tret;\n}\n"));
}

TEST(DeviceCode, WhatIsNotThereHasNoName)
{
    EXPECT_EQ(deviceCodeHash("nothing", DeviceCode::Ptx).error().code, ErrorCode::NotFound);
    EXPECT_EQ(deviceCodeHash(fatLibrary({{1, 90, "ptx"}}), DeviceCode::Machine).error().code, ErrorCode::NotFound);
    EXPECT_EQ(deviceCodeHash(fatLibrary({{2, 90, "no cubin at all"}}), DeviceCode::Machine).error().code,
              ErrorCode::InvalidInput);
}

} // namespace
} // namespace espalier
