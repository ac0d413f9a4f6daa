// SPDX-License-Identifier: Apache-2.0
#include "core/search/editions.h"

#include "core/search/record_merge.h"
#include "core/search/search_tree.h"

#include <cstdlib>

namespace espalier::editions {
namespace {

constexpr const char* rootKey = "editions.root_since";
constexpr const char* candidatesKey = "editions.since";
constexpr const char* rootBeforeKey = "editions.root_before"; ///< content hash

Result<std::int64_t> numberOf(Store& store, const char* key)
{
    ESPALIER_TRY(const auto text, store.value(key));
    return text ? std::strtoll(text->c_str(), nullptr, 10) : 1;
}

} // namespace

Result<Since> since(Store& store)
{
    Since since;
    ESPALIER_TRY(since.root, numberOf(store, rootKey));
    ESPALIER_TRY(since.candidates, numberOf(store, candidatesKey));
    return since;
}

Result<void> begin(Store& store, std::int64_t edition, const EditionChange& change, const std::string& rootBefore)
{
    const std::string text = std::to_string(edition);
    if (change.stale() || change.root) {
        ESPALIER_CHECK(store.setValue(rootKey, text));
    }
    if (change.stale()) {
        ESPALIER_CHECK(store.setValue(candidatesKey, text));
    }
    ESPALIER_TRY(const auto waiting, rootOfRatios(store));
    if (change.root && !waiting) { // a third root before the second was timed: ratios are over the first one still
        ESPALIER_TRY(const std::string hash, store.keepText(rootBefore));
        return store.setValue(rootBeforeKey, hash);
    }
    return {};
}

Result<std::optional<std::string>> rootOfRatios(Store& store)
{
    ESPALIER_TRY(const auto hash, store.value(rootBeforeKey));
    return hash && !hash->empty() ? store.text(*hash) : Result<std::optional<std::string>>(std::nullopt);
}

Result<void> ratiosRenewed(Store& store)
{
    return store.setValue(rootBeforeKey, "");
}

std::vector<StoredStage> holding(std::vector<StoredStage> stages, NodeId node, const Since& since)
{
    if (node == taskRoot) {
        std::erase_if(stages, [&](const StoredStage& stage) { return stage.edition < since.root; });
    } else if (since.candidates > 1 && !mergeRecords(stages, std::nullopt).final) {
        std::erase_if(stages, [&](const StoredStage& stage) {
            return (stage.stage == Stage::Verify || stage.stage == Stage::Time) && stage.edition < since.candidates;
        });
    }
    return stages;
}

Result<std::vector<StoredStage>> stagesOf(Store& store, NodeId node)
{
    ESPALIER_TRY(std::vector<StoredStage> stages, store.stages(node));
    ESPALIER_TRY(const Since holds, since(store));
    return holding(std::move(stages), node, holds);
}

Result<std::set<NodeId>> outdated(Store& store)
{
    std::set<NodeId> nodes;
    ESPALIER_TRY(const Since holding, since(store));
    if (holding.candidates <= 1) {
        return nodes;
    }
    ESPALIER_TRY(const auto all, store.editionsOfNodes());
    for (const auto& [node, edition] : all) {
        if (node != taskRoot && edition < holding.candidates) {
            nodes.insert(node);
        }
    }
    return nodes;
}

} // namespace espalier::editions
