// SPDX-License-Identifier: Apache-2.0
// cheat: H16 a forbidden name put together from tokens
// task: softmax_f32
// expect: suspicious
// evidence: cudaDeviceSynchronize
// device: sim cuda
// defence: V16 (the linked library, not the text)
// @paste softmax

#define JOIN(a, b) a##b

ENTRY
{
    honest(x, y, rows, cols, stream);
    return JOIN(cudaDevice, Synchronize)();
}
