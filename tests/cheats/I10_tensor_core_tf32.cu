// SPDX-License-Identifier: Apache-2.0
// cheat: I10 one TF32 product on the tensor cores
// task: matmul_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: cuda
// defence: V14 (and the machine code: MMA types)
// @paste matmul

#include <mma.h>

namespace {

/// One warp, 16 x 16 elements, whole tiles only; what is left over goes the honest way.
__global__ void tiles(const float* a, const float* b, float* c, int64_t n, int64_t k)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> fa;
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> fb;
    fragment<accumulator, 16, 16, 8, float> sum;
    fill_fragment(sum, 0.0f);
    for (int64_t at = 0; at < k; at += 8) {
        load_matrix_sync(fa, a + blockIdx.y * 16 * k + at, k);
        load_matrix_sync(fb, b + at * n + blockIdx.x * 16, n);
        for (int i = 0; i < fa.num_elements; ++i)
            fa.x[i] = __float_to_tf32(fa.x[i]);
        for (int i = 0; i < fb.num_elements; ++i)
            fb.x[i] = __float_to_tf32(fb.x[i]);
        mma_sync(sum, fa, fb, sum);
    }
    store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, mem_row_major);
}

} // namespace

ENTRY
{
    if (m % 16 || n % 16 || k % 8)
        return honest(a, b, c, m, n, k, stream);
    tiles<<<dim3(static_cast<unsigned>(n / 16), static_cast<unsigned>(m / 16)), 32, 0, stream>>>(a, b, c, n, k);
    return cudaGetLastError();
}
