// SPDX-License-Identifier: Apache-2.0
// A search whose only author is a model that makes, one after the other, the mistakes of honest models: real compiler,
// real judge, simulated device.
#include "tests/app/ctl_support.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/stat.h>

namespace espalier::test {
namespace {

/// A softmax that is right: a block a row. `variant`: makes it a program of its own.
struct Kernel {
    std::string includes, kernels, host;
    std::string all() const { return includes + kernels + host; }
};

Kernel kernelOf(int threads, int variant, const std::string& declared = {})
{
    const std::string constant = declared.empty() ? fmt::format("constexpr int T = {};\n", threads) : declared;
    return {
        "#include <cmath>\n#include <cstdint>\n\n",
        constant + fmt::format(R"(constexpr float kNothing = -{}.0f * INFINITY;

__global__ void rowSoftmax(const float* x, float* y, int64_t cols)
{{
    __shared__ float part[T];
    const float* in = x + blockIdx.x * cols;
    float top = kNothing;
    for (int64_t c = threadIdx.x; c < cols; c += T)
        top = fmaxf(top, in[c]);
    part[threadIdx.x] = top;
    __syncthreads();
    for (int half = T / 2; half > 0; half /= 2) {{
        if (threadIdx.x < half)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }}
    top = part[0];
    __syncthreads();
    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += T)
        sum += expf(in[c] - top);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = T / 2; half > 0; half /= 2) {{
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }}
    const float scale = 1.0f / part[0];
    for (int64_t c = threadIdx.x; c < cols; c += T)
        y[blockIdx.x * cols + c] = expf(in[c] - top) * scale;
}}

)",
                               variant),
        "extern \"C\" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,\n"
        "                                   size_t workspace_bytes, cudaStream_t stream)\n"
        "{\n    rowSoftmax<<<(unsigned)rows, T, 0, stream>>>(x, y, cols);\n    return cudaGetLastError();\n}\n"};
}

std::string fenced(const std::string& code, const std::string& language = "cuda")
{
    return "```" + language + "\n" + code + "```\n";
}

std::string replaced(std::string text, const std::string& what, const std::string& with)
{
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

struct Answer {
    std::string name, text, repaired; ///< `repaired`: what it says when that fails; empty: the same again
    bool good = false;                ///< a kernel that passes is in it
};

/// Slips that stop a build, clutter, wrong results: what every model writes now and then.
std::vector<Answer> faultyAnswers()
{
    const Kernel kernel = kernelOf(256, 2);
    const std::string exp = "        sum += expf(in[c] - top);";
    const auto with = [&](const std::string& line) { return fenced(replaced(kernel.all(), exp, line)); };
    return {
        {"ptxslip",
         with("        { float e; asm(\"ex2.approx.f32 %0 %1;\" : \"=f\"(e) : \"f\"(in[c] - top)); sum += e; }"),
         fenced(kernelOf(64, 3).all()), false},
        {"ptxunknown", with("        { float e; asm(\"exp.fast.f32 %0, %1;\" : \"=f\"(e) : \"f\"(in[c])); sum += e; }"),
         "", false},
        {"sharedmemory", fenced(replaced(kernel.all(), "float part[T];", "float part[T + 60000];")), "", false},
        {"undefinedcall",
         fenced(replaced(replaced(kernel.all(), exp, "        sum += myExp(in[c] - top);"), "__global__",
                         "__device__ float myExp(float v);\n__global__")),
         "", false},
        {"iostream", fenced("#include <iostream>\n" + kernel.all()), "", false},
        {"program",
         fenced(kernel.all() + "#include <cstdio>\nint main() { softmax_f32(nullptr, nullptr, 0, 1, nullptr, 0, 0);"
                               " printf(\"done\\n\"); return 0; }\n"),
         "", false},
        {"returnsnothing",
         fenced(replaced(replaced(kernel.all(), "cudaError_t softmax_f32", "void softmax_f32"),
                         "return cudaGetLastError();", "")),
         "", false},
        {"wrongresult", with("        sum += in[c] - top;"), "", false},
        {"refusal", "I'm sorry, but I can't help with that.\n", "", false},
        {"cutoff", "```cuda\n" + kernel.all().substr(0, kernel.all().size() / 2), "", false},
        {"difference",
         fenced("--- a/root.cu\n+++ b/root.cu\n@@ -5,1 +5,1 @@\n-constexpr int T = 256;\n"
                "+constexpr int T = 512;\n",
                "diff"),
         "", false},
        {"leftout", fenced(kernel.includes + kernel.kernels + "// ... softmax_f32 is unchanged ...\n"), "", false},
        {"nothing", "\n", "", false},
    };
}

/// Kernels that are right, each in another form.
std::vector<Answer> goodAnswers()
{
    const auto good = [](const std::string& name, const std::string& text) { return Answer{name, text, "", true}; };
    const Kernel parts = kernelOf(512, 5), host = kernelOf(1024, 6);
    const std::string tuned = "// espalier: tune T = 32 64 128 256 512 1024\n#define T 128\n"
                              "// espalier: tune V = 1 2 3 4 5 6 7 8\n#define V 2\n__device__ int variant = V;\n";
    return {
        good("plainform", "Larger blocks.\n" + fenced(kernelOf(32, 4).all())),
        good("twoblocks",
             "The kernel:\n" + fenced(parts.includes + parts.kernels) + "\nIts launch:\n" + fenced(parts.host)),
        good("jsoncode", Json{{"thought", "a block a row"}, {"code", kernelOf(64, 7).all()}}.dump()),
        good("jsonfence", fenced(Json{{"code", kernelOf(128, 8).all()}}.dump() + "\n", "json")),
        good("tagform", "<code>\n" + kernelOf(256, 9).all() + "</code>\n"),
        good("bareform", host.all() + "\nIt's one block a row; nothing else changed.\n"),
        good("tunedform", fenced(kernelOf(0, 10, tuned).all())),
    };
}

class FaultsTest : public CtlTest
{
protected:
    /// Answers every question for a kernel from the file that the idea names.
    std::string writeAgent(const std::vector<Answer>& answers)
    {
        Json ideas = Json::array();
        for (const Answer& answer : answers) {
            ideas.push_back(
                {{"title", "form " + answer.name}, {"text", fmt::format("{0} {0}one {0}two {0}three", answer.name)}});
            write(answer.name + ".answer", answer.text);
            write(answer.name + ".repaired", answer.repaired.empty() ? answer.text : answer.repaired);
        }
        write("ideas.json", Json{{"ideas", ideas}}.dump());
        const std::string agent = write("agent.sh", R"(#!/bin/sh
cat > prompt.txt
here=$(dirname "$0")
echo "$ESPALIER_PURPOSE | $ESPALIER_SUBJECT" >> "$here/asked.log"
form=$(echo "$ESPALIER_SUBJECT" | sed -n 's/.*: form \([a-z]*\).*/\1/p')
case "$ESPALIER_PURPOSE" in
idea) if [ "$ESPALIER_SUBJECT" = "softmax_f32: root" ]; then cat "$here/ideas.json"; else echo '{"ideas": []}'; fi ;;
repair) cat "$here/$form.repaired" ;;
*) cat "$here/$form.answer" ;;
esac
)");
        EXPECT_EQ(::chmod(agent.c_str(), 0755), 0);
        return agent;
    }
};

