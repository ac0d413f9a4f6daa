// SPDX-License-Identifier: Apache-2.0
#include "core/export/repro_program.h"

#include "core/base/file.h"
#include "core/base/subprocess.h"
#include "core/device/ops/ops_cpu.h"
#include "core/model/task_loader.h"

#include <gtest/gtest.h>
#include <vector>

namespace espalier {
namespace {

Task builtIn(const std::string& name)
{
    return loadTask(std::string(ESPALIER_TASKS_FOLDER) + "/" + name).value();
}

/// Half and double precision, whole numbers, constants and several outputs; 37 rows of 3.
Task everyType()
{
    constexpr const char* json = R"({
      "schema": 1, "id": "mixed", "title": "Mixed", "description": "many types", "entry": "mixed", "parameters": ["n"],
      "arguments": [
        {"name": "begin", "kind": "input", "dtype": "f16", "shape": ["n", 3], "values": {"distribution": "mixed"}},
        {"name": "stream_", "kind": "const", "dtype": "bf16", "shape": [3], "alignment": 2},
        {"name": "d", "kind": "input", "dtype": "f64", "shape": [], "values": {"distribution": "outlier"}},
        {"name": "k", "kind": "input", "dtype": "i32", "shape": ["n"],
         "values": {"distribution": "integers", "low": -3, "high": 9}},
        {"name": "y", "kind": "output", "dtype": "bf16", "shape": ["n", 3]},
        {"name": "z", "kind": "output", "dtype": "i32", "shape": ["n"]},
        {"name": "n", "kind": "scalar", "dtype": "i32", "value": "n"},
        {"name": "half_n", "kind": "scalar", "dtype": "f32", "value": "n / 2"}
      ],
      "root": "root.cu", "oracle": {"kind": "cuda", "file": "oracle.cu"},
      "cases": [{"name": "c", "parameters": {"n": 37}, "roles": ["verify", "time", "simulate"]}],
      "contract": {"precision": "bf16"}, "flops": "n"
    })";
    // Candidate and oracle share names and macros, and the candidate has a main() and a macro of the program's words.
    constexpr const char* root = R"(#include <cuda_bf16.h>
#define ROWS 2
#define count 7
__global__ void rows(int32_t* z) { z[0] = ROWS * count; }
extern "C" cudaError_t mixed(const __half* begin, const __nv_bfloat16* stream_, const double* d, const int32_t* k,
    __nv_bfloat16* y, int32_t* z, int32_t n, float half_n, void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    rows<<<1, 1, 0, stream>>>(z);
    return cudaGetLastError();
}
int main() { return 1; }
)";
    constexpr const char* oracle = R"(#include <cmath>
#define ROWS 3
__global__ void rows(double* z) { z[0] = ROWS; }
extern "C" cudaError_t mixed_oracle_y(const __half* begin, const __nv_bfloat16* stream_, const double* d,
    const int32_t* k, int32_t n, float half_n, double* ref, double* scale,
    int64_t first, int64_t count, cudaStream_t stream)
{
    rows<<<1, 1, 0, stream>>>(ref);
    return cudaGetLastError();
}
extern "C" cudaError_t mixed_oracle_z(const __half* begin, const __nv_bfloat16* stream_, const double* d,
    const int32_t* k, int32_t n, float half_n, double* ref, double* scale,
    int64_t first, int64_t count, cudaStream_t stream)
{
    rows<<<1, 1, 0, stream>>>(ref);
    return cudaGetLastError();
}
)";
    auto task = parseTask(json, [&](std::string_view path) -> Result<std::string> {
        if (path != "root.cu" && path != "oracle.cu") {
            return fail(ErrorCode::NotFound, "there is no such file");
        }
        return path == "root.cu" ? root : oracle;
    });
    EXPECT_TRUE(task) << task.error().message;
    return std::move(*task);
}

NodeDetail rootOf(const Task& task)
{
    NodeDetail node;
    node.summary.id = NodeId{1};
    node.summary.title = "root";
    node.source = task.root.text;
    return node;
}

/// What nvcc makes of a program, in a folder of its own.
class Built
{
public:
    explicit Built(const std::string& program) : m_folder(ScratchFolder::create("repro").value())
    {
        EXPECT_TRUE(writeFileAtomically(m_folder.path() / "repro.cu", program));
        const auto built = run(
            {ESPALIER_NVCC, "-std=c++17", "-arch=sm_90", "-Xcompiler", "-ffp-contract=off", "-o", "repro", "repro.cu"});
        EXPECT_TRUE(built.status.success()) << built.err << built.out;
        EXPECT_EQ(built.err, "") << "without a warning";
    }
    RunResult run(std::vector<std::string> words) const
    {
        ProcessSpec spec;
        spec.argv = std::move(words);
        if (spec.argv[0] == "./repro") {
            spec.argv[0] = (m_folder.path() / "repro").string();
        }
        spec.workingDirectory = m_folder.path().string();
        auto result = runToEnd(spec, "", std::chrono::seconds(100));
        EXPECT_TRUE(result) << result.error().message;
        return std::move(*result);
    }
    std::string input(const std::string& name) const
    {
        return readFile(m_folder.path() / (name + ".bin")).value_or("(missing)");
    }

private:
    ScratchFolder m_folder;
};

/// As the judge draws it.
std::string drawn(ops::DType type, ops::Distribution distribution, double a, double b, std::uint64_t row,
                  std::uint64_t index, std::uint64_t count, std::uint64_t seed)
{
    std::string bytes(count * ops::sizeOf(type), '\0');
    ops::FillArgs args = {};
    args.address = reinterpret_cast<std::uint64_t>(bytes.data());
    args.seed = seed;
    args.first = index;
    args.dtype = type;
    args.distribution = distribution;
    args.a = a;
    args.b = b;
    args.row = row;
    ops::runOnCpu(ops::Op::Fill, std::as_bytes(std::span(&args, 1)), count);
    return bytes;
}

