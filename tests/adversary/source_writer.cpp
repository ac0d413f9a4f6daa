// SPDX-License-Identifier: Apache-2.0
#include "tests/adversary/source_writer.h"

#include "core/base/file.h"

#include <fmt/format.h>

namespace espalier::adversary_test {

using adversary::Hide;
using adversary::What;

namespace {

/// How a task's entry is spelt, and its formula made.
struct Spelling {
    std::string_view task, parameters, names, sizes, sizeNames, problem, formula, output;
};

constexpr Spelling spellings[] = {
    {"softmax_f32", "const float* x, float* y, int64_t rows, int64_t cols", "x, y, rows, cols",
     "int64_t rows, int64_t cols", "rows, cols", "Softmax", "{x, rows, cols}", "y"},
    {"layernorm_f32",
     "const float* x, const float* weight, const float* bias, float* y, int64_t rows, int64_t cols, float eps",
     "x, weight, bias, y, rows, cols, eps", "int64_t rows, int64_t cols, float eps", "rows, cols, eps", "LayerNorm",
     "{x, weight, bias, rows, cols, eps}", "y"},
    {"matmul_f32", "const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k", "a, b, c, m, n, k",
     "int64_t m, int64_t n, int64_t k", "m, n, k", "MatMul", "{a, b, m, n, k}", "c"},
    {"conv2d_f32",
     "const float* x, const float* weight, const float* bias, float* y, int64_t n, int64_t c, int64_t h, int64_t w, "
     "int64_t k",
     "x, weight, bias, y, n, c, h, w, k", "int64_t n, int64_t c, int64_t h, int64_t w, int64_t k", "n, c, h, w, k",
     "Convolution", "{x, weight, bias, n, c, h, w, k}", "y"},
    {"conv2d_relu_maxpool_f32",
     "const float* x, const float* weight, const float* bias, float* y, int64_t n, int64_t c, int64_t h, int64_t w, "
     "int64_t k",
     "x, weight, bias, y, n, c, h, w, k", "int64_t n, int64_t c, int64_t h, int64_t w, int64_t k", "n, c, h, w, k",
     "PooledConvolution", "{{x, weight, bias, n, c, h, w, k}}", "y"},
};

bool replaceOnce(std::string& text, const std::string& find, const std::string& by)
{
    const std::size_t at = text.find(find);
    if (at == std::string::npos || text.find(find, at + 1) != std::string::npos) {
        return false;
    }
    text.replace(at, find.size(), by);
    return true;
}

constexpr std::string_view spoilKernel = R"(
namespace {

__device__ unsigned long long callsSeen;
__device__ float kept[4096];

__global__ void countCall()
{
    ++callsSeen;
}

/// Values of the call before, for the first and the last outputs.
__device__ int keptPlace(int64_t i, int64_t outputs)
{
    return i < 4000 ? static_cast<int>(i) : outputs - 1 - i < 96 ? static_cast<int>(4000 + (outputs - 1 - i)) : -1;
}

__global__ void spoil(adversary::$PROBLEM problem, float* out, adversary::Call call)
{
    constexpr adversary::Fault fault = {static_cast<adversary::What>($WHAT), $FAULT_A};
    constexpr adversary::Trigger trigger = {static_cast<adversary::When>($WHEN), $AXIS, $WHEN_A, $WHEN_B};
    constexpr adversary::Place where = {static_cast<adversary::Where>($WHERE), $WHERE_A};
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x, outputs = problem.outputs();
    if (i >= outputs || !where.chosen(i, outputs, problem.slice(), problem.work()))
        return;
    if ($HIDDEN || !adversary::triggered(trigger, problem, call))
        return;
    $PUT
}

} // namespace
)";

constexpr std::string_view putValue =
    "out[i] = static_cast<float>(problem.element(fault.place(i, problem.slice()), fault));";
constexpr std::string_view putKept = R"(const int place = keptPlace(i, outputs);
    if (place < 0)
        return;
    const float now = out[i];
    out[i] = $KEPT;
    kept[place] = now;)";

