// SPDX-License-Identifier: Apache-2.0
#include "core/store/exchange_table.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::exchange_table {

const char* const migration = R"sql(
CREATE TABLE exchanges(
  id INTEGER PRIMARY KEY,
  node INTEGER NOT NULL,
  key TEXT NOT NULL,
  purpose TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_hash TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('sent','answered','failed','lost')),
  details TEXT NOT NULL,
  system TEXT NOT NULL,
  prompt TEXT NOT NULL,
  request TEXT NOT NULL,
  answer TEXT NOT NULL,
  reasoning TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  usd REAL,
  sent_at TEXT NOT NULL,
  ended_at TEXT NOT NULL);
CREATE INDEX exchanges_of_node ON exchanges(node);
CREATE INDEX exchanges_by_key ON exchanges(key);
)sql";

namespace {

Json partJson(const PromptPart& part)
{
    Json json = {{"channel", part.channel}, {"tokens", part.tokens}, {"sent", part.sent}};
    if (!part.note.empty()) {
        json["note"] = part.note;
    }
    if (!part.files.empty()) {
        json["files"] = part.files;
    }
    return json;
}

std::string detailsOf(const Exchange& exchange)
{
    Json parts = Json::array();
    for (const PromptPart& part : exchange.parts) {
        parts.push_back(partJson(part));
    }
    Json json = {{"subject", exchange.subject},
                 {"profile", exchange.profile},
                 {"url", exchange.url},
                 {"parts", parts},
                 {"finish", exchange.finish},
                 {"reason", exchange.reason},
                 {"notes", exchange.notes},
                 {"estimated_input", exchange.estimatedInput},
                 {"estimated_tokens", exchange.estimatedTokens},
                 {"attempts", exchange.attempts},
                 {"first_token_s", exchange.firstTokenSeconds},
                 {"seconds", exchange.seconds}};
    if (exchange.estimatedUsd) {
        json["estimated_usd"] = *exchange.estimatedUsd;
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string textIn(const Json& json, const char* field)
{
    return json.contains(field) && json[field].is_string() ? json[field].get<std::string>() : std::string();
}

std::vector<std::string> textsIn(const Json& json, const char* field)
{
    std::vector<std::string> texts;
    if (json.contains(field) && json[field].is_array()) {
        for (const Json& text : json[field]) {
            if (text.is_string()) {
                texts.push_back(text.get<std::string>());
            }
        }
    }
    return texts;
}

double numberIn(const Json& json, const char* field)
{
    return json.contains(field) && json[field].is_number() ? json[field].get<double>() : 0;
}

/// Unknown fields are ignored and missing ones keep their defaults.
void readDetails(const std::string& text, Exchange& exchange)
{
    const auto json = parseJson(text, "exchange");
    if (!json || !json->is_object()) {
        return;
    }
    exchange.subject = textIn(*json, "subject");
    exchange.profile = textIn(*json, "profile");
    exchange.url = textIn(*json, "url");
    exchange.finish = textIn(*json, "finish");
    exchange.reason = textIn(*json, "reason");
    exchange.notes = textsIn(*json, "notes");
    exchange.estimatedInput = static_cast<std::int64_t>(numberIn(*json, "estimated_input"));
    exchange.estimatedTokens = static_cast<std::int64_t>(numberIn(*json, "estimated_tokens"));
    if (json->contains("estimated_usd")) {
        exchange.estimatedUsd = numberIn(*json, "estimated_usd");
    }
    exchange.attempts = static_cast<int>(numberIn(*json, "attempts"));
    exchange.firstTokenSeconds = numberIn(*json, "first_token_s");
    exchange.seconds = numberIn(*json, "seconds");
    const Json parts = json->value("parts", Json::array());
    for (const Json& part : parts.is_array() ? parts : Json::array()) {
        if (part.is_object()) {
            const Json sent = part.value("sent", Json(true));
            exchange.parts.push_back({textIn(part, "channel"), static_cast<std::int64_t>(numberIn(part, "tokens")),
                                      textIn(part, "note"), textsIn(part, "files"),
                                      !sent.is_boolean() || sent.get<bool>()});
        }
    }
}

constexpr const char* facts = "id, node, key, purpose, provider, model, prompt_hash, state, details, input_tokens, "
                              "output_tokens, cached_tokens, reasoning_tokens, usd, usd IS NULL, sent_at, ended_at";
constexpr const char* texts = "system, prompt, request, answer, reasoning";

Exchange factsFrom(const Statement& row)
{
    Exchange exchange;
    exchange.id = row.integer(0);
    exchange.node = NodeId{row.integer(1)};
    exchange.key = row.text(2);
    exchange.purpose = row.text(3);
    exchange.provider = row.text(4);
    exchange.model = row.text(5);
    exchange.promptHash = row.text(6);
    exchange.state = exchangeStateNamed(row.text(7)).value_or(Exchange::State::Failed);
    readDetails(row.text(8), exchange);
    exchange.tokens = {row.integer(9), row.integer(10), row.integer(11), row.integer(12)};
    if (row.integer(14) == 0) {
        exchange.usd = row.number(13);
    }
    exchange.sentAt = row.text(15);
    exchange.endedAt = row.text(16);
    return exchange;
}

Exchange wholeFrom(const Statement& row)
{
    Exchange exchange = factsFrom(row);
    exchange.system = row.text(17);
    exchange.prompt = row.text(18);
    exchange.request = row.text(19);
    exchange.answer = row.text(20);
    exchange.reasoning = row.text(21);
    return exchange;
}

Result<std::vector<Exchange>> readAll(Statement statement, Exchange (*read)(const Statement&))
{
    std::vector<Exchange> found;
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            return found;
        }
        found.push_back(read(statement));
    }
}

/// SQLite has no way to bind "no value" here: an unknown sum travels as an empty text.
std::string usdText(const Exchange& exchange)
{
    return exchange.usd ? fmt::format("{:.9g}", *exchange.usd) : std::string();
}

} // namespace

