// SPDX-License-Identifier: Apache-2.0
#include "core/engine/node_exchanges.h"

#include "core/propose/llm/model_choice.h"
#include "core/search/node_payload.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

Result<std::vector<Exchange>> exchangesBehind(Store& store, NodeId id)
{
    ESPALIER_TRY(const std::optional<StoredNode> node, store.node(id));
    if (!node) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", id.value));
    }
    ESPALIER_TRY(std::vector<Exchange> found, store.exchangesOf(id));
    const std::int64_t made = exchangeOf(NodePayload::parse(node->payload).own);
    const bool there = std::any_of(found.begin(), found.end(), [made](const Exchange& e) { return e.id == made; });
    if (made != 0 && !there) { // ideas: it was asked under their parent
        ESPALIER_TRY(std::optional<Exchange> one, store.exchange(made));
        if (one) {
            found.insert(found.begin(), std::move(*one));
        }
    }
    return found;
}

} // namespace espalier
