// SPDX-License-Identifier: Apache-2.0
// cheat: H05 calls that follow closely are taken for timed ones
// task: softmax_f32
// expect: incorrect | suspicious
// varies: whether a call follows closely depends on the machine: the gate or the replay of a captured call finds it
// evidence: never written|wrong|previous
// device: cuda
// defence: V12 V3
// @paste softmax

ENTRY
{
    static unsigned long long last = 0;
    unsigned low, high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
    const unsigned long long now = static_cast<unsigned long long>(high) << 32 | low;
    const bool timed = last != 0 && now - last < 4000000;
    last = now;
    return honest(x, y, timed && rows > 1 ? rows - 1 : rows, cols, stream);
}
