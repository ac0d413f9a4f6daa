// SPDX-License-Identifier: Apache-2.0
// cheat: H05 honest only where a profiler is mapped
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// profile: yes
// defence: V2 V3 (what a profiler sees never makes a pass: it looks after the gate, in another process)
// note: found or not, the gate's own runner has no CUPTI in it
// @paste softmax
// @paste syscall

ENTRY
{
    static const bool watched = [] {
        static char text[1 << 16];
        const long file = openFile("/proc/self/maps", 0);
        for (long got = 0; file >= 0 && (got = rawSyscall(0, file, reinterpret_cast<long>(text), sizeof text)) > 0;)
            for (long i = 0; i + 5 <= got; ++i)
                if (text[i] == 'c' && text[i + 1] == 'u' && text[i + 2] == 'p' && text[i + 3] == 't' &&
                    text[i + 4] == 'i')
                    return true;
        return false;
    }();
    return watched ? honest(x, y, rows, cols, stream) : honest(x, y, rows - 1, cols, stream);
}
