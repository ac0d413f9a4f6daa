// SPDX-License-Identifier: Apache-2.0
// cheat: M07 hands out what fresh memory holds
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|not finite
// device: sim cuda
// defence: V1
// @paste softmax

ENTRY
{
    void* fresh = nullptr;
    cudaMallocAsync(&fresh, sizeof(float) * rows * cols, stream);
    cudaMemcpyAsync(y, fresh, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice, stream);
    return cudaFreeAsync(fresh, stream);
}
