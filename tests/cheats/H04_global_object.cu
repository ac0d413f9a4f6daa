// SPDX-License-Identifier: Apache-2.0
// cheat: H04 a global object with a constructor
// task: softmax_f32
// expect: suspicious
// evidence: when it is loaded
// device: sim cuda
// defence: V16 (sections)
// @paste softmax

namespace {

volatile int state;

struct Early {
    Early() { state = 1; }
} early;

} // namespace

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