Result<std::int64_t> add(Database& database, const Exchange& exchange)
{
    Statement statement =
        database.prepare("INSERT INTO exchanges VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,CAST(nullif(?,'') AS "
                         "REAL),?,?) RETURNING id");
    statement << exchange.node.value << exchange.key << exchange.purpose << exchange.provider << exchange.model
              << exchange.promptHash << nameOf(exchange.state) << detailsOf(exchange) << exchange.system
              << exchange.prompt << exchange.request << exchange.answer << exchange.reasoning << exchange.tokens.input
              << exchange.tokens.output << exchange.tokens.cachedInput << exchange.tokens.reasoning << usdText(exchange)
              << exchange.sentAt << exchange.endedAt;
    ESPALIER_TRY(const bool row, statement.step());
    const std::int64_t id = row ? statement.integer(0) : 0;
    ESPALIER_CHECK(statement.run()); // to its end: only then is the row on disk
    return id;
}

Result<void> update(Database& database, const Exchange& exchange)
{
    Statement statement = database.prepare(
        "UPDATE exchanges SET model=?, state=?, details=?, request=?, answer=?, reasoning=?, input_tokens=?, "
        "output_tokens=?, cached_tokens=?, reasoning_tokens=?, usd=CAST(nullif(?,'') AS REAL), ended_at=? WHERE id=?");
    statement << exchange.model << nameOf(exchange.state) << detailsOf(exchange) << exchange.request << exchange.answer
              << exchange.reasoning << exchange.tokens.input << exchange.tokens.output << exchange.tokens.cachedInput
              << exchange.tokens.reasoning << usdText(exchange) << exchange.endedAt << exchange.id;
    return statement.run();
}

Result<void> markLost(Database& database, std::string_view at)
{
    const std::string billed = fmt::format("provider NOT IN ('{}')", fmt::join(freeProviders, "','"));
    Statement statement = database.prepare(fmt::format(
        "UPDATE exchanges SET state=iif({0}, 'lost', 'failed'), ended_at=?, details=json_set(details, '$.reason', "
        "'Espalier ended before the answer came' || iif({0}, '; the provider may have billed the request.', '.')) "
        "WHERE state='sent' AND ({0} OR purpose='summarise-lessons')",
        billed));
    statement << at;
    return statement.run();
}

Result<std::optional<Exchange>> find(Database& database, std::int64_t id)
{
    Statement statement = database.prepare(fmt::format("SELECT {}, {} FROM exchanges WHERE id = ?", facts, texts));
    statement << id;
    ESPALIER_TRY(const bool row, statement.step());
    return row ? std::optional(wholeFrom(statement)) : std::nullopt;
}

Result<std::optional<Exchange>> unanswered(Database& database, std::string_view key)
{
    Statement statement = database.prepare(
        fmt::format("SELECT {}, {} FROM exchanges WHERE key = ? ORDER BY id DESC LIMIT 1", facts, texts));
    statement << key;
    ESPALIER_TRY(const bool row, statement.step());
    std::optional<Exchange> last = row ? std::optional(wholeFrom(statement)) : std::nullopt;
    const bool open = last && (last->state == Exchange::State::Sent || last->state == Exchange::State::Lost);
    return open ? std::move(last) : std::nullopt;
}

Result<std::optional<Exchange>> answered(Database& database, std::string_view key)
{
    Statement statement =
        database.prepare(fmt::format("SELECT {}, {} FROM exchanges WHERE key = ? AND state = 'answered' ORDER BY id "
                                     "DESC LIMIT 1",
                                     facts, texts));
    statement << key;
    ESPALIER_TRY(const bool row, statement.step());
    return row ? std::optional(wholeFrom(statement)) : std::nullopt;
}

Result<std::vector<Exchange>> ofNode(Database& database, NodeId node)
{
    Statement statement =
        database.prepare(fmt::format("SELECT {}, {} FROM exchanges WHERE node = ? ORDER BY id", facts, texts));
    statement << node.value;
    return readAll(std::move(statement), wholeFrom);
}

Result<std::vector<Exchange>> all(Database& database)
{
    return readAll(database.prepare(fmt::format("SELECT {} FROM exchanges ORDER BY id", facts)), factsFrom);
}

} // namespace espalier::exchange_table
