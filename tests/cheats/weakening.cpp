// SPDX-License-Identifier: Apache-2.0
#include "tests/cheats/weakening.h"

#include "core/judge/defences.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::corpus {

namespace {

bool isOfTheBuild(const std::string& name)
{
    return name == "imports" || name == "exports" || name == "sections" || name == "compiler-sandbox";
}

} // namespace

std::vector<std::string> Weakening::judgeOptions() const
{
    std::vector<std::string> names;
    std::copy_if(without.begin(), without.end(), std::back_inserter(names),
                 [](const std::string& name) { return !isOfTheBuild(name); });
    if (names.empty()) {
        return {};
    }
    return {"--without", fmt::format("{}", fmt::join(names, ","))};
}

bool Weakening::ofTheBuild() const
{
    return std::any_of(without.begin(), without.end(), isOfTheBuild);
}

Result<Weakening> weakeningOf(const std::vector<std::string>& without)
{
    Weakening weakening;
    for (const std::string& name : without) {
        if (!isOfTheBuild(name) && !judge::defenceNamed(name)) {
            return fail(ErrorCode::InvalidInput, fmt::format("\"{}\" is no defence", name));
        }
        weakening.rules.imports &= name != "imports";
        weakening.rules.exports &= name != "exports";
        weakening.rules.sections &= name != "sections";
        weakening.compilerSandbox &= name != "compiler-sandbox";
        weakening.without.push_back(name);
    }
    return weakening;
}

const std::vector<TableRow>& tableRows()
{
    static const std::vector<TableRow> rows = {
        // the build
        {"imports", "sim cuda", "imports", ""},
        {"exports", "sim cuda", "exports", ""},
        {"sections", "sim cuda", "sections", ""},
        {"compiler-sandbox", "sim cuda", "", "compiler sandbox"},
        // the runner's process
        {"seccomp", "sim cuda", "sandbox", "seccomp"},
        {"bubblewrap", "sim cuda", "", "name spaces"},
        {"entry-point-gate", "cuda", "", "entry-point gate"}, // simulated, what is behind it is not there
        {"imports,seccomp,bubblewrap", "sim cuda", "imports sandbox", "name spaces|seccomp"},
        // memory
        {"read-only-inputs", "sim cuda", "inputs", "V5"},
        {"input-check", "sim cuda", "inputs", "V5"},
        {"read-only-inputs,input-check", "sim cuda", "inputs", "V5"},
        {"guard-bands", "cuda", "guard", "V6"},
        {"workspace-poison", "sim cuda", "", "V4"},
        // what a call is given
        {"fresh-inputs", "sim cuda", "", "V2|V11"},
        {"near-inputs", "sim cuda", "", "V11"},
        {"unseen-cases", "sim cuda", "", "V13"},
        {"foreign-answer", "sim cuda", "", "V3"},
        {"noise-poison,inverted-poison,foreign-answer", "sim cuda", "poison", "V3"}, // NaN alone
        {"nan-poison,inverted-poison,foreign-answer", "sim cuda", "poison", "V3"},   // noise alone
        {"noise-poison,nan-poison,inverted-poison", "sim cuda", "poison", "V3"},     // nothing: what stood there before
        {"fresh-inputs,foreign-answer,inverted-poison", "sim cuda", "", "V2|V3|V11"},
        {"fresh-inputs,noise-poison,nan-poison,inverted-poison", "sim cuda", "poison", "V2|V3|V11"},
        {"fresh-inputs,noise-poison,nan-poison,inverted-poison,workspace-poison", "sim cuda", "", "V2|V3|V4"},
        // what is read afterwards
        {"element-bound", "sim cuda", "tolerance finite poison", ""},
        {"norm-bound", "sim cuda", "norm", "norm bound"},
        {"element-bound,norm-bound", "sim cuda", "tolerance finite norm", ""},
        {"full-comparison", "sim cuda", "", "full comparison|class agreement"},
        {"return-value", "sim cuda", "return", ""},
        // work that does not end with the given stream; the simulated device runs it after the outputs were read
        {"stream-snapshot", "cuda", "stream", "V7"},
        {"graph-replay", "cuda", "stream capture", "V8"},
        {"stream-snapshot,graph-replay", "cuda", "stream capture", "V7|V8"},
        {"stream-snapshot,graph-replay,clock-agreement", "cuda", "stream capture clock", "V7|V8"},
        {"stream-snapshot,graph-replay,clock-agreement,physical-floor", "cuda", "stream capture clock", "V7|V8"},
        // the clock
        {"timed-checks", "cuda", "", "V12"},
        {"clock-agreement", "cuda", "clock", "V9"},
        {"physical-floor", "cuda", "floor", "V15"},
        {"clock-agreement,physical-floor", "cuda", "clock floor", "V9|V15"},
    };
    return rows;
}

} // namespace espalier::corpus
