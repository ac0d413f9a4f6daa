// SPDX-License-Identifier: Apache-2.0
// cheat: H14 right outputs, but an error is returned
// task: softmax_f32
// expect: runtime_failed
// evidence: returned CUDA error 999
// device: sim cuda
// defence: the return value is part of the contract
// @paste softmax

ENTRY
{
    honest(x, y, rows, cols, stream);
    return cudaErrorUnknown;
}