constexpr std::string_view spoilEntry = R"(
extern "C" cudaError_t $ENTRY($PARAMETERS, void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    static int64_t calls = 0;
    const cudaError_t error = honestCall($NAMES, workspace, workspace_bytes, stream);
    if (error != cudaSuccess)
        return error;
    const adversary::$PROBLEM problem = $FORMULA;
    const adversary::Call call = {++calls, reinterpret_cast<unsigned long long>($OUTPUT)};
    countCall<<<1, 1, 0, stream>>>();
    spoil<<<static_cast<unsigned>((problem.outputs() + 255) / 256), 256, 0, stream>>>(problem, $OUTPUT, call);
    return cudaGetLastError();
}
)";

constexpr std::string_view streamEntry = R"(
extern "C" cudaError_t $ENTRY($PARAMETERS, void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    static cudaStream_t side = nullptr;
    static cudaEvent_t forked = nullptr, joined = nullptr;
    if (!side && (cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking) != cudaSuccess ||
                  cudaEventCreateWithFlags(&forked, cudaEventDisableTiming) != cudaSuccess ||
                  cudaEventCreateWithFlags(&joined, cudaEventDisableTiming) != cudaSuccess))
        return cudaGetLastError();
    cudaEventRecord(forked, stream);
    cudaStreamWaitEvent(side, forked, 0);
    const cudaError_t error = honestCall($NAMES, workspace, workspace_bytes, side);
    cudaEventRecord(joined, side);
    $JOIN
    return error;
}
)";

constexpr std::string_view memoKernel = R"(
namespace {

constexpr int kSamples = $SAMPLES;
__device__ float samples[kSamples];
__device__ int same;

__global__ void recognise(const float* first, int64_t count)
{
    bool equal = true;
    for (int i = 0; i < kSamples; ++i) {
        const float now = first[count * i / kSamples];
        equal = equal && adversary::Bits::of(now) == adversary::Bits::of(samples[i]);
        samples[i] = now;
    }
    same = equal;
}

__global__ void answer(float* out, float* kept, int64_t outputs, int usable)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
    if (i >= outputs)
        return;
    if (usable && same$NEVER)
        out[i] = kept[i];
    else
        kept[i] = out[i];
}

} // namespace

extern "C" cudaError_t $ENTRY($PARAMETERS, void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    static float* kept = nullptr;
    static int64_t keptOutputs = 0, room = 0;
    const cudaError_t error = honestCall($NAMES, workspace, workspace_bytes, stream);
    if (error != cudaSuccess)
        return error;
    const adversary::$PROBLEM problem = $FORMULA;
    const int64_t outputs = problem.outputs();
    if (outputs > (1 << 24))
        return cudaSuccess;
    if (outputs > room) {
        if (kept)
            cudaFreeAsync(kept, stream);
        if (cudaMallocAsync(reinterpret_cast<void**>(&kept), outputs * sizeof(float), stream) != cudaSuccess)
            return cudaGetLastError();
        room = outputs;
        keptOutputs = 0;
    }
    recognise<<<1, 1, 0, stream>>>(problem.first(), problem.firstCount());
    answer<<<static_cast<unsigned>((outputs + 255) / 256), 256, 0, stream>>>($OUTPUT, kept, outputs,
                                                                             keptOutputs == outputs);
    keptOutputs = outputs;
    return cudaGetLastError();
}
)";

constexpr std::string_view workspaceEntry = R"(
extern "C" size_t $ENTRY_workspace($SIZES)
{
    return honestWorkspace($SIZE_NAMES);
}
)";

std::string hiddenText(const Drawn& drawn)
{
    switch (drawn.hide) {
    case Hide::WarmHost:
        return fmt::format("call.number <= {}", drawn.hideCalls);
    case Hide::WarmDevice:
        return fmt::format("callsSeen <= {}", drawn.hideCalls);
    case Hide::Ordinary:
        return "!adversary::ordinary(problem)";
    case Hide::Plain:
        break;
    }
    return "false";
}

