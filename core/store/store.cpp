// SPDX-License-Identifier: Apache-2.0
#include "core/store/store.h"

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/model/evaluation_json.h"
#include "core/store/database.h"
#include "core/store/exchange_table.h"
#include "core/store/migrations.h"
#include "core/store/session_lock.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace espalier {

namespace {

namespace fs = std::filesystem;

std::string now()
{
    const std::time_t seconds = std::time(nullptr);
    std::tm parts = {};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Json toJson(const Budget& budget)
{
    Json json = Json::object();
    if (budget.evaluations) {
        json["evaluations"] = *budget.evaluations;
    }
    if (budget.seconds) {
        json["seconds"] = *budget.seconds;
    }
    if (budget.usd) {
        json["usd"] = *budget.usd;
    }
    if (budget.tokens) {
        json["tokens"] = *budget.tokens;
    }
    if (budget.target) {
        json["target"] = *budget.target;
    }
    if (budget.roofPercent) {
        json["roof"] = *budget.roofPercent;
    }
    if (budget.plateau) {
        json["plateau"] = *budget.plateau;
    }
    return json;
}

Json infoToJson(const SessionInfo& info)
{
    return {{"task_id", info.taskId},
            {"task_title", info.taskTitle},
            {"task_folder", info.taskFolder},
            {"task_hash", info.taskHash},
            {"device", info.device},
            {"device_name", info.deviceName},
            {"device_uuid", info.deviceUuid},
            {"provenance", nameOf(info.provenance)},
            {"epoch", info.epoch},
            {"strategy", info.strategy},
            {"proposers", info.proposers},
            {"models", info.models},
            {"llm", info.llm},
            {"seed", info.seed},
            {"incumbent", info.incumbent},
            {"incumbent_hash", info.incumbentHash},
            {"budget", toJson(info.budget)},
            {"created_at", info.createdAt}};
}

/// Unknown fields are ignored and missing ones keep their defaults: files of other versions stay readable.
SessionInfo infoFromJson(const Json& json, const std::string& file)
{
    SessionInfo info;
    info.file = file;
    const auto text = [&](const char* field) {
        return json.contains(field) && json[field].is_string() ? json[field].get<std::string>() : std::string();
    };
    info.taskId = text("task_id");
    info.taskTitle = text("task_title");
    info.taskFolder = text("task_folder");
    info.taskHash = text("task_hash");
    info.device = text("device");
    info.deviceName = text("device_name");
    info.deviceUuid = text("device_uuid");
    info.provenance = provenanceNamed(text("provenance")).value_or(Provenance::Model);
    info.epoch = text("epoch");
    info.strategy = text("strategy");
    info.llm = text("llm");
    info.incumbent = text("incumbent");
    info.incumbentHash = text("incumbent_hash");
    info.createdAt = text("created_at");
    if (json.contains("seed") && json["seed"].is_number_integer()) {
        info.seed = json["seed"].get<std::uint64_t>();
    }
    if (json.contains("proposers") && json["proposers"].is_array()) {
        for (const Json& name : json["proposers"]) {
            if (name.is_string()) {
                info.proposers.push_back(name.get<std::string>());
            }
        }
    }
    if (json.contains("models") && json["models"].is_array()) {
        for (const Json& model : json["models"]) {
            if (model.is_string()) {
                info.models.push_back(model.get<std::string>());
            }
        }
    }
    const Json budget = json.value("budget", Json::object());
    if (budget.is_object()) {
        if (budget.contains("evaluations") && budget["evaluations"].is_number_integer()) {
            info.budget.evaluations = budget["evaluations"].get<std::int64_t>();
        }
        if (budget.contains("seconds") && budget["seconds"].is_number()) {
            info.budget.seconds = budget["seconds"].get<double>();
        }
        if (budget.contains("usd") && budget["usd"].is_number()) {
            info.budget.usd = budget["usd"].get<double>();
        }
        if (budget.contains("tokens") && budget["tokens"].is_number_integer()) {
            info.budget.tokens = budget["tokens"].get<std::int64_t>();
        }
        if (budget.contains("target") && budget["target"].is_number()) {
            info.budget.target = budget["target"].get<double>();
        }
        if (budget.contains("roof") && budget["roof"].is_number()) {
            info.budget.roofPercent = budget["roof"].get<double>();
        }
        if (budget.contains("plateau") && budget["plateau"].is_number_integer()) {
            info.budget.plateau = budget["plateau"].get<std::int64_t>();
        }
    }
    return info;
}

std::string provenanceOf(const Evaluation& record)
{
    if (record.timing && !record.timing->cases.empty()) {
        return std::string(nameOf(record.timing->cases.front().provenance));
    }
    return {};
}

constexpr const char* nodeColumns =
    "SELECT n.id, n.kind, n.state, n.ordinal, n.title, n.idea_text, n.proposer, n.payload, "
    "ifnull(t.text, ''), n.pinned, n.pruned, n.boost, n.created_at "
    "FROM nodes n LEFT JOIN texts t ON t.hash = n.source ";

StoredNode nodeFrom(const Statement& row)
{
    StoredNode node;
    node.id = NodeId{row.integer(0)};
    node.kind = nodeKindNamed(row.text(1)).value_or(NodeKind::Candidate);
    node.state = nodeStateNamed(row.text(2)).value_or(NodeState::Done);
    node.ordinal = static_cast<int>(row.integer(3));
    node.title = row.text(4);
    node.ideaText = row.text(5);
    node.proposer = row.text(6);
    node.payload = row.text(7);
    node.source = row.text(8);
    node.pinned = row.integer(9) != 0;
    node.pruned = row.integer(10) != 0;
    node.boost = row.number(11);
    node.createdAt = row.text(12);
    return node;
}

Result<StoredStage> stageFrom(const Statement& row)
{
    StoredStage stage;
    stage.node = NodeId{row.integer(0)};
    stage.stage = stageNamed(row.text(1)).value_or(Stage::Build);
    stage.attempt = static_cast<int>(row.integer(2));
    ESPALIER_TRY(stage.record,
                 evaluationFromText(row.text(3), fmt::format("stage record of node {}", stage.node.value)));
    stage.seconds = row.number(4);
    stage.finishedAt = row.text(5);
    stage.edition = row.integer(6);
    return stage;
}

/// Key of the value that stands while a process writes the session: since when.
/// Which file that was stands behind it.
constexpr const char* openKey = "open_since";

/// Device and inode: a copy has others.
std::string placeOf(const fs::path& file)
{
    struct stat facts = {};
    (void)::stat(file.c_str(), &facts);
    return fmt::format("{}:{}", facts.st_dev, facts.st_ino);
}

/// "2026-12-01T08:12:13.123Z" as "2026-12-01 08:12:13 UTC", with how long ago that was.
std::string momentText(const std::string& iso)
{
    std::tm parts = {};
    const char* end = ::strptime(iso.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (!end) {
        return iso;
    }
    const double ago = std::difftime(std::time(nullptr), ::timegm(&parts));
    const std::string age = ago < 120      ? fmt::format("{:.0f} s", std::max(ago, 0.0))
                            : ago < 7200   ? fmt::format("{:.0f} minutes", ago / 60)
                            : ago < 172800 ? fmt::format("{:.0f} hours", ago / 3600)
                                           : fmt::format("{:.0f} days", ago / 86400);
    return fmt::format("{} {} UTC, {} ago", iso.substr(0, 10), iso.substr(11, 8), age);
}

} // namespace

class Store::Impl
{
public:
    UniqueFd lock; ///< destroyed after the database: see lockSession
    std::optional<Database> database;
    SessionInfo info;
    double seconds = 0;
    bool hasExchanges = true, hasEditions = true;
    bool writes = false;
    std::int64_t checkpointed = -1; ///< changes() then

    ~Impl()
    {
        if (database && writes) { // what is left is one file that says that nobody writes it
            (void)forget(openKey);
            (void)database->checkpoint();
        }
    }

    Result<void> forget(std::string_view key)
    {
        Statement statement = database->prepare("DELETE FROM meta WHERE key = ?");
        statement << key;
        return statement.run();
    }

    /// From now on a copy of the file alone can be told from the whole.
    Result<void> beginWriting(const fs::path& file)
    {
        writes = true;
        ESPALIER_CHECK(setMeta(openKey, now() + " " + placeOf(file)));
        ESPALIER_CHECK(database->checkpoint());
        return {};
    }

    /// Of a file whose writer is not done with it and whose WAL is missing. A process that was killed while it rested
    /// leaves an empty one.
    Result<void> remarkOnCopy(const std::string& file, std::optional<std::uintmax_t> walBytes)
    {
        ESPALIER_TRY(const auto mark, meta(openKey));
        const bool elsewhere = mark && mark->substr(mark->find(' ') + 1) != placeOf(file);
        if (!mark || (walBytes && (*walBytes > 0 || !elsewhere))) {
            return {};
        }
        const std::string since = mark->substr(0, mark->find(' '));
        Statement newest = database->prepare("SELECT max(at) FROM (SELECT max(finished_at) AS at FROM stages UNION ALL "
                                             "SELECT max(at) FROM acts UNION ALL SELECT max(created_at) FROM nodes)");
        ESPALIER_CHECK(newest.step());
        info.remark = fmt::format("{} is a copy without its -wal file, made while it was being written: it holds what "
                                  "had been stored by {}. \"espalierctl copy\" makes whole copies.",
                                  file, momentText(std::max(newest.text(0), since)));
        return {};
    }

    Result<void> setMeta(std::string_view key, std::string_view value)
    {
        Statement statement = database->prepare("INSERT OR REPLACE INTO meta VALUES(?, ?)");
        statement << key << value;
        return statement.run();
    }

    Result<std::optional<std::string>> meta(std::string_view key)
    {
        Statement statement = database->prepare("SELECT value FROM meta WHERE key = ?");
        statement << key;
        ESPALIER_TRY(const bool row, statement.step());
        return row ? std::optional(statement.text(0)) : std::nullopt;
    }

    /// The hash under which a text stands; empty for an empty text.
    Result<std::string> keepText(const std::string& text)
    {
        if (text.empty()) {
            return std::string();
        }
        std::string hash = sha256(text);
        Statement statement = database->prepare("INSERT OR IGNORE INTO texts VALUES(?, ?)");
        statement << hash << text;
        ESPALIER_CHECK(statement.run());
        return hash;
    }

    Result<void> readEdges(StoredNode& node)
    {
        Statement statement =
            database->prepare("SELECT parent, role FROM edges WHERE child = ? ORDER BY role != 'primary', parent");
        statement << node.id.value;
        for (;;) {
            ESPALIER_TRY(const bool row, statement.step());
            if (!row) {
                return {};
            }
            node.parents.push_back(
                {NodeId{statement.integer(0)}, edgeRoleNamed(statement.text(1)).value_or(EdgeRole::Primary)});
        }
    }

    Result<void> load(const std::string& file)
    {
        ESPALIER_TRY(const auto text, meta("session"));
        if (!text) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{} holds no session: its creation was cut off; delete it and start anew", file));
        }
        ESPALIER_TRY(const Json json, parseJson(*text, file));
        info = infoFromJson(json, file);
        ESPALIER_TRY(const auto spent, meta("seconds"));
        seconds = spent ? std::strtod(spent->c_str(), nullptr) : 0;
        if (hasEditions) {
            ESPALIER_TRY(info.edition, edition_table::newest(*database));
        }
        return {};
    }

    std::string stageColumns() const
    {
        return fmt::format("SELECT node, stage, attempt, record, seconds, finished_at, {} FROM stages ",
                           hasEditions ? "edition" : "1");
    }
};

Store::Store(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::create(const std::filesystem::path& file, const SessionInfo& info)
{
    struct stat facts = {};
    if (::stat(file.c_str(), &facts) == 0 && facts.st_size > 0) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} exists already; open it or name another file", file.string()));
    }
    auto impl = std::make_unique<Impl>();
    ESPALIER_TRY(impl->database, Database::open(file, Database::Mode::Create));
    // An empty file is created by the first statement; the lock needs it to exist.
    ESPALIER_CHECK(impl->database->execute("PRAGMA journal_mode = WAL"));
    ESPALIER_TRY(impl->lock, lockSession(file));
    ESPALIER_CHECK(migrateSession(*impl->database));
    impl->info = info;
    impl->info.file = file.string();
    ESPALIER_CHECK(impl->setMeta("session", infoToJson(info).dump()));
    ESPALIER_CHECK(impl->beginWriting(file));
    return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& file, Mode mode)
{
    auto impl = std::make_unique<Impl>();
    struct stat facts = {};
    if (::stat(file.c_str(), &facts) != 0) {
        return fail(ErrorCode::NotFound, fmt::format("the session {} does not exist", file.string()));
    }
    if (!S_ISREG(facts.st_mode)) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} is not an Espalier session; name a .espalier file", file.string()));
    }
    if (mode == Mode::ReadWrite) {
        ESPALIER_TRY(impl->lock, lockSession(file));
    }
    std::error_code error;
    const std::uintmax_t wal = fs::file_size(file.string() + "-wal", error);
    const auto walBytes = error ? std::nullopt : std::optional(wal);
    ESPALIER_TRY(impl->database,
                 Database::open(file, mode == Mode::ReadWrite ? Database::Mode::ReadWrite : Database::Mode::ReadOnly));
    ESPALIER_CHECK(checkSessionVersion(*impl->database, file.string()));
    if (mode == Mode::ReadWrite) {
        ESPALIER_CHECK(impl->database->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
        ESPALIER_CHECK(migrateSession(*impl->database));
        ESPALIER_CHECK(impl->database->execute("UPDATE nodes SET state = 'queued' WHERE state = 'running'"));
        ESPALIER_CHECK(exchange_table::markLost(*impl->database, now()));
    }
    ESPALIER_TRY(const std::int64_t version, impl->database->pragma("user_version"));
    impl->hasExchanges = version >= 2;
    impl->hasEditions = version >= 3;
    ESPALIER_CHECK(impl->load(file.string()));
    ESPALIER_CHECK(impl->remarkOnCopy(file.string(), walBytes));
    if (mode == Mode::ReadWrite) {
        ESPALIER_CHECK(impl->beginWriting(file));
    }
    return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Result<void> Store::copy(const std::filesystem::path& file, const std::filesystem::path& to)
{
    struct stat facts = {};
    if (::lstat(to.c_str(), &facts) == 0) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} exists already, and nothing is overwritten: name another file", to.string()));
    }
    ESPALIER_TRY(const std::unique_ptr<Store> source, open(file, Mode::ReadOnly));
    const std::filesystem::path part = fmt::format("{}.part-{}", to.string(), ::getpid());
    const auto write = [&]() -> Result<void> {
        ESPALIER_TRY(Database copy, Database::open(part, Database::Mode::Create));
        ESPALIER_CHECK(source->m_impl->database->backupTo(copy));
        return copy.execute(fmt::format("DELETE FROM meta WHERE key = '{}'", openKey).c_str());
    };
    Result<void> result = write(); // the database is closed behind it, and its WAL with it
    const auto name = [&] {        // refuses what somebody has written there meanwhile
        return ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ||
               (errno == EINVAL && ::link(part.c_str(), to.c_str()) == 0);
    };
    if (result && !name()) {
        result = fail(ErrorCode::Io,
                      fmt::format("cannot write {}: {}; choose another place", to.string(), std::strerror(errno)));
    }
    for (const char* end : {"", "-wal", "-shm"}) {
        ::unlink((part.string() + end).c_str());
    }
    return result;
}

