// SPDX-License-Identifier: Apache-2.0
// cheat: H11 a process that outlives the runner
// task: softmax_f32
// expect: suspicious
// evidence: fork, which starts a process
// device: sim cuda
// defence: V16 V17
// @paste softmax

#include <unistd.h>

ENTRY
{
    if (fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    return honest(x, y, rows, cols, stream);
}
