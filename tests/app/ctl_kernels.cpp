// SPDX-License-Identifier: Apache-2.0
// `eval` on kernels of every kind a search produces, honest and otherwise.
#include "tests/app/ctl_support.h"

#include <fmt/format.h>

namespace espalier::test {

std::string softmaxCandidate(std::string_view kernels, std::string_view body)
{
    return fmt::format("#include <cuda_runtime.h>\n#include <cstdint>\n{}\n"
                       "extern \"C\" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, "
                       "void* workspace, size_t "
                       "workspace_bytes, cudaStream_t stream)\n{{\n{}\n}}\n",
                       kernels, body);
}

std::string rootSource()
{
    return *readFile(std::string(ESPALIER_SOURCE_DIR) + "/tasks/softmax_f32/root.cu");
}

namespace {

struct Kind {
    const char* name;
    std::string source;
    std::vector<std::string> outcomes; ///< any of these
    int exitCode;
    std::string says; ///< within reason or evidence
};

class EvalTest : public CtlTest, public testing::WithParamInterface<Kind>
{
};

std::string wordsOf(const Json& report)
{
    std::string words = report.value("reason", "");
    for (const Json& evidence : report.value("evidence", Json::array())) {
        words += " | " + evidence.value("sentence", "");
    }
    return words;
}

constexpr const char* serial =
    "__device__ void row(const float* x, float* y, long n) { float m = x[0], s = 0; for (long i = 1; i < n; ++i) m = "
    "fmaxf(m, x[i]); for (long i = 0; i < n; ++i) s += expf(x[i] - m); for (long i = 0; i < n; ++i) y[i] = "
    "expf(x[i] - m) / s; }\n";

std::vector<Kind> kinds()
{
    const std::string launch = "<<<(rows + 31) / 32, 32, 0, stream>>>(x, y, rows, cols); return cudaGetLastError();";
    const auto perRow = [&](const std::string& guard) {
        return serial +
               std::string("__global__ void k(const float* x, float* y, int64_t rows, int64_t cols) { const int64_t r "
                           "= blockIdx.x * 32 + "
                           "threadIdx.x; ") +
               guard + " }";
    };
    return {
        {"Honest", rootSource(), {"passed"}, 0, ""},
        {"Zeros",
         softmaxCandidate("", "return cudaMemsetAsync(y, 0, rows * cols * 4, stream);"),
         {"incorrect"},
         3,
         "y"},
        {"NothingWritten", softmaxCandidate("", "return cudaSuccess;"), {"incorrect"}, 3, "never written"},
        {"PartlyWritten",
         softmaxCandidate(perRow("if (r + 1 < rows) row(x + r * cols, y + r * cols, cols);"), "k" + launch),
         {"incorrect"},
         3,
         "never written"},
        {"OutOfBoundsWrite",
         softmaxCandidate(perRow("if (r < rows) { row(x + r * cols, y + r * cols, cols); y[rows * cols + 3] = 1; }"),
                          "k" + launch),
         {"runtime_failed", "incorrect"},
         3,
         "past the end of"},
        {"WritesInput",
         softmaxCandidate(perRow("if (r < rows) { row(x + r * cols, y + r * cols, cols); ((float*)x)[0] = 1; }"),
                          "k" + launch),
         {"runtime_failed", "incorrect", "suspicious"},
         3,
         "x"},
        {"EndlessDeviceLoop",
         softmaxCandidate(
             "__global__ void k(const float* x, float* y) { while (*(volatile const float*)x < 1e30f) y[0] = 0; }",
             "k<<<1, 1, 0, stream>>>(x, y); return cudaGetLastError();"),
         {"timed_out"},
         3,
         ""},
        {"EndlessHostLoop",
         softmaxCandidate("", "volatile int i = 0; while (i < 1) {} return cudaSuccess;"),
         {"timed_out"},
         3,
         ""},
        {"ErrorReturned",
         softmaxCandidate("__global__ void k() {}", "k<<<1, 2048, 0, stream>>>(); return cudaGetLastError();"),
         {"runtime_failed"},
         3,
         "CUDA error"},
        {"WrongSignature",
         "#include <cuda_runtime.h>\nextern \"C\" cudaError_t softmax_f32(float* x) { return cudaSuccess; }\n",
         {"build_failed"},
         4,
         ""},
        {"WrongName",
         "#include <cuda_runtime.h>\nextern \"C\" cudaError_t softmax(float*) { return cudaSuccess; }\n",
         {"build_failed"},
         4,
         "softmax_f32"},
        {"SyntaxError", "int x = ;\n", {"build_failed"}, 4, "candidate.cu"},
        {"Exit",
         softmaxCandidate("#include <cstdlib>", "exit(0); return cudaSuccess;"),
         {"runtime_failed", "suspicious"},
         3,
         ""},
        {"Fork",
         softmaxCandidate("#include <unistd.h>", "if (fork() == 0) for (;;) fork(); return cudaSuccess;"),
         {"suspicious"},
         3,
         "fork"},
        {"Prints100MB",
         softmaxCandidate("#include <cstdio>",
                          "for (int i = 0; i < 1000000; ++i) printf(\"%0100d\\n\", i); return cudaSuccess;"),
         {"suspicious", "incorrect"},
         3,
         ""},
    };
}

TEST_P(EvalTest, GetsItsVerdict)
{
    const Kind& kind = GetParam();
    const auto result = ctl({"eval", "softmax_f32", write("candidate.cu", kind.source), "--device", "sim", "--json"});
    const Json report = onlyJson(result);
    EXPECT_EQ(result.status.code, kind.exitCode) << report.dump(1);
    const std::string outcome = report.value("outcome", "");
    EXPECT_NE(std::find(kind.outcomes.begin(), kind.outcomes.end(), outcome), kind.outcomes.end()) << report.dump(1);
    EXPECT_NE(wordsOf(report).find(kind.says), std::string::npos) << report.dump(1);
    if (outcome == "passed") {
        EXPECT_EQ(report["provenance"], "model");
        EXPECT_EQ(report["timing"]["cases"][0]["provenance"], "model");
    } else {
        EXPECT_NE(report.value("reason", ""), "");
        EXPECT_TRUE(report.value("timing", Json()).is_null()) << "a rejected candidate has no time";
    }
    EXPECT_LT(result.err.size(), 100'000u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EvalTest, testing::ValuesIn(kinds()),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace

} // namespace espalier::test
