// SPDX-License-Identifier: Apache-2.0
// cheat: H14 the kernel never ends
// task: softmax_f32
// expect: timed_out
// evidence: deadline|instructions|end| s
// device: sim cuda
// defence: deadlines from outside
// slow: yes
// @paste softmax

namespace {

__global__ void forEver(float* y)
{
    volatile float* at = y;
    while (at[0] != 12345.0f) {
    }
}

} // namespace

ENTRY
{
    forEver<<<1, 1, 0, stream>>>(y);
    return cudaGetLastError();
}
