// SPDX-License-Identifier: Apache-2.0
#include "core/build/ptx_lines.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

using Place = PtxLines::Place;

constexpr const char* shownPtx = R"(.version 9.0
.extern .func  (.param .b32 func_retval0) _Z4helpf
(
	.param .b32 _Z4helpf_param_0
)
;
.const .align 4 .b8 small[64];
.visible .const .align 4 .b8 large[80000];
.visible .entry _Z1kPf(
	.param .u64 _Z1kPf_param_0
)
{
	.reg .f32 	%f<3>;
	.loc	1 7 0
	ld.param.u64 	%rd1, [_Z1kPf_param_0];
	.loc	2 310 3, function_name $L__info_string0, inlined_at 1 9 5
	mvo.u32 %r3, 1;
	.loc	1 0 5
	add.f32 %f1, %f1, %f1;
	.loc	2 12 3
	call.uni (retval0),
	_Z4helpf,
	(
	param0
	);
	ret;
}
.visible .entry _Z5otherPf(
)
{
	ret;
}
	.file	1 "/build/candidate.cu"
	.file	2 "/usr/include/some header.h"
)";

TEST(PtxLines, FollowMarksAndWhatIsInlined)
{
    const PtxLines lines(shownPtx, "candidate.cu");
    EXPECT_EQ(lines.text(17), "mvo.u32 %r3, 1;");
    EXPECT_EQ(lines.placeOf(15), (Place{"candidate.cu", 7}));
    EXPECT_EQ(lines.placeOf(17), (Place{"candidate.cu", 9})) << "where it was inlined";
    EXPECT_EQ(lines.placeOf(19), (Place{"candidate.cu", 9})) << "line 0 is no line";
    EXPECT_EQ(lines.placeOf(26), (Place{"some header.h", 12}));
    EXPECT_EQ(lines.placeOf(31), std::nullopt) << "marks of another function say nothing";
    EXPECT_EQ(lines.placeOf(0), std::nullopt);
    EXPECT_EQ(lines.placeOf(4000), std::nullopt);
}

TEST(PtxLines, FindFunctionsAndConstants)
{
    const PtxLines lines(shownPtx, "candidate.cu");
    EXPECT_EQ(lines.placeOfFunction("_Z1kPf"), (Place{"candidate.cu", 7}));
    EXPECT_EQ(lines.placeOfFunction("_Z4helpf"), (Place{"some header.h", 12})) << "only declared: where it is called";
    EXPECT_EQ(lines.placeOfFunction("_Z5otherPf"), std::nullopt);
    EXPECT_EQ(lines.placeOfFunction("_Z4hel"), std::nullopt) << "a part of a name is no name";
    EXPECT_EQ(lines.largestConstant(), "large");
    EXPECT_EQ(PtxLines("", "candidate.cu").placeOf(1), std::nullopt);
}

} // namespace
} // namespace espalier
