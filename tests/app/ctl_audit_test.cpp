// SPDX-License-Identifier: Apache-2.0
// espalierctl audit: null candidates fail on the built-in tasks, and a task that does nothing is found out.
#include "tests/app/ctl_support.h"

namespace espalier::test {

using CtlAudit = CtlTest;

std::string stateOf(const Json& report, const std::string& id)
{
    for (const Json& row : report["rows"]) {
        if (row["id"] == id) {
            return row["state"];
        }
    }
    return "missing";
}

TEST_F(CtlAudit, NullCandidatesFailOnLayernorm)
{
    const auto result = ctl({"audit", "layernorm_f32", "--device", "sim", "--json"});
    const Json report = onlyJson(result);
    EXPECT_EQ(result.status.code, 0) << report.dump(1);
    EXPECT_EQ(report["fit"], true);
    EXPECT_EQ(report["complete"], true);
    for (const char* id : {"root", "no_op", "zeros", "constant", "copy_x", "copy_weight", "copy_bias", "mean", "stale",
                           "cast_tf32", "cast_bf16", "ignores_x", "ignores_weight", "ignores_bias"}) {
        EXPECT_EQ(stateOf(report, id), "good") << id << report.dump(1);
    }
    EXPECT_NE(result.err.find("stale"), std::string::npos) << "progress on standard error";
}

/// y = x * w with weights of zero: whatever writes zeros is right.
TEST_F(CtlAudit, ADegenerateTaskIsRefused)
{
    namespace fs = std::filesystem;
    fs::create_directories(path("weighted"));
    write("weighted/task.json", R"({
      "schema": 1, "id": "weighted", "title": "Weighted", "parameters": ["n"],
      "arguments": [
        {"name": "x", "kind": "input", "dtype": "f32", "shape": ["n"]},
        {"name": "w", "kind": "input", "dtype": "f32", "shape": ["n"], "values": {"distribution": "constant", "value": 0}},
        {"name": "y", "kind": "output", "dtype": "f32", "shape": ["n"]},
        {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}
      ],
      "oracle": {"kind": "cuda"},
      "cases": [{"name": "n1000", "parameters": {"n": 1000}, "roles": ["verify", "time", "simulate"]}],
      "contract": {"precision": "f32"}, "flops": "n"})");
    write("weighted/root.cu", R"(#include <cstdint>
__global__ void weighted_kernel(const float* x, const float* w, float* y, int64_t n)
{
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n)
        y[i] = x[i] * w[i];
}
extern "C" cudaError_t weighted(const float* x, const float* w, float* y, int64_t n, void*, size_t, cudaStream_t stream)
{
    weighted_kernel<<<unsigned((n + 255) / 256), 256, 0, stream>>>(x, w, y, n);
    return cudaGetLastError();
}
)");
    write("weighted/oracle.cu", R"(#include <cmath>
#include <cstdint>
__global__ void weighted_reference(const float* x, const float* w, double* ref, double* scale, int64_t first, int64_t count)
{
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) {
        ref[i] = double(x[first + i]) * w[first + i];
        scale[i] = fabs(ref[i]);
    }
}
extern "C" cudaError_t weighted_oracle(const float* x, const float* w, int64_t n, double* ref, double* scale,
                                       int64_t first, int64_t count, cudaStream_t stream)
{
    weighted_reference<<<unsigned((count + 255) / 256), 256, 0, stream>>>(x, w, ref, scale, first, count);
    return cudaGetLastError();
}
)");
    const auto result = ctl({"audit", path("weighted"), "--device", "sim", "--json"});
    const Json report = onlyJson(result);
    EXPECT_EQ(result.status.code, 3) << report.dump(1);
    EXPECT_EQ(report["fit"], false);
    EXPECT_EQ(stateOf(report, "root"), "good") << report.dump(1);
    EXPECT_EQ(stateOf(report, "zeros"), "bad");
    EXPECT_EQ(stateOf(report, "ignores_x"), "bad");
    EXPECT_EQ(stateOf(report, "no_op"), "good");
    EXPECT_EQ(stateOf(report, "constant"), "good");
    EXPECT_EQ(stateOf(report, "ignores_w"), "good");
    for (const Json& row : report["rows"]) {
        EXPECT_EQ(row["state"] == "bad", row["finding"] != "") << row.dump();
    }
}

TEST_F(CtlAudit, AnUnknownTaskIsOneSentence)
{
    const auto result = ctl({"audit", "no_such_task", "--device", "sim"});
    EXPECT_EQ(result.status.code, 2);
    EXPECT_NE(result.err.find("no_such_task"), std::string::npos) << result.err;
}

} // namespace espalier::test