Result<bool> Store::checkpoint()
{
    const std::int64_t changes = m_impl->database->changes();
    if (!m_impl->writes || changes == m_impl->checkpointed) {
        return true;
    }
    ESPALIER_TRY(const bool done, m_impl->database->checkpoint());
    m_impl->checkpointed = done ? changes : m_impl->checkpointed;
    return done;
}

const SessionInfo& Store::info() const
{
    return m_impl->info;
}
double Store::secondsSpent() const
{
    return m_impl->seconds;
}

Result<void> Store::setInfo(const SessionInfo& info)
{
    ESPALIER_CHECK(m_impl->setMeta("session", infoToJson(info).dump()));
    const SessionInfo before = std::exchange(m_impl->info, info);
    m_impl->info.file = before.file;
    m_impl->info.remark = before.remark;
    m_impl->info.edition = before.edition;
    return {};
}

void Store::setRemark(std::string remark)
{
    m_impl->info.remark = std::move(remark);
}

Result<std::int64_t> Store::addEdition(const StoredEdition& edition, const std::map<std::string, std::string>& texts)
{
    ESPALIER_TRY(Transaction transaction, Transaction::begin(*m_impl->database));
    for (const auto& [hash, text] : texts) {
        ESPALIER_CHECK(m_impl->keepText(text));
    }
    ESPALIER_TRY(const std::int64_t id, edition_table::add(*m_impl->database, edition));
    ESPALIER_CHECK(transaction.commit());
    m_impl->info.edition = id;
    return id;
}

