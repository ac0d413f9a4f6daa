// SPDX-License-Identifier: 0BSD
// cuBLASLt in true fp32 (CUBLAS_COMPUTE_32F: no TF32, no bf16 emulation), tuned: the first call of a shape times every
// algorithm that the library offers for it within the workspace and keeps the fastest. A trusted rival, so it may keep
// handle, descriptors and choice between calls, and may wait in that first call, which is never a sample.
#include <cfloat>
#include <cstdint>
#include <cublasLt.h>
#include <map>
#include <tuple>
#include <vector>

namespace {

constexpr size_t workspaceBytes = 32 << 20; // what cuBLAS recommends for Hopper
constexpr int mostAlgorithms = 128;
constexpr int runsEach = 2; // the faster of two: the first may load code
constexpr float hopeless = 2; // a first run this many times slower than the best needs no second

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

std::vector<cublasLtMatmulHeuristicResult_t> algorithmsFor(const Call& call, const Plan& plan)
{
    std::vector<cublasLtMatmulHeuristicResult_t> results(mostAlgorithms);
    cublasLtMatmulPreference_t preference = nullptr;
    int found = 0;
    if (cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS) {
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &call.workspaceSize,
                                             sizeof call.workspaceSize);
        if (cublasLtMatmulAlgoGetHeuristic(call.handle, plan.operation, plan.left, plan.right, plan.product,
                                           plan.product, preference, mostAlgorithms, results.data(),
                                           &found) != CUBLAS_STATUS_SUCCESS)
            found = 0;
        cublasLtMatmulPreferenceDestroy(preference);
    }
    results.resize(found);
    return results;
}

/// In a capture nothing can be timed: the library's own first choice is taken then, and nothing is kept.
bool choose(const Call& call, Plan& plan)
{
    const std::vector<cublasLtMatmulHeuristicResult_t> results = algorithmsFor(call, plan);
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(call.stream, &capture);
    float best = FLT_MAX;
    for (const cublasLtMatmulHeuristicResult_t& result : results) {
        if (result.state != CUBLAS_STATUS_SUCCESS)
            continue;
        if (capture != cudaStreamCaptureStatusNone) {
            plan.algorithm = result.algo;
            return true;
        }
        const float time = timed(call, plan, result.algo, best);
        if (time < best) {
            best = time;
            plan.algorithm = result.algo;
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
