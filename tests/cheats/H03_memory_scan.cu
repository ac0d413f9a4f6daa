// SPDX-License-Identifier: Apache-2.0
// cheat: H03 reads all of its own memory
// task: softmax_f32
// expect: suspicious
// evidence: fopen
// device: sim cuda
// defence: V16 V1
// @paste softmax

#include <cstdio>

ENTRY
{
    if (FILE* maps = fopen("/proc/self/maps", "r"))
        fclose(maps);
    return honest(x, y, rows, cols, stream);
}
