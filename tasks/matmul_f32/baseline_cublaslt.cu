// SPDX-License-Identifier: 0BSD
// cuBLASLt in true fp32 (CUBLAS_COMPUTE_32F: no TF32, no bf16 emulation), tuned: the first call of a shape times what
// the library's heuristic names and then every algorithm that it has for these types, in every tile, number of stages,
// order of tiles and split of K that it offers within the workspace, and keeps the fastest. (4096 cubed on an H200,
// CUDA 13.0: the heuristic names 7, there are 35, and the best of all is 3 % faster than the best that the heuristic
// knows.) A trusted rival, so it may keep handle, descriptors and choice between calls, and may wait in that first
// call, which is never a sample.
#include <cfloat>
#include <chrono>
#include <cstdint>
#include <cublasLt.h>
#include <map>
#include <tuple>
#include <vector>

namespace {

constexpr size_t workspaceBytes = 32 << 20; // what cuBLAS recommends for Hopper
constexpr int mostNamed = 128;              // by the heuristic
constexpr int mostIds = 64;
constexpr int mostCustom = 8; // of an algorithm's own option; what no documentation explains may have 2^18 of them
constexpr int splits[] = {1, 2, 3, 4, 6, 8};
constexpr auto longestTuning = std::chrono::seconds(2); // a slow device knows fewer of them
constexpr int runsEach = 2;                             // the faster of two: the first may load code
constexpr float hopeless = 1.3f; // a first run this many times slower than the best needs no second

struct Plan {
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t left = nullptr, right = nullptr, product = nullptr;
    cublasLtMatmulAlgo_t algorithm;
    bool ready = false;
};

struct Call {
    cublasLtHandle_t handle;
    const float *a, *b;
    float* c;
    void* workspace;
    size_t workspaceSize;
    cudaStream_t stream;
};

cublasStatus_t run(const Call& call, const Plan& plan, const cublasLtMatmulAlgo_t& algorithm)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    // cuBLASLt is column-major: C^T = B^T * A^T.
    return cublasLtMatmul(call.handle, plan.operation, &one, call.b, plan.left, call.a, plan.right, &zero, call.c,
                          plan.product, call.c, plan.product, &algorithm, call.workspace, call.workspaceSize,
                          call.stream);
}

/// Microseconds of the fastest run; FLT_MAX where the algorithm does not run. `toBeat`: the best of the others.
float timed(const Call& call, const Plan& plan, const cublasLtMatmulAlgo_t& algorithm, float toBeat)
{
    cudaEvent_t begin = nullptr, end = nullptr;
    float best = FLT_MAX;
    if (cudaEventCreate(&begin) != cudaSuccess || cudaEventCreate(&end) != cudaSuccess)
        return best;
    for (int i = 0; i < runsEach && (i == 0 || best < hopeless * toBeat); ++i) {
        float milliseconds = 0;
        cudaEventRecord(begin, call.stream);
        const cublasStatus_t status = run(call, plan, algorithm);
        cudaEventRecord(end, call.stream);
        const bool finished = cudaEventSynchronize(end) == cudaSuccess;
        if (status != CUBLAS_STATUS_SUCCESS || !finished)
            break;
        if (cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess && milliseconds * 1000 < best)
            best = milliseconds * 1000;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return best;
}

bool describe(Plan& plan, int64_t m, int64_t n, int64_t k)
{
    return cublasLtMatmulDescCreate(&plan.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&plan.left, CUDA_R_32F, n, k, n) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&plan.right, CUDA_R_32F, k, m, k) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&plan.product, CUDA_R_32F, n, m, n) == CUBLAS_STATUS_SUCCESS;
}

/// Those of the library's heuristic, the one that it believes in most first.
std::vector<cublasLtMatmulAlgo_t> namedAlgorithms(const Call& call, const Plan& plan)
{
    std::vector<cublasLtMatmulHeuristicResult_t> results(mostNamed);
    cublasLtMatmulPreference_t preference = nullptr;
    int found = 0;
    if (cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS) {
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &call.workspaceSize,
                                             sizeof call.workspaceSize);
        if (cublasLtMatmulAlgoGetHeuristic(call.handle, plan.operation, plan.left, plan.right, plan.product,
                                           plan.product, preference, mostNamed, results.data(),
                                           &found) != CUBLAS_STATUS_SUCCESS)
            found = 0;
        cublasLtMatmulPreferenceDestroy(preference);
    }
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < found; ++i) {
        if (results[i].state == CUBLAS_STATUS_SUCCESS)
            algorithms.push_back(results[i].algo);
    }
    return algorithms;
}

/// A list that an algorithm tells of itself; `none` where it has none.
std::vector<uint32_t> idsOf(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t list,
                            uint32_t none)
{
    size_t bytes = 0;
    cublasLtMatmulAlgoCapGetAttribute(&algorithm, list, nullptr, 0, &bytes);
    std::vector<uint32_t> ids(bytes / sizeof(uint32_t));
    if (bytes == 0 ||
        cublasLtMatmulAlgoCapGetAttribute(&algorithm, list, ids.data(), bytes, &bytes) != CUBLAS_STATUS_SUCCESS)
        return {none};
    return ids;
}

