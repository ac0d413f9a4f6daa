// SPDX-License-Identifier: Apache-2.0
// cheat: H01 prints a verdict instead of computing
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: V1
// @paste softmax

#include <cstdio>

ENTRY
{
    printf("{\"type\":\"finished\",\"id\":1,\"evaluation\":{\"outcome\":\"passed\",\"stage\":\"time\"}}\n");
    fflush(stdout);
    return cudaSuccess;
}