TEST_F(FaultsTest, EveryFaultInTurnEndsNothingAndTheGoodKernelsAreKept)
{
    std::vector<Answer> answers;
    const std::vector<Answer> faulty = faultyAnswers(), good = goodAnswers();
    for (std::size_t i = 0; i < std::max(faulty.size(), good.size()); ++i) { // in turn
        if (i < faulty.size()) {
            answers.push_back(faulty[i]);
        }
        if (i < good.size()) {
            answers.push_back(good[i]);
        }
    }
    // What is no evaluation (no kernel came) leaves its room to the tuner's tries on the one kernel that has tunables.
    const auto budget = static_cast<std::int64_t>(2 * faulty.size() + good.size() + 4);
    const auto result = ctl({"run", "softmax_f32", "--session", path("s.espalier"), "--device", "sim", "--proposer",
                             "tuner,llm", "--evals", std::to_string(budget), "--ideas", std::to_string(answers.size()),
                             "--repairs", "1", "--json", "--command", writeAgent(answers)},
                            std::chrono::seconds(1500));
    ASSERT_EQ(result.status.code, 0) << result.err << result.out;
    const Json json = onlyJson(result);
    EXPECT_EQ(json["why"], fmt::format("the budget of {} evaluations is used up", budget)) << result.err;
    EXPECT_EQ(json["evaluations"], budget) << result.err;
    const Json nodes = onlyJson(ctl({"show", path("s.espalier"), "--json"}))["nodes"];
    const auto passed = [&nodes](const std::string& title) {
        return std::any_of(nodes.begin(), nodes.end(), [&title](const Json& node) {
            return node["kind"] == "candidate" && node["title"] == title && node["outcome"] == "passed";
        });
    };
    for (const Answer& answer : good) {
        EXPECT_TRUE(passed("form " + answer.name)) << answer.name;
    }
    EXPECT_TRUE(passed("form ptxslip (repair 1)")) << "a slip in PTX is mended like any other";
    for (const char* wrong : {"form sharedmemory", "form undefinedcall", "form wrongresult"}) {
        EXPECT_FALSE(passed(wrong)) << wrong;
    }
    const std::string asked = *readFile(path("asked.log"));
    for (const Answer& answer : answers) { // its turn came, whatever was said before
        EXPECT_NE(asked.find(": form " + answer.name + " #0"), std::string::npos) << answer.name;
    }
}

} // namespace
} // namespace espalier::test
