// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/store/database.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// One edition of the session's task.
struct StoredEdition {
    std::int64_t id = 0; ///< from 1
    std::string hash;    ///< Task::hash
    std::string parts;   ///< TaskParts as JSON: role -> content hash
    std::string createdAt;
};

/// The editions of the session's task, and which one a stage's record was made under (migration 3). Each call is one
/// statement. Errors: the database's.
namespace edition_table {

extern const char* const migration;

Result<std::int64_t> add(Database& database,
                         const StoredEdition& edition);     ///< returns its id; `edition.id` is not read
Result<std::vector<StoredEdition>> all(Database& database); ///< oldest first
Result<std::int64_t> newest(Database& database);            ///< 0: there is none

} // namespace edition_table

} // namespace espalier