Result<std::vector<StoredEdition>> Store::editions()
{
    return m_impl->hasEditions ? edition_table::all(*m_impl->database) : std::vector<StoredEdition>();
}

Result<std::optional<std::string>> Store::text(std::string_view hash)
{
    Statement statement = m_impl->database->prepare("SELECT text FROM texts WHERE hash = ?");
    statement << hash;
    ESPALIER_TRY(const bool row, statement.step());
    return row                  ? std::optional(statement.text(0))
           : hash == sha256("") ? std::optional<std::string>("") // an empty text has no row
                                : std::nullopt;
}

Result<std::string> Store::keepText(const std::string& text)
{
    return m_impl->keepText(text);
}

Result<std::map<NodeId, std::int64_t>> Store::editionsOfNodes()
{
    std::map<NodeId, std::int64_t> editions;
    if (!m_impl->hasEditions) {
        return editions;
    }
    Statement statement = m_impl->database->prepare(
        "SELECT node, max(edition) FROM stages WHERE stage IN ('verify', 'time') GROUP BY node");
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            return editions;
        }
        editions.emplace(NodeId{statement.integer(0)}, statement.integer(1));
    }
}

Result<double> Store::addSeconds(double seconds)
{
    ESPALIER_CHECK(m_impl->setMeta("seconds", fmt::format("{:.6f}", m_impl->seconds + seconds)));
    return m_impl->seconds += seconds;
}

