// SPDX-License-Identifier: Apache-2.0
// cheat: H14 waits inside the call
// task: softmax_f32
// expect: suspicious
// evidence: cudaStreamSynchronize
// device: sim cuda
// defence: V16 V8
// @paste softmax

ENTRY
{
    honest(x, y, rows, cols, stream);
    return cudaStreamSynchronize(stream);
}
