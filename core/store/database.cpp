// SPDX-License-Identifier: Apache-2.0
#include "core/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace espalier {

namespace {

constexpr int busyMilliseconds = 5000;

/// `asked`: the file that was to be opened; what could not be opened has no name in SQLite.
std::unexpected<Error> databaseError(sqlite3* handle, int code, const std::filesystem::path& asked = "the session file")
{
    const char* fileName = handle ? sqlite3_db_filename(handle, "main") : nullptr;
    const std::string file = fileName && *fileName ? fileName : asked.string();
    switch (code & 0xff) {
    case SQLITE_FULL:
        return fail(
            ErrorCode::Io,
            fmt::format("the disk is full while writing {}; free some space and run again, nothing is lost", file));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return fail(
            ErrorCode::Io,
            fmt::format("cannot write {}: the file or its folder is read-only; choose a folder you may write to",
                        file));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail(ErrorCode::Busy,
                    fmt::format("{} is being written by another program; close it and try again", file));
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} is not an Espalier session, or it is damaged; open another file", file));
    case SQLITE_IOERR:
        return fail(ErrorCode::Io, fmt::format("reading or writing {} failed ({}); check the disk and its free space",
                                               file, sqlite3_errmsg(handle)));
    default:
        return fail(ErrorCode::Internal,
                    fmt::format("{}: {}", file, handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code)));
    }
}

} // namespace

Statement::Statement(sqlite3* database, std::string_view sql) : m_database(database)
{
    m_error = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &m_statement, nullptr);
}

Statement::Statement(Statement&& other) noexcept
    : m_database(other.m_database), m_statement(std::exchange(other.m_statement, nullptr)), m_bound(other.m_bound),
      m_error(other.m_error)
{
}

Statement::~Statement()
{
    sqlite3_finalize(m_statement);
}

Statement& Statement::operator<<(std::int64_t value)
{
    if (!m_error) {
        m_error = sqlite3_bind_int64(m_statement, ++m_bound, value);
    }
    return *this;
}

Statement& Statement::operator<<(double value)
{
    if (!m_error) {
        m_error = sqlite3_bind_double(m_statement, ++m_bound, value);
    }
    return *this;
}

Statement& Statement::operator<<(std::string_view value)
{
    if (!m_error) {
        m_error = sqlite3_bind_text64(m_statement, ++m_bound, value.data() ? value.data() : "", value.size(),
                                      SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    return *this;
}

Result<bool> Statement::step()
{
    if (!m_error) {
        const int code = sqlite3_step(m_statement);
        if (code == SQLITE_ROW || code == SQLITE_DONE) {
            return code == SQLITE_ROW;
        }
        m_error = code;
    }
    return databaseError(m_database, m_error);
}

Result<void> Statement::run()
{
    for (;;) {
        ESPALIER_TRY(const bool row, step());
        if (!row) {
            return {};
        }
    }
}

std::int64_t Statement::integer(int column) const
{
    return sqlite3_column_int64(m_statement, column);
}
double Statement::number(int column) const
{
    return sqlite3_column_double(m_statement, column);
}

std::string Statement::text(int column) const
{
    const auto* bytes = sqlite3_column_text(m_statement, column);
    return bytes ? std::string(reinterpret_cast<const char*>(bytes),
                               static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column)))
                 : std::string();
}

namespace {

/// Why a file could not be opened.
std::unexpected<Error> openingError(sqlite3* handle, int code, const std::filesystem::path& file)
{
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    std::error_code error;
    if (!std::filesystem::exists(folder, error) && !error) {
        return fail(ErrorCode::NotFound,
                    fmt::format("cannot write {}: the folder {} does not exist; create it or choose "
                                "another one",
                                file.string(), folder.string()));
    }
    return databaseError(handle, code, file);
}

} // namespace

Result<Database> Database::open(const std::filesystem::path& file, Mode mode)
{
    Database database;
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {
        uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<int>(c)) : std::string(1, c);
    }
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    flags |= mode == Mode::ReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    flags |= mode == Mode::Create ? SQLITE_OPEN_CREATE : 0;
    int code = sqlite3_open_v2(uri.c_str(), &database.m_handle, flags, nullptr);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(database.m_handle, busyMilliseconds);
        code = sqlite3_exec(database.m_handle, "PRAGMA schema_version", nullptr, nullptr, nullptr);
    }
    if (code != SQLITE_OK && mode == Mode::ReadOnly && (code & 0xff) != SQLITE_NOTADB) {
        // A WAL file in a folder we may not write to: without the writer alive it can be read as it stands.
        sqlite3_close_v2(database.m_handle);
        database.m_handle = nullptr;
        code = sqlite3_open_v2((uri + "?immutable=1").c_str(), &database.m_handle, flags, nullptr);
        if (code == SQLITE_OK) {
            code = sqlite3_exec(database.m_handle, "PRAGMA schema_version", nullptr, nullptr, nullptr);
        }
    }
    if (code != SQLITE_OK) {
        return openingError(database.m_handle, code, file);
    }
    ESPALIER_CHECK(database.execute("PRAGMA foreign_keys = ON"));
    return database;
}

Database::Database(Database&& other) noexcept : m_handle(std::exchange(other.m_handle, nullptr)) {}

Database& Database::operator=(Database&& other) noexcept
{
    std::swap(m_handle, other.m_handle);
    return *this;
}

Database::~Database()
{
    sqlite3_close_v2(m_handle);
}

Result<void> Database::execute(const char* sql)
{
    const int code = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) {
        return databaseError(m_handle, code);
    }
    return {};
}

Result<std::int64_t> Database::pragma(std::string_view name)
{
    Statement statement = prepare(fmt::format("PRAGMA {}", name));
    ESPALIER_TRY(const bool row, statement.step());
    return row ? statement.integer(0) : 0;
}

bool Database::inTransaction() const
{
    return sqlite3_get_autocommit(m_handle) == 0;
}

std::int64_t Database::changes() const
{
    return sqlite3_total_changes64(m_handle);
}

Result<bool> Database::checkpoint()
{
    sqlite3_busy_timeout(m_handle, 0);
    const int code = sqlite3_wal_checkpoint_v2(m_handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_busy_timeout(m_handle, busyMilliseconds);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) {
        return databaseError(m_handle, code);
    }
    return code == SQLITE_OK;
}

Result<void> Database::backupTo(Database& to)
{
    sqlite3_backup* backup = sqlite3_backup_init(to.m_handle, "main", m_handle, "main");
    if (!backup) {
        return databaseError(to.m_handle, sqlite3_errcode(to.m_handle));
    }
    (void)sqlite3_backup_step(backup, -1); // finish() returns what went wrong
    const int code = sqlite3_backup_finish(backup);
    return code == SQLITE_OK ? Result<void>() : Result<void>(databaseError(to.m_handle, code));
}

Result<Transaction> Transaction::begin(Database& database)
{
    if (database.inTransaction()) {
        return Transaction(); // a part of the one around it
    }
    ESPALIER_CHECK(database.execute("BEGIN IMMEDIATE"));
    return Transaction(database);
}

Transaction::~Transaction()
{
    if (m_database) {
        (void)m_database->execute("ROLLBACK"); // after a full disk SQLite may have rolled back by itself
    }
}

Result<void> Transaction::commit()
{
    if (!m_database) {
        return {};
    }
    ESPALIER_CHECK(m_database->execute("COMMIT"));
    m_database = nullptr;
    return {};
}

} // namespace espalier
