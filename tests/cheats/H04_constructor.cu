// SPDX-License-Identifier: Apache-2.0
// cheat: H04 a constructor runs at load
// task: softmax_f32
// expect: suspicious
// evidence: loaded
// fast: yes
// device: sim cuda
// defence: V16
// @paste softmax

namespace {

volatile int state;

__attribute__((constructor)) void early()
{
    state = 1;
}

} // namespace

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