Result<std::vector<StoredNode>> Store::nodes(Sources sources)
{
    std::vector<StoredNode> nodes;
    Statement statement = m_impl->database->prepare(
        sources == Sources::With
            ? fmt::format("{} ORDER BY n.id", nodeColumns)
            : std::string("SELECT id, kind, state, ordinal, title, idea_text, proposer, payload, '', pinned, "
                          "pruned, boost, created_at FROM nodes ORDER BY id"));
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            break;
        }
        nodes.push_back(nodeFrom(statement));
    }
    // One walk over both lists: they are in the same order.
    Statement edges =
        m_impl->database->prepare("SELECT child, parent, role FROM edges ORDER BY child, role != 'primary', parent");
    auto node = nodes.begin();
    for (;;) {
        ESPALIER_TRY(const bool row, edges.step());
        if (!row) {
            return nodes;
        }
        const NodeId child{edges.integer(0)};
        while (node != nodes.end() && node->id < child) {
            ++node;
        }
        if (node != nodes.end() && node->id == child) {
            node->parents.push_back(
                {NodeId{edges.integer(1)}, edgeRoleNamed(edges.text(2)).value_or(EdgeRole::Primary)});
        }
    }
}

Result<std::optional<StoredNode>> Store::node(NodeId id)
{
    Statement statement = m_impl->database->prepare(fmt::format("{} WHERE n.id = ?", nodeColumns));
    statement << id.value;
    ESPALIER_TRY(const bool row, statement.step());
    if (!row) {
        return std::nullopt;
    }
    StoredNode node = nodeFrom(statement);
    ESPALIER_CHECK(m_impl->readEdges(node));
    return node;
}

