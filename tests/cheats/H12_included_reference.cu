// SPDX-License-Identifier: Apache-2.0
// cheat: H12 includes the reference by a parent path
// task: softmax_f32
// expect: build_failed
// evidence: root.cu: No such file
// device: sim cuda
// defence: V17 (compiler sandbox)

#include "../../tasks/softmax_f32/root.cu"
