// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/proposer.h"

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// How much of what two ideas say is the same, 0 to 1: shared words over all words (Jaccard), title and text together,
/// without stop words, case, plural s and punctuation. Numbers count as words: "4 rows" and "8 rows" are two ideas.
/// Pure and the same everywhere. Thread: any.
double likeness(std::string_view a, std::string_view b);

/// An idea that says what another one says.
constexpr double nearDuplicate = 0.6;

/// A name for an idea that does not depend on who said it when: a hash of its words.
std::string ideaKey(std::string_view title, std::string_view text);

struct FilteredIdeas {
    std::vector<ProposedIdea> kept;
    std::vector<proposer::DroppedIdea> dropped; ///< each with the idea that it repeats
};

/// Takes offered ideas in order, at most `most`; drops near-duplicates of the ideas that stand under the same parent
/// and of earlier ones in the list, and those without words.
FilteredIdeas filterIdeas(std::vector<ProposedIdea> offered, const IdeaContext& context, int most);

} // namespace espalier
