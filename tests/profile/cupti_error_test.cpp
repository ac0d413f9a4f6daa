// SPDX-License-Identifier: Apache-2.0
#include "core/profile/cupti_error.h"

#include <gtest/gtest.h>

namespace espalier::profile {
namespace {

struct ErrorCase {
    int code;
    ErrorCode kind;
    const char* says;
};

TEST(CuptiErrorText, NamesCauseAndRemedy)
{
    const ErrorCase cases[] = {
        {26, ErrorCode::Busy, "another profiler holds the counters"},
        {35, ErrorCode::NotSupported, "ask an administrator to set NVreg_RestrictProfilingToAdminUsers=0"},
        {39, ErrorCode::Busy, "start it without"},
        {43, ErrorCode::NotSupported, "isolated MIG compute instance"},
        {45, ErrorCode::NotSupported, "WSL 2, Windows 11, driver 525"},
        {15, ErrorCode::NotSupported, "the driver is older than this CUPTI; use the toolkit that matches the driver"},
        {999, ErrorCode::Internal, "the kernel faulted while it was being profiled"},
        {7777, ErrorCode::Internal, "Counting failed: CUPTI 7777"},
    };
    for (const ErrorCase& one : cases) {
        const Error error = cuptiError("CUPTI " + std::to_string(one.code), one.code, "Counting");
        EXPECT_EQ(error.code, one.kind) << one.code;
        EXPECT_NE(error.message.find(one.says), std::string::npos) << one.code << ": " << error.message;
    }
}

} // namespace
} // namespace espalier::profile
