// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/evaluation.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

constexpr std::string_view evidenceFormat = "espalier-evidence-2"; ///< of NAME.evidence.json

/// An export as it lies in a folder, read from its evidence.
struct StoredExport {
    std::string name;             ///< of its files
    std::filesystem::path folder; ///< that they lie in
    std::string source;           ///< NAME.cu
    std::filesystem::path task;   ///< NAME.task, absolute
    std::int64_t node = 0;
    std::string device; ///< that the figures are of
    Provenance provenance = Provenance::Model;
    Evaluation evaluation; ///< as it was exported
    bool byHand = false;   ///< a person passed it over the judge
};

/// Names of the exports in a folder, sorted. Errors: NotFound where there is none, Io.
Result<std::vector<std::string>> exportsIn(const std::filesystem::path& folder);

/// What is not as it was written: one sentence; empty: every byte is. Errors: Io.
std::string changedSince(const std::filesystem::path& folder, const std::string& name);

/// The files in NAME.task that are none of `known` (keys: paths below `folder`): they could change the task. Backups of
/// earlier exports are left out. Errors: none; what cannot be listed is not there.
std::vector<std::string> strangersIn(const std::filesystem::path& folder, const std::string& name,
                                     const std::map<std::string, std::string>& known);

/// Evidence of an Espalier that wrote no hashes yet proves nothing and denies nothing: one sentence; empty: it is not
/// such.
std::string olderFormat(const std::filesystem::path& folder, const std::string& name);

/// Errors: InvalidInput for evidence that cannot be read, Io.
Result<StoredExport> readExport(const std::filesystem::path& folder, const std::string& name);

enum class EvidenceState { Holds, Broken, Unknown };
std::string_view nameOf(EvidenceState state); ///< "holds", "broken", "unknown"

/// Whether the evidence still holds, and why, in one sentence.
struct EvidenceVerdict {
    EvidenceState state = EvidenceState::Unknown;
    std::string sentence;
};

/// Holds the evidence against a new evaluation on `device`: the same outcome, and not surely slower than what it says,
/// neither in time nor in the ratio to the root (3 % are a machine's day; modelled figures have 0.1 %). Pure.
EvidenceVerdict heldAgainst(const StoredExport& stored, const Evaluation& now, const std::string& device);

} // namespace espalier
