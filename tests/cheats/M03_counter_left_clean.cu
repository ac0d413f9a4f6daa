// SPDX-License-Identifier: Apache-2.0
// cheat: M03 expects the workspace as its last call left it
// task: softmax_f32
// expect: incorrect
// evidence: never written|times the allowed error
// device: sim cuda
// defence: V4 (workspace)
// @paste softmax

namespace {

/// Blocks take rows by a counter in the workspace; the last one sets it back for the next call.
__global__ void rowsByTicket(const float* x, float* y, int64_t rows, int64_t cols, unsigned* counter)
{
    __shared__ unsigned ticket;
    if (threadIdx.x == 0)
        ticket = atomicAdd(counter, 1u);
    __syncthreads();
    const unsigned row = ticket;
    if (row < rows)
        softmaxRow(x + row * cols, y + row * cols, cols);
    __syncthreads();
    if (threadIdx.x == 0 && row == rows - 1)
        *counter = 0;
}

} // namespace

extern "C" size_t softmax_f32_workspace(int64_t rows, int64_t cols)
{
    return sizeof(unsigned);
}

ENTRY
{
    rowsByTicket<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, rows, cols,
                                                                       static_cast<unsigned*>(workspace));
    return cudaGetLastError();
}
