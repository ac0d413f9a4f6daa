// SPDX-License-Identifier: Apache-2.0
// cheat: I15 tiles are read without a barrier
// task: matmul_f32
// expect: incorrect
// evidence: times the allowed error|norm|not finite
// device: sim cuda
// defence: V20 V19
// @paste matmul

namespace {

__global__ void racing(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k)
{
    __shared__ float tileA[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * kTile + y;
    const int64_t col = static_cast<int64_t>(blockIdx.x) * kTile + x;
    float sum = 0.0f;
    for (int64_t at = 0; at < k; at += kTile) {
        tileA[y][x] = row < m && at + x < k ? a[row * k + at + x] : 0.0f;
        tileB[y][x] = at + y < k && col < n ? b[(at + y) * n + col] : 0.0f;
        for (int i = 0; i < kTile; ++i)
            sum += tileA[y][i] * tileB[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

} // namespace

ENTRY
{
    const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
    racing<<<grid, dim3(kTile, kTile), 0, stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