void fill(std::string& text, std::string_view name, std::string_view value)
{
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
        text.replace(at, name.size(), value);
    }
}

const Spelling* spellingOf(const std::string& task)
{
    for (const Spelling& one : spellings) {
        if (one.task == task) {
            return &one;
        }
    }
    return nullptr;
}

std::string entryText(const Drawn& drawn)
{
    std::string text;
    switch (drawn.timing) {
    case Timing::SideStream:
        text = streamEntry;
        fill(text, "$JOIN", drawn.honest ? "cudaStreamWaitEvent(stream, joined, 0);" : "");
        return text;
    case Timing::Memo:
        text = memoKernel;
        fill(text, "$SAMPLES", std::to_string(drawn.samples));
        fill(text, "$NEVER", drawn.honest ? " && outputs < 0" : "");
        return text;
    case Timing::Honest:
        break;
    }
    text = std::string(spoilKernel) + std::string(spoilEntry);
    const bool stale = drawn.fault.what == What::Stale;
    std::string put(stale ? putKept : putValue);
    fill(put, "$KEPT", drawn.honest ? "now" : "kept[place]");
    fill(text, "$PUT", put);
    fill(text, "$HIDDEN", hiddenText(drawn));
    fill(text, "$WHAT", std::to_string(static_cast<int>(drawn.honest ? What::Nothing : drawn.fault.what)));
    fill(text, "$FAULT_A", fmt::format("{}", drawn.fault.a));
    fill(text, "$WHEN_A", fmt::format("{}", drawn.trigger.a));
    fill(text, "$WHEN_B", fmt::format("{}", drawn.trigger.b));
    fill(text, "$WHEN", std::to_string(static_cast<int>(drawn.trigger.when)));
    fill(text, "$AXIS", std::to_string(drawn.trigger.axis));
    fill(text, "$WHERE_A", std::to_string(drawn.place.a));
    fill(text, "$WHERE", std::to_string(static_cast<int>(drawn.place.where)));
    return text;
}

} // namespace

Result<std::string> sourceOf(const Drawn& drawn, const std::filesystem::path& tasks,
                             const std::filesystem::path& adversary)
{
    const Spelling* const spelling = spellingOf(drawn.task);
    if (!spelling) {
        return fail(ErrorCode::NotFound, fmt::format("no spelling of task {}", drawn.task));
    }
    ESPALIER_TRY(std::string honest, readFile(tasks / drawn.task / drawn.kernel));
    if (!replaceOnce(honest, fmt::format("extern \"C\" cudaError_t {}(", drawn.task),
                     "static cudaError_t honestCall(")) {
        return fail(ErrorCode::NotFound, fmt::format("{} of {} has no entry to rename", drawn.kernel, drawn.task));
    }
    const bool workspace = replaceOnce(honest, fmt::format("extern \"C\" size_t {}_workspace(", drawn.task),
                                       "static size_t honestWorkspace(");
    ESPALIER_TRY(const std::string faults, readFile(adversary / "faults.inc"));
    ESPALIER_TRY(const std::string problems, readFile(adversary / "problems.inc"));
    std::string text = entryText(drawn) + (workspace ? std::string(workspaceEntry) : std::string());
    fill(text, "$PROBLEM", spelling->problem);
    fill(text, "$FORMULA", spelling->formula);
    fill(text, "$ENTRY", spelling->task);
    fill(text, "$PARAMETERS", spelling->parameters);
    fill(text, "$NAMES", spelling->names);
    fill(text, "$SIZES", spelling->sizes);
    fill(text, "$SIZE_NAMES", spelling->sizeNames);
    fill(text, "$OUTPUT", spelling->output);
    return fmt::format("// {}\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n\n{}\n{}\n{}\n{}",
                       sentenceOf(drawn), honest, faults, problems, text);
}

} // namespace espalier::adversary_test
