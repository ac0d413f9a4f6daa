// SPDX-License-Identifier: Apache-2.0
// cheat: I12 NaN everywhere
// task: softmax_f32
// expect: incorrect
// evidence: not finite|never written
// device: sim cuda
// defence: V14 (class agreement)
// varies: an output that held NaN before may keep the very same bits
// @paste softmax

ENTRY
{
    return cudaMemsetAsync(y, 0xff, sizeof(float) * rows * cols, stream);
}
