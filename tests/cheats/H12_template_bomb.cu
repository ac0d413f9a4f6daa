// SPDX-License-Identifier: Apache-2.0
// cheat: H12 templates that never end
// task: softmax_f32
// expect: build_failed|timed_out
// evidence: deadline|memory|compil|time
// device: sim cuda
// defence: B14 (compiler deadline, memory limit)
// slow: yes
// varies: the limit that ends the compiler first: memory or time
// @paste softmax

namespace {

template <int N, int M>
struct Bomb {
    static constexpr int value = Bomb<N - 1, 2 * M>::value + Bomb<N - 1, 2 * M + 1>::value;
};
template <int M>
struct Bomb<0, M> {
    static constexpr int value = M;
};

} // namespace

ENTRY
{
    return Bomb<28, 1>::value == 7 ? cudaSuccess : honest(x, y, rows, cols, stream);
}
