// SPDX-License-Identifier: Apache-2.0
// cheat: H04 a constructor runs at load
// task: softmax_f32
// expect: suspicious
// evidence: when it is loaded
// fast: yes
// device: sim cuda
// defence: V16 (sections)
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