CallRecipe recipe()
{
    CallRecipe recipe;
    recipe.parameters = {{"n", 5}};
    recipe.buffers = {{"begin", 0, DistributionKind::Mixed, 1, -1, 16, {{0, 7, 0, ~0ull}, {7, 1, 7, 3}, {8, 7, 0, 4}}},
                      {"stream_", 2, DistributionKind::Uniform, 0, 1, 3, {{0, 3, 0, 77}}},
                      {"d", 0, DistributionKind::Outlier, 1, 0.1, 1, {{0, 1, 0, 9}}},
                      {"k", 0, DistributionKind::Integers, -3, 9, 5, {{0, 5, 0, 11}}},
                      {"y", 6, {}, 0, 0, 0, {}, 1.5e-2},
                      {"z", 0, {}, 0, 0, 0, {}}};
    recipe.elementFactor = 0;
    recipe.absoluteFactor = 4096.125;
    recipe.where = "call 3 of case unseen (n 5; begin mixed)";
    return recipe;
}

TEST(CallRecipe, IsReadAgainWithoutLoss)
{
    EXPECT_EQ(CallRecipe::parse(recipe().text()), recipe()) << recipe().text();
    EXPECT_EQ(CallRecipe::parse(""), std::nullopt);
    const std::string text = recipe().text();
    for (std::size_t length = 0; length + recipe().where.size() < text.size(); ++length) {
        EXPECT_EQ(CallRecipe::parse(text.substr(0, length)), std::nullopt) << text.substr(0, length);
    }
    EXPECT_EQ(CallRecipe::parse("n = 5; x at +0 gaussian(0, 1, 2) [1 from 0 as 0 by seed 1]; factors 1, 1; c"),
              std::nullopt);
}

TEST(Repro, DrawsTheFailedCallBitForBitInEveryType)
{
    if (std::string(ESPALIER_NVCC).empty()) {
        GTEST_SKIP() << "no nvcc on this machine";
    }
    const Task task = everyType();
    NodeDetail node = rootOf(task);
    node.evaluation.evidence = {{"tolerance", "output y[3] is wrong"},
                                {std::string(CallRecipe::check), recipe().text()}};
    const auto program = reproProgram({task, node});
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_NE(program->find(task.root.text), std::string::npos) << "the kernel stands in it as it is";
    EXPECT_NE(program->find("called as call 3 of case unseen (n 5; begin mixed) has it"), std::string::npos);
    const Built built(*program);
    EXPECT_EQ(built.run({"./repro", "--inputs", "."}).status.code, 0);
    using ops::Distribution;
    using ops::DType;
    EXPECT_EQ(built.input("begin"), drawn(DType::F16, Distribution::Mixed, 1, -1, 16, 0, 7, ~0ull) +
                                        drawn(DType::F16, Distribution::Mixed, 1, -1, 16, 7, 1, 3) +
                                        drawn(DType::F16, Distribution::Mixed, 1, -1, 16, 0, 7, 4));
    EXPECT_EQ(built.input("stream_"), drawn(DType::BF16, Distribution::Uniform, 0, 1, 3, 0, 3, 77));
    EXPECT_EQ(built.input("d"), drawn(DType::F64, Distribution::Outlier, 1, 0.1, 1, 0, 1, 9));
    EXPECT_EQ(built.input("k"), drawn(DType::I32, Distribution::Integers, -3, 9, 5, 0, 5, 11));
    EXPECT_EQ(built.input("y"), "(missing)");
    EXPECT_NE(built.run({"./repro"}).status.code, 0) << "without a GPU; with one the answer is wrong";
    EXPECT_NE(built.run({"./repro", "--inputs", "/no/such"}).err.find("cannot write /no/such/begin.bin"),
              std::string::npos);
}

TEST(Repro, ABuiltInRootIsComparedWithItsOracle)
{
    if (std::string(ESPALIER_NVCC).empty()) {
        GTEST_SKIP() << "no nvcc on this machine";
    }
    const Task task = builtIn("conv2d_relu_maxpool_f32");
    const auto program = reproProgram({task, rootOf(task), "2x1x22x17 17", 5});
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_NE(program->find("check(conv2d_relu_maxpool_f32_oracle("), std::string::npos) << *program;
    const Built built(*program);
    EXPECT_EQ(built.run({"./repro", "--inputs", "."}).status.code, 0);
    EXPECT_EQ(built.input("x"),
              drawn(ops::DType::F32, ops::Distribution::Normal, 0, 1, 17, 0, 748, 5)); // 2 * 1 * 22 * 17
}

TEST(Repro, SaysWhatItCannotMake)
{
    const Task task = builtIn("softmax_f32");
    EXPECT_EQ(reproProgram({task, rootOf(task), "no such"}).error().message,
              "Task softmax_f32 has no case \"no such\".");
    NodeDetail idea = rootOf(task);
    idea.source.clear();
    EXPECT_EQ(reproProgram({task, idea}).error().message, "Node 1 has no source: name a root or a candidate.");
    NodeDetail other = rootOf(task);
    other.evaluation.evidence = {{std::string(CallRecipe::check), recipe().text()}};
    EXPECT_EQ(reproProgram({task, other}).error().message,
              "The call that failed had no argument x: the task is another one now; name a case with --case.");
}

} // namespace
} // namespace espalier
