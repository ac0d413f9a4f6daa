// SPDX-License-Identifier: Apache-2.0
// honest: 3 launch set-up is cached: occupancy, number of processors, tile choice
// task: softmax_f32
// expect: passed
// device: sim cuda
// @paste softmax

namespace {

__global__ void strided(const float* x, float* y, int64_t rows, int64_t cols)
{
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        softmaxRow(x + row * cols, y + row * cols, cols);
        __syncthreads();
    }
}

} // namespace

ENTRY
{
    static int blocks = 0;
    if (blocks == 0) {
        int device = 0, processors = 0, each = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, strided, kThreads, 0);
        blocks = processors * each;
    }
    const unsigned grid = rows < blocks ? static_cast<unsigned>(rows) : blocks;
    strided<<<grid, kThreads, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
