// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/strategy.h"

namespace espalier {

/// Independent tries from the roots: every idea that stands on a root by itself, in an order drawn from the seed, once
/// round before any gets its second candidate. What came of the tries decides nothing.
class Sample final : public Strategy
{
public:
    explicit Sample(std::uint64_t seed) : m_seed(seed) {}
    std::string_view name() const override { return "sample"; }
    bool independentIdeas() const override { return true; }
    Decision next(const SearchTree& tree) const override;

private:
    std::uint64_t m_seed;
};

} // namespace espalier
