// SPDX-License-Identifier: Apache-2.0
#include "core/search/similarity.h"

#include "core/propose/source_text.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace espalier {

namespace {

bool inWord(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Hashes of words and signs, in order (FNV-1a).
std::vector<std::uint64_t> tokensOf(std::string_view text)
{
    std::vector<std::uint64_t> tokens;
    for (std::size_t i = 0; i < text.size();) {
        if (std::isspace(static_cast<unsigned char>(text[i]))) {
            ++i;
            continue;
        }
        std::size_t end = i + 1;
        while (inWord(text[i]) && end < text.size() && inWord(text[end])) {
            ++end;
        }
        std::uint64_t hash = 14695981039346656037ull;
        for (; i < end; ++i) {
            hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211ull;
        }
        tokens.push_back(hash);
    }
    return tokens;
}

} // namespace

SimilarityIndex::Pieces SimilarityIndex::piecesOf(std::string_view source)
{
    const std::string text = normalisedSource(source);
    const auto tokens = tokensOf(text);
    Pieces pieces;
    for (std::size_t i = 0; i + run <= tokens.size(); ++i) {
        std::uint64_t hash = 0;
        for (std::size_t k = i; k < i + run; ++k) {
            hash = (hash ^ tokens[k]) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 29;
        }
        if (hash % 4 == 0) {
            pieces.push_back(static_cast<std::uint32_t>(hash >> 32));
        }
    }
    std::sort(pieces.begin(), pieces.end());
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    return pieces;
}

SimilarityIndex::Pieces SimilarityIndex::newOf(Pieces pieces, std::span<const NodeId> lineage) const
{
    for (const NodeId ancestor : lineage) {
        if (const auto known = m_own.find(ancestor); known != m_own.end()) {
            Pieces rest;
            std::set_difference(pieces.begin(), pieces.end(), known->second.begin(), known->second.end(),
                                std::back_inserter(rest));
            pieces = std::move(rest);
        }
    }
    return pieces;
}

void SimilarityIndex::add(NodeId node, std::string_view source, std::span<const NodeId> lineage)
{
    Pieces pieces = piecesOf(source);
    std::vector<Bringer> fresh;
    for (const std::uint32_t piece : newOf(pieces, lineage)) {
        fresh.push_back({piece, static_cast<std::uint32_t>(node.value)});
    }
    // Runs of like length are merged: few to search, and no piece is moved more often than they are doubled.
    while (!m_newIn.empty() && m_newIn.back().size() <= 2 * fresh.size()) {
        std::vector<Bringer> merged;
        merged.reserve(m_newIn.back().size() + fresh.size());
        std::merge(m_newIn.back().begin(), m_newIn.back().end(), fresh.begin(), fresh.end(),
                   std::back_inserter(merged));
        m_newIn.pop_back();
        fresh = std::move(merged);
    }
    m_newIn.push_back(std::move(fresh));
    m_own[node] = std::move(pieces);
}

std::optional<Likeness> SimilarityIndex::closest(std::string_view source, std::span<const NodeId> lineage) const
{
    const Pieces fresh = newOf(piecesOf(source), lineage);
    if (std::ssize(fresh) < fewestPieces) {
        return std::nullopt;
    }
    std::map<NodeId, int> shared;
    for (const std::uint32_t piece : fresh) {
        for (const std::vector<Bringer>& bringers : m_newIn) {
            for (auto one = std::lower_bound(bringers.begin(), bringers.end(), Bringer{piece, 0});
                 one != bringers.end() && one->piece == piece; ++one) {
                ++shared[NodeId{one->node}];
            }
        }
    }
    std::optional<Likeness> best;
    for (const auto& [node, count] : shared) {
        const bool kin = std::find(lineage.begin(), lineage.end(), node) != lineage.end();
        if (!kin && (!best || count > best->shared)) { // of equals the older one
            best = Likeness{node, int(fresh.size()), count};
        }
    }
    return best;
}

} // namespace espalier
