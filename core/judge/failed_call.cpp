// SPDX-License-Identifier: Apache-2.0
#include "core/judge/failed_call.h"

namespace espalier::judge {

Verdict withRecipe(Verdict verdict, const WorkArea& area, std::size_t set, const std::string& where)
{
    if (verdict.outcome == Outcome::NotRun) {
        return verdict;
    }
    if (const auto recipe = area.recipeOf(set, where)) {
        verdict.evidence.push_back({std::string(CallRecipe::check), recipe->text()});
    }
    return verdict;
}

} // namespace espalier::judge
