// SPDX-License-Identifier: Apache-2.0
#include "core/store/edition_table.h"

namespace espalier::edition_table {

/// Records of older versions belong to the one edition that those had.
const char* const migration = R"sql(
CREATE TABLE editions(
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  parts TEXT NOT NULL,
  created_at TEXT NOT NULL);
ALTER TABLE stages ADD COLUMN edition INTEGER NOT NULL DEFAULT 1;
)sql";

Result<std::int64_t> add(Database& database, const StoredEdition& edition)
{
    Statement statement = database.prepare("INSERT INTO editions(hash, parts, created_at) VALUES(?,?,?) RETURNING id");
    statement << edition.hash << edition.parts << edition.createdAt;
    ESPALIER_CHECK(statement.step());
    const std::int64_t id = statement.integer(0);
    ESPALIER_CHECK(statement.run());
    return id;
}

Result<std::vector<StoredEdition>> all(Database& database)
{
    std::vector<StoredEdition> editions;
    Statement statement = database.prepare("SELECT id, hash, parts, created_at FROM editions ORDER BY id");
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            return editions;
        }
        editions.push_back({statement.integer(0), statement.text(1), statement.text(2), statement.text(3)});
    }
}

Result<std::int64_t> newest(Database& database)
{
    Statement statement = database.prepare("SELECT ifnull(max(id), 0) FROM editions");
    ESPALIER_CHECK(statement.step());
    return statement.integer(0);
}

} // namespace espalier::edition_table
