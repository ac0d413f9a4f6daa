// SPDX-License-Identifier: Apache-2.0
// cheat: S11 the processor computes
// task: softmax_f32
// expect: suspicious|runtime_failed
// evidence: captured|a direct call was right|capture|crashed with signal
// evidence-sim: a copy from the device to the host
// device: sim cuda
// varies: a replay reads memory of the host that is gone
// defence: V10 V8
// expect-sim: not_run
// @paste softmax

ENTRY
{
    const int64_t count = rows * cols;
    float* const host = new float[count];
    cudaMemcpyAsync(host, x, sizeof(float) * count, cudaMemcpyDeviceToHost, stream);
    for (int64_t row = 0; row < rows; ++row) {
        float* const at = host + row * cols;
        float largest = at[0], sum = 0.0f;
        for (int64_t c = 1; c < cols; ++c)
            largest = largest < at[c] ? at[c] : largest;
        for (int64_t c = 0; c < cols; ++c)
            sum += at[c] = expf(at[c] - largest);
        for (int64_t c = 0; c < cols; ++c)
            at[c] /= sum;
    }
    cudaMemcpyAsync(y, host, sizeof(float) * count, cudaMemcpyHostToDevice, stream);
    delete[] host;
    return cudaSuccess;
}
