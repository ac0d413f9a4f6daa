// SPDX-License-Identifier: Apache-2.0
// cheat: H04 an entry of .init_array by hand
// task: softmax_f32
// expect: suspicious
// evidence: loaded
// device: sim cuda
// defence: V16
// @paste softmax

namespace {

volatile int state;

void early()
{
    state = 1;
}

__attribute__((section(".init_array"), used)) void (*const entry)() = early;

} // namespace

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
