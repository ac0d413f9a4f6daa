// SPDX-License-Identifier: Apache-2.0
// cheat: I09 16-byte loads of rows that are not aligned
// task: softmax_f32
// expect: runtime_failed
// evidence: no multiple of 16
// evidence-cuda: CUDA 716
// device: sim cuda
// defence: V13 (odd sizes)
// @paste softmax

namespace {

__device__ float sink;

__global__ void loadFours(const float* x, int64_t cols)
{
    if (threadIdx.x < cols / 4) {
        const float4 v = reinterpret_cast<const float4*>(x + blockIdx.x * cols)[threadIdx.x];
        sink = v.x + v.y + v.z + v.w;
    }
}

} // namespace

ENTRY
{
    loadFours<<<static_cast<unsigned>(rows), 32, 0, stream>>>(x, cols);
    return honest(x, y, rows, cols, stream);
}