Result<void> Store::addNode(const StoredNode& node)
{
    ESPALIER_TRY(Transaction transaction, Transaction::begin(*m_impl->database));
    ESPALIER_TRY(const std::string source, m_impl->keepText(node.source));
    Statement statement = m_impl->database->prepare("INSERT INTO nodes VALUES(?,?,?,?,?,?,?,?,nullif(?,''),?,?,?,?)");
    statement << node.id.value << nameOf(node.kind) << nameOf(node.state) << node.ordinal << node.title << node.ideaText
              << node.proposer << node.payload << source << node.pinned << node.pruned << node.boost << node.createdAt;
    ESPALIER_CHECK(statement.run());
    for (const Edge& edge : node.parents) {
        Statement add = m_impl->database->prepare("INSERT INTO edges VALUES(?,?,?)");
        add << node.id.value << edge.parent.value << nameOf(edge.role);
        ESPALIER_CHECK(add.run());
    }
    return transaction.commit();
}

Result<void> Store::updateNode(const StoredNode& node)
{
    ESPALIER_TRY(Transaction transaction, Transaction::begin(*m_impl->database));
    ESPALIER_TRY(const std::string source, m_impl->keepText(node.source));
    Statement statement =
        m_impl->database->prepare("UPDATE nodes SET state=?, title=?, idea_text=?, payload=?, source=nullif(?,''), "
                                  "pinned=?, pruned=?, boost=? WHERE id=?");
    statement << nameOf(node.state) << node.title << node.ideaText << node.payload << source << node.pinned
              << node.pruned << node.boost << node.id.value;
    ESPALIER_CHECK(statement.run());
    return transaction.commit();
}

