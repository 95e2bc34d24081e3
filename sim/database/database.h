#pragma once

// SQLite as values: statements that are prepared once and bound by type. What SQLite refuses is
// thrown as WorldError, with the file's name and what helps.

#include "sim/base/diagnostic.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace trainyard {

// The file is no database, or no whole one: for readers of other people's files a flaw of input.
struct DatabaseDamaged : WorldError {};

enum class DatabaseAccess : std::uint8_t {
    read,  // leaves the file and its folder as they are
    write, // of a file that exists
    memory // no file
};

class Database;

// Bound from left to right, then run; afterwards it may be bound again.
class Statement {
public:
    Statement(Database& database, std::string_view sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    template <class... Values>
    Statement& bind(const Values&... values)
    {
        next_ = 0;
        (put(values), ...);
        return *this;
    }

    bool step(); // to the next row; false: there is none, and the statement is as new
    void run();  // without rows
    void reset();

    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;

private:
    void put(std::int64_t value);
    void put(int value) { put(std::int64_t{value}); }
    void put(std::uint64_t value) { put(static_cast<std::int64_t>(value)); }
    void put(double value);
    void put(std::string_view value);
    void put(const std::string& value) { put(std::string_view(value)); }
    void put(const char* value) { put(std::string_view(value)); }
    void put(std::nullopt_t);
    template <class T>
    void put(const std::optional<T>& value)
    {
        if (value)
            put(*value);
        else
            put(std::nullopt);
    }

    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
    int next_ = 0;
};

class Database {
public:
    Database(const std::string& path, DatabaseAccess access);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void run(const char* sql); // one or several statements without rows
    // What a pragma or a question of one value answers.
    std::string answer(std::string_view sql);
    std::int64_t last_row() const;
    int changes() const; // of the last statement
    std::string image(); // the whole file

    [[noreturn]] void fail(int code) const;

private:
    friend class Statement;
    std::string path_;
    sqlite3* database_ = nullptr;
};

// All or nothing: undone unless `commit` was called.
class Transaction {
public:
    explicit Transaction(Database& database) : database_(database)
    {
        database_.run("BEGIN IMMEDIATE");
    }
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    void commit();

private:
    Database& database_;
    bool open_ = true;
};

} // namespace trainyard
