#include "sim/database/database.h"

#include "sim/base/diagnostic.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <filesystem>

namespace trainyard {

namespace {

constexpr int patience_ms = 30'000; // for another process that writes

std::string_view help_for(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "; what was kept before is whole: make room and run the same again";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return "; the file and its folder must be writable (SQLite keeps two files beside it)";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "; another process holds it";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "; it is damaged: move it away, and the plan starts anew";
    case SQLITE_IOERR:
        return "; what was kept before is whole: run the same again when the disk is well";
    default:
        return "";
    }
}

// As SQLite takes names with options; "?", "#" and "%" are none of the name.
std::string uri_of(const std::string& path)
{
    std::string out = "file:";
    for (const char c : std::filesystem::absolute(path).string())
        out += c == '?' || c == '#' || c == '%'
                   ? fmt::format("%{:02x}", static_cast<unsigned char>(c))
                   : std::string(1, c);
    return out;
}

// Whether nobody left anything beside the file that belongs to it.
bool stands_alone(const std::string& path)
{
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(path + "-wal", ignored);
    return ignored || size == 0;
}

} // namespace

Statement::Statement(Database& database, std::string_view sql) : database_(database)
{
    const int code =
        sqlite3_prepare_v3(database.database_, sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
    if (code != SQLITE_OK)
        database_.fail(code);
}

Statement::~Statement()
{
    sqlite3_finalize(statement_);
}

bool Statement::step()
{
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW)
        return true;
    reset();
    if (code != SQLITE_DONE)
        database_.fail(code);
    return false;
}

void Statement::run()
{
    step();
    reset();
}

void Statement::reset()
{
    sqlite3_reset(statement_);
    next_ = 0;
}

bool Statement::is_null(int column) const
{
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const
{
    return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const
{
    return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const
{
    const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return text == nullptr ? std::string() : std::string(text, size);
}

void Statement::put(std::int64_t value)
{
    sqlite3_bind_int64(statement_, ++next_, value);
}

void Statement::put(double value)
{
    sqlite3_bind_double(statement_, ++next_, value);
}

void Statement::put(std::string_view value)
{
    // SQLite's own copy: the text may be gone before the statement runs.
    sqlite3_bind_text(statement_, ++next_, value.data(), static_cast<int>(value.size()),
                      SQLITE_TRANSIENT);
}

void Statement::put(std::nullopt_t)
{
    sqlite3_bind_null(statement_, ++next_);
}

Database::Database(const std::string& path, DatabaseAccess access) : path_(path)
{
    const bool reads = access == DatabaseAccess::read;
    std::string name = ":memory:";
    if (access != DatabaseAccess::memory)
        name = uri_of(path) + (reads && stands_alone(path) ? "?immutable=1" : "");
    const int how = access == DatabaseAccess::memory ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : reads                          ? SQLITE_OPEN_READONLY
                                                     : SQLITE_OPEN_READWRITE;
    const int code = sqlite3_open_v2(name.c_str(), &database_, how | SQLITE_OPEN_URI, nullptr);
    if (code != SQLITE_OK) {
        const std::string said = sqlite3_errstr(code);
        sqlite3_close(database_);
        throw WorldError{fmt::format("cannot open {}: {}{}", path_, said, help_for(code))};
    }
    sqlite3_busy_timeout(database_, patience_ms);
}

Database::~Database()
{
    sqlite3_close(database_);
}

void Database::run(const char* sql)
{
    const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        fail(code);
}

std::string Database::answer(std::string_view sql)
{
    Statement statement(*this, sql);
    return statement.step() ? statement.text(0) : std::string();
}

std::int64_t Database::last_row() const
{
    return sqlite3_last_insert_rowid(database_);
}

int Database::changes() const
{
    return sqlite3_changes(database_);
}

std::string Database::image()
{
    sqlite3_int64 size = 0;
    unsigned char* const bytes = sqlite3_serialize(database_, "main", &size, 0);
    if (bytes == nullptr)
        throw std::bad_alloc();
    std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    return out;
}

void Database::fail(int code) const
{
    const std::string said =
        fmt::format("{}: {}{}", path_, sqlite3_errmsg(database_), help_for(code));
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: // tables that are not what they are called
    case SQLITE_FORMAT:
        throw DatabaseDamaged{said};
    default:
        throw WorldError{said};
    }
}

Transaction::~Transaction()
{
    if (!open_)
        return;
    try {
        database_.run("ROLLBACK");
    } catch (const WorldError&) { // SQLite has undone it by itself
    }
}

void Transaction::commit()
{
    database_.run("COMMIT");
    open_ = false;
}

} // namespace trainyard
