// SPDX-License-Identifier: Apache-2.0
// cheat: M03 the answer of the last call is kept in the workspace
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|not finite|previous
// device: sim cuda
// defence: V4 V2
// @paste softmax

extern "C" size_t softmax_f32_workspace(int64_t rows, int64_t cols)
{
    return rows * cols * sizeof(float);
}

ENTRY
{
    static int64_t keptRows = 0, keptCols = 0;
    float* const store = static_cast<float*>(workspace);
    if (rows == keptRows && cols == keptCols) {
        copyAll<<<32, 256, 0, stream>>>(store, y, rows * cols);
        return cudaGetLastError();
    }
    honest(x, y, rows, cols, stream);
    copyAll<<<32, 256, 0, stream>>>(y, store, rows * cols);
    keptRows = rows;
    keptCols = cols;
    return cudaGetLastError();
}
