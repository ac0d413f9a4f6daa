// SPDX-License-Identifier: 0BSD
// cuBLAS SGEMM with its default fp32 arithmetic (no TF32). A trusted rival, so it may keep a handle between calls.
#include <cstdint>
#include <cublas_v2.h>

extern "C" cudaError_t matmul_f32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
                                  void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) {
        if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
            return cudaErrorInitializationError;
        cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
    }
    cublasSetStream(handle, stream);
    cublasSetWorkspace(handle, workspace, workspace_bytes);
    const float one = 1.0f;
    const float zero = 0.0f;
    // cuBLAS is column-major: C^T = B^T * A^T.
    const cublasStatus_t status =
        cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

extern "C" size_t matmul_f32_workspace(int64_t m, int64_t n, int64_t k)
{
    return 32 << 20; // what cuBLAS recommends for Hopper
}
