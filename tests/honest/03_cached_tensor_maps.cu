// SPDX-License-Identifier: Apache-2.0
// honest: 3 tensor-map descriptors are cached, keyed on pointer and shape
// task: softmax_f32
// expect: passed
// device: cuda
// @paste softmax

#include <cuda.h>

namespace {

constexpr int kBox = 1024; // bytes of a row that one block brings in at a time: 256 floats

/// Copies a row through shared memory by TMA, then works on it as usual: the descriptor is set-up, not data.
__global__ void throughTma(const __grid_constant__ CUtensorMap map, float* y, int64_t cols)
{
    __shared__ alignas(128) float tile[kBox / 4];
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    float* out = y + blockIdx.x * cols;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (int step = 0; step * (kBox / 4) < cols; ++step) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(kBox) : "memory");
            asm volatile(
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                "[%4];" ::"r"(at),
                "l"(&map), "r"(step * (kBox / 4)), "r"(static_cast<int>(blockIdx.x)), "r"(bar)
                : "memory");
        }
        asm volatile(
            "{ .reg .pred done; waiting: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done bra waiting; }" ::
                "r"(bar),
            "r"(step & 1)
            : "memory");
        const int64_t c = step * int64_t{kBox / 4} + threadIdx.x;
        if (c < cols)
            out[c] = tile[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    softmaxRow(out, out, cols);
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

} // namespace

ENTRY
{
    static Encode encode = nullptr;
    static CUtensorMap map;
    static const float* keyX = nullptr;
    static int64_t keyRows = 0, keyCols = 0;
    if (cols % 4 != 0)
        return honest(x, y, rows, cols, stream); // a pitch must be a multiple of 16 bytes
    if (encode == nullptr) {
        cudaDriverEntryPointQueryResult found;
        void* function = nullptr;
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
        encode = reinterpret_cast<Encode>(function);
        if (encode == nullptr)
            return cudaErrorNotSupported;
    }
    if (x != keyX || rows != keyRows || cols != keyCols) {
        const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
        const cuuint64_t pitch[] = {static_cast<cuuint64_t>(cols) * 4};
        const cuuint32_t box[] = {kBox / 4, 1}, steps[] = {1, 1};
        if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(x), sizes, pitch, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
            return cudaErrorInvalidValue;
        keyX = x, keyRows = rows, keyCols = cols;
    }
    throughTma<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(map, y, cols);
    return cudaGetLastError();
}
