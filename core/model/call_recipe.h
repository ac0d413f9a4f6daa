// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What makes the contents of one call again: sizes, draws and seeds. The judge leaves the recipe of a call that a
/// candidate failed with the evidence (check `CallRecipe::check`); fresh secrets are made for every call, so an old one
/// gives nothing away. A value. Thread: any.
struct CallRecipe {
    static constexpr std::string_view check = "repro";

    /// Elements [first, first + count) of a buffer, drawn as elements `index` and on of the stream of `seed`.
    struct Range {
        std::uint64_t first = 0, count = 0, index = 0, seed = 0;
        bool operator==(const Range&) const = default;
    };
    struct Buffer {
        std::string argument;
        std::uint64_t place = 0; ///< bytes of its start behind a multiple of 256
        DistributionKind kind = DistributionKind::Normal;
        double a = 0, b = 0;       ///< of ops::FillArgs
        std::uint64_t row = 0;     ///< likewise
        std::vector<Range> ranges; ///< empty: an output
        double normBound = 0;      ///< of an output; 0: none
        bool operator==(const Buffer&) const = default;
    };
    Parameters parameters;
    std::vector<Buffer> buffers;
    double elementFactor = 16, absoluteFactor = 1; ///< of the comparison (ops::CompareArgs)
    std::string where;                             ///< "call 2 of case 8x4096"
    bool operator==(const CallRecipe&) const = default;

    /// The call of a case as its task states it: `seed` for the first buffer, the next number for each other one.
    static Result<CallRecipe> of(const Task& task, const TaskCase& taskCase, std::uint64_t seed);

    /// One line for people that parse() reads again without loss.
    std::string text() const;
    static std::optional<CallRecipe> parse(std::string_view text);
};

/// What ops::FillArgs::row says of a draw: the length of a row, or how long a region of mixed regimes is on average:
/// short enough that a tensor has all of them, long enough that many elements in a row say nothing about the next.
std::uint64_t drawnRow(DistributionKind kind, std::uint64_t elements, const std::vector<std::int64_t>& shape);

} // namespace espalier