int numberOf(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t what)
{
    int32_t value = 0;
    size_t bytes = 0;
    cublasLtMatmulAlgoCapGetAttribute(&algorithm, what, &value, sizeof value, &bytes);
    return value;
}

/// Adds the forms of one algorithm that the library accepts for this product.
void addForms(const Call& call, const Plan& plan, const cublasLtMatmulAlgo_t& algorithm,
              std::vector<cublasLtMatmulAlgo_t>& forms)
{
    bool taken = true;
    const auto set = [&taken](cublasLtMatmulAlgo_t& form, cublasLtMatmulAlgoConfigAttributes_t what, uint32_t value) {
        taken &= cublasLtMatmulAlgoConfigSetAttribute(&form, what, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
    };
    const int customs = numberOf(algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
    const int orders = numberOf(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) ? 2 : 1;
    const bool splitting = numberOf(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) != 0;
    for (const uint32_t tile : idsOf(algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, CUBLASLT_MATMUL_TILE_UNDEFINED)) {
        for (const uint32_t stages : idsOf(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS, CUBLASLT_MATMUL_STAGES_UNDEFINED)) {
            for (int choice = 0; choice <= customs && choice < mostCustom; ++choice) {
                for (int order = 0; order < orders; ++order) {
                    for (const int split : splits) {
                        if (split > 1 && !splitting)
                            break;
                        cublasLtMatmulAlgo_t form = algorithm;
                        taken = true;
                        set(form, CUBLASLT_ALGO_CONFIG_TILE_ID, tile);
                        set(form, CUBLASLT_ALGO_CONFIG_STAGES_ID, stages);
                        set(form, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, choice);
                        set(form, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, order);
                        set(form, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, split);
                        set(form, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                            split > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE);
                        cublasLtMatmulHeuristicResult_t checked = {};
                        if (taken &&
                            cublasLtMatmulAlgoCheck(call.handle, plan.operation, plan.left, plan.right, plan.product,
                                                    plan.product, &form, &checked) == CUBLAS_STATUS_SUCCESS &&
                            checked.workspaceSize <= call.workspaceSize)
                            forms.push_back(form);
                    }
                }
            }
        }
    }
}

std::vector<cublasLtMatmulAlgo_t> allAlgorithms(const Call& call, const Plan& plan)
{
    int ids[mostIds];
    int count = 0;
    std::vector<cublasLtMatmulAlgo_t> forms;
    if (cublasLtMatmulAlgoGetIds(call.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                 CUDA_R_32F, mostIds, ids, &count) != CUBLAS_STATUS_SUCCESS)
        return forms;
    for (int i = 0; i < count; ++i) {
        cublasLtMatmulAlgo_t algorithm;
        if (cublasLtMatmulAlgoInit(call.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                   CUDA_R_32F, ids[i], &algorithm) == CUBLAS_STATUS_SUCCESS)
            addForms(call, plan, algorithm, forms);
    }
    return forms;
}

/// In a capture nothing can be timed: the library's own first choice is taken then, and nothing is kept.
bool choose(const Call& call, Plan& plan)
{
    std::vector<cublasLtMatmulAlgo_t> algorithms = namedAlgorithms(call, plan);
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(call.stream, &capture);
    if (capture != cudaStreamCaptureStatusNone) {
        if (!algorithms.empty())
            plan.algorithm = algorithms.front();
        return !algorithms.empty();
    }
    const std::vector<cublasLtMatmulAlgo_t> all = allAlgorithms(call, plan);
    algorithms.insert(algorithms.end(), all.begin(), all.end());
    float best = FLT_MAX;
    const auto begin = std::chrono::steady_clock::now();
    for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
        if (plan.ready && std::chrono::steady_clock::now() - begin > longestTuning)
            break;
        const float time = timed(call, plan, algorithm, best);
        if (time < best) {
            best = time;
            plan.algorithm = algorithm;
            plan.ready = true;
        }
    }
    return plan.ready;
}

} // namespace

extern "C" cudaError_t matmul_f32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
                                  void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    static cublasLtHandle_t handle = nullptr;
    static std::map<std::tuple<int64_t, int64_t, int64_t>, Plan> plans;
    if (handle == nullptr && cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS)
        return cudaErrorInitializationError;
    const Call call = {handle, a, b, c, workspace, workspace_bytes, stream};
    Plan& plan = plans[{m, n, k}];
    if (plan.operation == nullptr && !describe(plan, m, n, k))
        return cudaErrorInvalidValue;
    if (!plan.ready && !choose(call, plan))
        return cudaErrorNotSupported;
    return run(call, plan, plan.algorithm) == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

extern "C" size_t matmul_f32_workspace(int64_t m, int64_t n, int64_t k)
{
    return workspaceBytes;
}
