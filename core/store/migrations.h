// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/store/database.h"

namespace espalier {

/// The session file's schema, one numbered step after the other, each in a transaction of its own.
/// A file says which version wrote it (user_version) and the oldest that may still read it (meta.minimum_version).

constexpr std::int64_t sessionApplicationId = 0x45535031; ///< "ESP1" in SQLite's header: this is a session
constexpr std::int64_t sessionVersion = 3;
/// Older versions cannot write stages since they carry an edition.
constexpr std::int64_t oldestReader = 3;

/// InvalidInput when the file is no session, VersionTooNew when only a newer Espalier can read it.
Result<void> checkSessionVersion(Database& database, const std::string& file);
/// Brings the file up to sessionVersion; creates everything in an empty one.
Result<void> migrateSession(Database& database);

} // namespace espalier
