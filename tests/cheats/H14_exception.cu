// SPDX-License-Identifier: Apache-2.0
// cheat: H14 an exception leaves the call
// task: softmax_f32
// expect: runtime_failed
// evidence: its process crashed
// device: sim cuda
// defence: V1
// @paste softmax

namespace {

struct Gone {
};

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    throw Gone();
}
