// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/toolchain.h"
#include "core/model/evaluation.h"
#include "core/model/task.h"

#include <string_view>

namespace espalier {

/// What a built library would do when it is loaded, held against the contract: before anything is loaded, because a
/// library whose constructors have run has already acted. Pure but for asking the running C library for its names.
struct SymbolVerdict {
    Outcome outcome = Outcome::Passed; ///< Suspicious, BuildFailed (no entry, or what an honest slip leaves in),
                                       ///< NotRun (unsupported: <entry>_prepare)
    std::string reason;                ///< one sentence
    /// Checks "imports", "exports", "sections", and "not_allowed" for what is refused without suspicion: each names
    /// symbol and rule.
    std::vector<Evidence> evidence;
};

/// Which of a candidate's rules are held against it. All of them, but in the corpus program, which shows what each is
/// for.
struct SymbolRules {
    bool imports = true;  ///< check "imports": the allow-list, and the libraries it is linked with
    bool exports = true;  ///< check "exports": nothing that shadows the system's own
    bool sections = true; ///< check "sections": nothing that runs at load or unload, no writable code
};

/// Candidates: the import allow-list, no shadowing exports, nothing that runs at load, the entry exported. Oracles,
/// baselines and incumbents: only that they define what the judge will call.
SymbolVerdict checkSymbols(std::string_view library, const Task& task, SourceRole role, const SymbolRules& rules = {});

} // namespace espalier
