// SPDX-License-Identifier: Apache-2.0
// honest: 9 another algorithm for each shape, all of them right
// task: softmax_f32
// expect: passed
// device: sim cuda
// @paste softmax

namespace {

/// Narrow rows: one thread each.
__global__ void narrow(const float* x, float* y, int64_t rows, int64_t cols)
{
    const int64_t row = blockIdx.x * int64_t{kThreads} + threadIdx.x;
    if (row >= rows)
        return;
    const float* in = x + row * cols;
    float largest = -INFINITY, sum = 0.0f;
    for (int64_t c = 0; c < cols; ++c)
        largest = fmaxf(largest, in[c]);
    for (int64_t c = 0; c < cols; ++c)
        sum += expf(in[c] - largest);
    for (int64_t c = 0; c < cols; ++c)
        y[row * cols + c] = expf(in[c] - largest) / sum;
}

} // namespace

ENTRY
{
    if (cols == 1) {
        narrow<<<static_cast<unsigned>((rows + kThreads - 1) / kThreads), kThreads, 0, stream>>>(x, y, rows, cols);
        return cudaGetLastError();
    }
    if (cols % 2 == 1 && rows < 4) { // odd rows one launch each
        for (int64_t row = 0; row < rows; ++row)
            honest(x + row * cols, y + row * cols, 1, cols, stream);
        return cudaGetLastError();
    }
    return honest(x, y, rows, cols, stream);
}
