// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace espalier {

/// Text that two kernels have in common though neither descends from the other: a candidate that copied a finished
/// solution from somewhere looks like this. It proves nothing (two models may have the same idea), so it is a remark
/// for a person and never a verdict.
struct Likeness {
    NodeId node{0};    ///< the stranger with most of the new text
    int newPieces = 0; ///< pieces of the candidate that none of its ancestors has
    int shared = 0;    ///< of those, how many the stranger has too
    double share() const { return newPieces > 0 ? double(shared) / newPieces : 0; }
};

/// Every source of a session as a set of pieces: runs of `run` tokens of the text without comments and layout, hashed,
/// every fourth hash kept (by value, so that the same text keeps the same ones). What stands in the task's root or an
/// ancestor is inherited and does not count, so that siblings which both keep their parent's text are not alike by
/// that. Thread: one. Memory: 4 bytes a kept piece and node, and 8 for a new one: about 3 kB for a kernel of 200 lines.
class SimilarityIndex
{
public:
    static constexpr int run = 12;          ///< tokens a piece
    static constexpr int fewestPieces = 20; ///< of new text: below that a likeness says nothing
    static constexpr double alarming = 0.8; ///< share of the new text

    /// `lineage`: everything the source may have been made from: ancestors, crossover parents, earlier tries of its
    /// idea.
    void add(NodeId node, std::string_view source, std::span<const NodeId> lineage);
    /// The stranger that has most of what is new in `source`; nullopt when there is too little new text or no stranger.
    std::optional<Likeness> closest(std::string_view source, std::span<const NodeId> lineage) const;

private:
    using Pieces = std::vector<std::uint32_t>; ///< ascending, each once
    static Pieces piecesOf(std::string_view source);
    Pieces newOf(Pieces pieces, std::span<const NodeId> lineage) const;

    std::map<NodeId, Pieces> m_own; ///< whole text, by node
    struct Bringer {                ///< who brought a piece in as new text
        std::uint32_t piece, node;
        auto operator<=>(const Bringer&) const = default;
    };
    std::vector<std::vector<Bringer>> m_newIn; ///< sorted runs, each less than half as long as the one before it
};

} // namespace espalier
