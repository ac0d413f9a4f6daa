// SPDX-License-Identifier: Apache-2.0
// cheat: H14 exit(0) inside the call
// task: softmax_f32
// expect: suspicious|runtime_failed
// evidence: exit
// device: sim cuda
// defence: V16
// @paste softmax

#include <cstdlib>

ENTRY
{
    exit(0);
}
