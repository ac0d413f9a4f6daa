// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/build/symbol_check.h"

#include <string>
#include <string_view>
#include <vector>

namespace espalier::corpus {

/// Defences that are taken away together. Names are those of judge::Defence and, of the build, "imports", "exports",
/// "sections" and "compiler-sandbox". A value.
struct Weakening {
    std::vector<std::string> without;
    SymbolRules rules;           ///< what is left of the build's rules
    bool compilerSandbox = true; ///< false: compiled without one
    std::vector<std::string> judgeOptions() const;
    bool ofTheBuild() const; ///< something of the build is taken away
};

/// Errors: InvalidInput naming the word that is no defence.
Result<Weakening> weakeningOf(const std::vector<std::string>& without);

/// One line of the second table: what is taken away, and which files could slip through for want of it.
struct TableRow {
    std::string_view without; ///< names between commas
    std::string_view devices; ///< "sim cuda", "cuda" or "sim": where it has meaning
    /// Files that one of these checks ended while everything stood (names between blanks), ...
    std::string_view checks;
    /// ... or whose head names one of these under `defence` (names between bars).
    std::string_view words;
};

/// The second table's lines: each defence alone, then those that stand behind each other together.
const std::vector<TableRow>& tableRows();

} // namespace espalier::corpus