Result<void> Store::together(const std::function<Result<void>()>& writes)
{
    ESPALIER_TRY(Transaction transaction, Transaction::begin(*m_impl->database));
    const SessionInfo before = m_impl->info;
    Result<void> done = writes();
    if (done) {
        done = transaction.commit();
    }
    if (!done) {
        m_impl->info = before; // as the file has it
    }
    return done;
}

Result<void> Store::addStage(const StoredStage& stage)
{
    Statement statement = m_impl->database->prepare("INSERT INTO stages SELECT ?1, ?2, CASE ?3 WHEN 0 THEN (SELECT "
                                                    "ifnull(max(attempt), 0) + 1 FROM stages WHERE node = ?1 AND "
                                                    "stage = ?2) ELSE ?3 END, ?4, ?5, ?6, ?7, ?8, ?9");
    statement << stage.node.value << nameOf(stage.stage) << stage.attempt << stage.record.epoch
              << provenanceOf(stage.record) << toJsonText(stage.record) << stage.seconds << stage.finishedAt
              << (stage.edition > 0 ? stage.edition : std::max<std::int64_t>(m_impl->info.edition, 1));
    return statement.run();
}

namespace {

Result<std::vector<StoredStage>> readStages(Statement statement)
{
    std::vector<StoredStage> stages;
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            return stages;
        }
        ESPALIER_TRY(StoredStage stage, stageFrom(statement));
        stages.push_back(std::move(stage));
    }
}

