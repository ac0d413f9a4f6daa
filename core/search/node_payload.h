// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/ended_record.h"

#include <cstdint>
#include <optional>
#include <string>

namespace espalier {

/// What the search keeps in a node's stored payload beside the proposer's own part: a line of JSON, and after it, once
/// there is an outcome, the text of the EndedRecord, which is read without a look at the JSON.
struct NodePayload {
    std::string key; ///< ideas
    int planned = 1; ///< ideas
    std::string own; ///< the proposer's
    std::int64_t tokens = 0;
    double usd = 0;
    bool byHand = false; ///< ideas: the engineer crossed two nodes
    /// Ideas: what its proposer said before the engineer's words took its place, so that it can be had back. Who writes
    /// what it is told implements such an idea.
    std::optional<std::string> edited;
    std::string why; ///< why the strategy chose this expansion, or asked for this idea; the engineer's own: that it is
    std::optional<EndedRecord> ended; ///< candidates and roots that have an outcome

    std::string text() const;
    /// The text with `ended` set to this; the rest stays as it is.
    static std::string withEnded(const std::string& text, const EndedRecord& ended);
    static NodePayload parse(const std::string& text); ///< defaults for what is missing or broken
};

} // namespace espalier
