// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace espalier {

/// One prepared statement. Bind in order with `<<`, then step. Thread: its database's. A failed bind or step is kept
/// and returned by the next step or run.
class Statement
{
public:
    Statement(sqlite3* database, std::string_view sql);
    Statement(Statement&& other) noexcept;
    Statement(const Statement&) = delete;
    ~Statement();

    Statement& operator<<(std::int64_t value);
    Statement& operator<<(int value) { return *this << static_cast<std::int64_t>(value); }
    Statement& operator<<(bool value) { return *this << static_cast<std::int64_t>(value ? 1 : 0); }
    Statement& operator<<(double value);
    Statement& operator<<(std::string_view value); ///< copied
    Statement& operator<<(const std::string& value) { return *this << std::string_view(value); }
    Statement& operator<<(const char* value) { return *this << std::string_view(value); }

    Result<bool> step(); ///< true: a row is there
    Result<void> run();  ///< to the end
    std::int64_t integer(int column) const;
    double number(int column) const;
    std::string text(int column) const;

private:
    sqlite3* m_database;
    sqlite3_stmt* m_statement = nullptr;
    int m_bound = 0;
    int m_error = 0;
};

/// One SQLite connection. Thread: one. Owns it. Errors carry the file's name and the remedy.
class Database
{
public:
    enum class Mode { Create, ReadWrite, ReadOnly };
    static Result<Database> open(const std::filesystem::path& file, Mode mode);
    Database(Database&& other) noexcept;
    Database& operator=(Database&& other) noexcept;
    ~Database();

    Statement prepare(std::string_view sql) { return Statement(m_handle, sql); }
    Result<void> execute(const char* sql);
    Result<std::int64_t> pragma(std::string_view name);
    bool inTransaction() const;
    std::int64_t changes() const; ///< rows written through this connection so far
    /// Empties the WAL. False where somebody reads: nothing is waited for.
    Result<bool> checkpoint();
    /// Everything into `to`, which should be empty, as one moment of this database.
    Result<void> backupTo(Database& to);

private:
    Database() = default;
    sqlite3* m_handle = nullptr;
};

/// Rolls back unless commit() was called. Begins at once as the writer, so that a busy file fails here and not later.
class Transaction
{
public:
    static Result<Transaction> begin(Database& database);
    Transaction(Transaction&& other) noexcept : m_database(std::exchange(other.m_database, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Result<void> commit();

private:
    Transaction() = default;
    explicit Transaction(Database& database) : m_database(&database) {}
    Database* m_database = nullptr; ///< nullptr: nothing to end
};

} // namespace espalier