/// The order in which the stages follow each other, not the alphabet's.
constexpr const char* stageOrder =
    "ORDER BY node, CASE stage WHEN 'generate' THEN 0 WHEN 'build' THEN 1 WHEN 'verify' THEN 2 "
    "WHEN 'time' THEN 3 ELSE 4 END, attempt";

} // namespace

Result<std::vector<StoredStage>> Store::stages(NodeId id)
{
    Statement statement =
        m_impl->database->prepare(fmt::format("{} WHERE node = ? {}", m_impl->stageColumns(), stageOrder));
    statement << id.value;
    return readStages(std::move(statement));
}

Result<std::map<NodeId, std::string>> Store::devicesOfNodes()
{
    std::map<NodeId, std::string> devices;
    Statement statement = m_impl->database->prepare(
        "SELECT node, json_extract(record, '$.timing.device') FROM stages WHERE stage = 'time' AND "
        "json_extract(record, '$.timing') IS NOT NULL ORDER BY node, attempt");
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            return devices;
        }
        devices.insert_or_assign(NodeId{statement.integer(0)}, statement.text(1));
    }
}

Result<void> Store::addAct(const StoredAct& act)
{
    Statement statement = m_impl->database->prepare("INSERT INTO acts(at, author, what) VALUES(?,?,?)");
    statement << act.at << act.author << act.what;
    return statement.run();
}

Result<std::vector<StoredAct>> Store::acts()
{
    std::vector<StoredAct> acts;
    Statement statement = m_impl->database->prepare("SELECT at, author, what FROM acts ORDER BY id");
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            return acts;
        }
        acts.push_back({statement.text(0), statement.text(1), statement.text(2)});
    }
}

Result<std::int64_t> Store::addExchange(const Exchange& exchange)
{
    return exchange_table::add(*m_impl->database, exchange);
}

Result<void> Store::updateExchange(const Exchange& exchange)
{
    return exchange_table::update(*m_impl->database, exchange);
}

Result<std::optional<Exchange>> Store::exchange(std::int64_t id)
{
    return m_impl->hasExchanges ? exchange_table::find(*m_impl->database, id) : std::nullopt;
}

Result<std::optional<Exchange>> Store::answeredExchange(std::string_view key)
{
    return m_impl->hasExchanges ? exchange_table::answered(*m_impl->database, key) : std::nullopt;
}

Result<std::optional<Exchange>> Store::unansweredExchange(std::string_view key)
{
    return m_impl->hasExchanges ? exchange_table::unanswered(*m_impl->database, key) : std::nullopt;
}

Result<std::vector<Exchange>> Store::exchangesOf(NodeId node)
{
    return m_impl->hasExchanges ? exchange_table::ofNode(*m_impl->database, node) : std::vector<Exchange>();
}

Result<std::vector<Exchange>> Store::exchanges()
{
    return m_impl->hasExchanges ? exchange_table::all(*m_impl->database) : std::vector<Exchange>();
}

Result<void> Store::setValue(std::string_view key, std::string_view value)
{
    return m_impl->setMeta(fmt::format("value.{}", key), value);
}

Result<std::optional<std::string>> Store::value(std::string_view key)
{
    return m_impl->meta(fmt::format("value.{}", key));
}

Result<std::map<std::string, std::string>> Store::values(std::string_view prefix)
{
    const std::string from = fmt::format("value.{}", prefix);
    std::string behind = from; // the first text that does not start with it
    ++behind.back();
    Statement statement = m_impl->database->prepare("SELECT key, value FROM meta WHERE key >= ? AND key < ?");
    statement << from << behind;
    std::map<std::string, std::string> values;
    for (;;) {
        ESPALIER_TRY(const bool row, statement.step());
        if (!row) {
            return values;
        }
        values.emplace(statement.text(0).substr(from.size()), statement.text(1));
    }
}

} // namespace espalier
