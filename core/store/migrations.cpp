// SPDX-License-Identifier: Apache-2.0
#include "core/store/migrations.h"

#include "core/store/edition_table.h"
#include "core/store/exchange_table.h"

#include <array>
#include <fmt/format.h>

namespace espalier {

namespace {

/// Migration 1. Lineage is never deleted; measurements carry their epoch; a stage may be attempted several times.
constexpr const char* createAll = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE texts(hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE nodes(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK(kind IN ('root','idea','candidate')),
  state TEXT NOT NULL CHECK(state IN ('draft','queued','running','done')),
  ordinal INTEGER NOT NULL,
  title TEXT NOT NULL,
  idea_text TEXT NOT NULL,
  proposer TEXT NOT NULL,
  payload TEXT NOT NULL,
  source TEXT REFERENCES texts(hash),
  pinned INTEGER NOT NULL,
  pruned INTEGER NOT NULL,
  boost REAL NOT NULL,
  created_at TEXT NOT NULL);
CREATE TABLE edges(
  child INTEGER NOT NULL REFERENCES nodes(id),
  parent INTEGER NOT NULL REFERENCES nodes(id),
  role TEXT NOT NULL CHECK(role IN ('primary','crossover','repair')),
  PRIMARY KEY(child, parent, role)) WITHOUT ROWID;
CREATE UNIQUE INDEX one_primary_parent ON edges(child) WHERE role = 'primary';
CREATE INDEX children ON edges(parent);
CREATE TABLE stages(
  node INTEGER NOT NULL REFERENCES nodes(id),
  stage TEXT NOT NULL CHECK(stage IN ('generate','build','verify','time','profile')),
  attempt INTEGER NOT NULL,
  epoch TEXT NOT NULL,
  provenance TEXT NOT NULL CHECK(provenance IN ('','measured','model')),
  record TEXT NOT NULL,
  seconds REAL NOT NULL,
  finished_at TEXT NOT NULL,
  PRIMARY KEY(node, stage, attempt)) WITHOUT ROWID;
CREATE TABLE acts(
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  author TEXT NOT NULL,
  what TEXT NOT NULL);
)sql";

const std::array<const char*, 3> steps = {createAll, exchange_table::migration, edition_table::migration};
static_assert(std::tuple_size_v<decltype(steps)> == sessionVersion);

} // namespace

Result<void> checkSessionVersion(Database& database, const std::string& file)
{
    ESPALIER_TRY(const std::int64_t application, database.pragma("application_id"));
    if (application != sessionApplicationId) {
        return fail(ErrorCode::InvalidInput, fmt::format("{} is not an Espalier session; name a .espalier file", file));
    }
    ESPALIER_TRY(const std::int64_t version, database.pragma("user_version"));
    if (version <= sessionVersion) {
        return {};
    }
    Statement statement = database.prepare("SELECT value FROM meta WHERE key = 'minimum_version'");
    ESPALIER_TRY(const bool row, statement.step());
    if (row && statement.integer(0) <= sessionVersion) {
        return {};
    }
    return fail(ErrorCode::VersionTooNew, fmt::format("{} was written by a newer Espalier (session version {}, this "
                                                      "one reads up to {}); update Espalier to open it",
                                                      file, version, sessionVersion));
}

Result<void> migrateSession(Database& database)
{
    ESPALIER_TRY(std::int64_t version, database.pragma("user_version"));
    for (; version < sessionVersion; ++version) {
        ESPALIER_TRY(Transaction transaction, Transaction::begin(database));
        ESPALIER_CHECK(database.execute(steps[static_cast<std::size_t>(version)]));
        ESPALIER_CHECK(database.execute(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {};"
                                                    "INSERT OR REPLACE INTO meta VALUES('minimum_version','{}');",
                                                    version + 1, sessionApplicationId, oldestReader)
                                            .c_str()));
        ESPALIER_CHECK(transaction.commit());
    }
    return {};
}

} // namespace espalier
