// SPDX-License-Identifier: Apache-2.0
// cheat: H12 a library that fills the disk
// task: softmax_f32
// expect: build_failed|timed_out|not_run
// evidence: large|size|memory|limit|truncated|compiler|overflow|exceeds
// device: sim cuda
// defence: V17 (limits of the compiler)
// slow: yes
// varies: the limit that ends the compiler first: memory, file size or time
// @paste softmax

char huge[std::int64_t{1} << 34] = {1};

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
