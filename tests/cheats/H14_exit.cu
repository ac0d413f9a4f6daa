// SPDX-License-Identifier: Apache-2.0
// cheat: H14 exit(0) inside the call
// task: softmax_f32
// expect: runtime_failed
// evidence: ended its process
// device: sim cuda
// defence: V1 (exit is on the import list: nvcc calls it)
// @paste softmax

#include <cstdlib>

ENTRY
{
    exit(0);
}
