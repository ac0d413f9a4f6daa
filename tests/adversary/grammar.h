// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/adversary/vocabulary.h"

#include <cstdint>
#include <string>
#include <vector>

namespace espalier::adversary_test {

/// What the work of a call is made to look like in time; the value faults leave it alone.
enum class Timing {
    Honest,
    SideStream, ///< the kernel runs on a stream of its own that forks from the given one and never joins
    Memo,       ///< contents that agree in `samples` places with the last call's get the last call's answer from memory
};

/// One drawn candidate: a sentence of the grammar. A value; its text is source_writer's.
struct Drawn {
    std::string task; ///< "softmax_f32"
    std::string
        kernel; ///< the honest kernel below it, a path in the task's folder: "root.cu", "playbook/online_pass.cu"
    adversary::Fault fault{adversary::What::Nothing, 0};
    adversary::Trigger trigger{adversary::When::Always, 0, 0, 0};
    adversary::Hide hide = adversary::Hide::Plain;
    int hideCalls = 0;
    adversary::Place place{adversary::Where::All, 1};
    Timing timing = Timing::Honest;
    int samples = 0;        ///< of Memo
    bool honest = false;    ///< the twin
    std::uint64_t seed = 0; ///< it was drawn from
};

/// Names of the cell's parts: classes of the table. Pure.
std::string
whatOf(const Drawn& drawn); ///< "term", "precision", "value", "parameter", "place", "stale", "stream", "memo"
std::string
whenOf(const Drawn& drawn); ///< "always", "residue", "aligned", "size", "contents", "hash", "call", "address"
std::string whereOf(const Drawn& drawn);
std::string hideOf(const Drawn& drawn);
/// All parts and the task: candidates of one cell fall together and count as one.
std::string cellOf(const Drawn& drawn);
/// "softmax_f32 root.cu: DropLast where Tail when Residue(axis 1 % 7 == 3), WarmHost(5)"
std::string sentenceOf(const Drawn& drawn);

/// The n-th candidate of a seed: the same on every machine. `simulated`: only kernels that the simulated device runs.
/// The weights stand in grammar.cpp and were written before any defence that they are to try.
Drawn draw(std::uint64_t seed, std::uint64_t n, bool simulated);
/// Its honest twin: the same structure, and what is put in place of the right answer is the right answer; a stream of
/// its own joins again, a kept answer is never used.
Drawn twinOf(Drawn drawn);

} // namespace espalier::adversary_test
