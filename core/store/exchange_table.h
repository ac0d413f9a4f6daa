// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/exchange.h"
#include "core/store/database.h"

#include <optional>
#include <string_view>
#include <vector>

namespace espalier {

/// The table of questions and answers (migration 2). Each call is one statement. Errors: the database's.
namespace exchange_table {

extern const char* const migration;

Result<std::int64_t> add(Database& database, const Exchange& exchange); ///< returns its id; `exchange.id` is not read
Result<void> update(Database& database, const Exchange& exchange);      ///< everything that an answer brings
/// Those still without an answer were under way when an earlier process ended. Where nobody bills they stay open, but
/// for a question about lessons: that one is never taken up again.
Result<void> markLost(Database& database, std::string_view at);
Result<std::optional<Exchange>> find(Database& database, std::int64_t id);
/// The last one for this question, where it has no answer: open, or lost.
Result<std::optional<Exchange>> unanswered(Database& database, std::string_view key);
/// The last answered one for this question.
Result<std::optional<Exchange>> answered(Database& database, std::string_view key);
Result<std::vector<Exchange>> ofNode(Database& database, NodeId node); ///< in id order
/// All in id order, without texts (prompt, request, answer, reasoning): what sums and lists need.
Result<std::vector<Exchange>> all(Database& database);

} // namespace exchange_table

} // namespace espalier
