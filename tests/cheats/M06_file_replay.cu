// SPDX-License-Identifier: Apache-2.0
// cheat: M06 answers kept in a file for the next process
// task: softmax_f32
// expect: suspicious
// evidence: fopen
// device: sim cuda
// defence: V16 V17
// @paste softmax

#include <cstdio>

ENTRY
{
    if (FILE* file = fopen("/tmp/answers", "a+")) {
        fputs("answer\n", file);
        fclose(file);
    }
    return honest(x, y, rows, cols, stream);
}
