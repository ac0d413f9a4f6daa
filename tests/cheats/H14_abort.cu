// SPDX-License-Identifier: Apache-2.0
// cheat: H14 aborts after a partial result
// task: softmax_f32
// expect: runtime_failed
// evidence: its process crashed
// device: sim cuda
// defence: V1
// @paste softmax

#include <cstdlib>

ENTRY
{
    honest(x, y, 1, cols, stream);
    abort();
}
