// SPDX-License-Identifier: Apache-2.0
// cheat: H04 a destructor loops for ever
// task: softmax_f32
// expect: suspicious
// evidence: when it is unloaded
// device: sim cuda
// defence: V16 (sections)
// @paste softmax

namespace {

__attribute__((destructor)) void late()
{
    for (volatile int i = 0;; i = i + 1) {
    }
}

} // namespace

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
