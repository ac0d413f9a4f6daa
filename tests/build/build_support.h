// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/file.h"
#include "core/build/nvcc_build_pool.h"
#include "core/model/task_loader.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace espalier::test {

/// copy_f32(const float* x, float* y, int64_t n, …): small enough for every test here.
inline Task copyTask()
{
    return *parseTask(R"json({
      "schema": 1, "id": "copy_f32", "title": "Copy", "parameters": ["n"],
      "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "shape": ["n"]},
                    {"name": "y", "kind": "output", "dtype": "f32", "shape": ["n"]},
                    {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}],
      "oracle": {"kind": "cuda"}, "contract": {"precision": "f32"}, "flops": "0",
      "cases": [{"name": "a", "parameters": {"n": 64}, "roles": ["verify", "time"]}]})json");
}

inline const std::string signature = "extern \"C\" cudaError_t copy_f32(const float* x, float* y, int64_t n, void* "
                                     "workspace, size_t workspace_bytes, cudaStream_t stream)";

/// An honest candidate with `more` before its entry and `body` within.
inline std::string kernelWith(const std::string& more, const std::string& body = {})
{
    return more +
           "\n__global__ void copyKernel(const float* x, float* y, int64_t n)\n{\n"
           "    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\n" +
           signature + "\n{\n" + body +
           "\n    copyKernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);\n    return cudaGetLastError();\n}\n";
}

/// Builds with a cache of its own; the toolkit is looked for once.
class Bench
{
public:
    Bench() { options.cache = m_scratch.path() / "cache"; }

    BuildResult build(const std::string& source)
    {
        BuildJob made = job(source);
        return buildNow(made, options);
    }

    BuildJob job(const std::string& source, std::int64_t id = 1) const
    {
        return {RequestId{id}, std::make_shared<const Task>(task), role, source, {}, "90a"};
    }

    std::filesystem::path folder() const { return m_scratch.path(); }

    Task task = copyTask();
    SourceRole role = SourceRole::Candidate;
    BuildPoolOptions options = {.toolkit = toolkit()};

private:
    static const Result<Toolkit>& toolkit()
    {
        static const Result<Toolkit> found = findToolkit();
        return found;
    }
    ScratchFolder m_scratch = *ScratchFolder::create("build-test");
};

inline std::string summary(const BuildResult& result)
{
    return std::string(nameOf(result.evaluation.outcome)) + ": " + result.evaluation.reason;
}

} // namespace espalier::test
