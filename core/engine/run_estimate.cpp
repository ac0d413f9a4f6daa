// SPDX-License-Identifier: Apache-2.0
#include "core/engine/run_estimate.h"

#include "core/engine/participants.h"
#include "core/engine/session_opening.h"
#include "core/engine/session_task.h"
#include "core/model/task_loader.h"
#include "core/propose/llm/profile_record.h"
#include "core/store/store.h"

#include <algorithm>

namespace espalier {

Result<std::optional<CostEstimate>> estimateRun(const EngineOptions& options)
{
    constexpr std::int64_t usualEvaluations = 24;
    SessionInfo info;
    std::unique_ptr<Store> store;
    std::error_code ignored;
    if (std::filesystem::exists(options.session, ignored)) {
        ESPALIER_TRY(store, Store::open(options.session, Store::Mode::ReadOnly));
        info = store->info();
    } else {
        info.proposers = usualProposers(!options.models.empty());
    }
    if (options.llm) {
        info.llm = recordOf(*options.llm);
    }
    ESPALIER_TRY(const ProposerChoice choice, proposerChoice(info, options));
    const std::vector<std::string> names = namesFor(info, options);
    if (choice.models.empty() || std::none_of(names.begin(), names.end(), asksModels)) {
        return std::nullopt;
    }
    ESPALIER_TRY(const Task task, store ? session_task::of(*store) : loadTask(options.task.value_or("")));
    const Budget budget = options.budget.value_or(info.budget);
    ESPALIER_TRY(CostEstimate estimate, estimateCost(task, choice, budget.evaluations.value_or(usualEvaluations)));
    return estimate;
}

} // namespace espalier
