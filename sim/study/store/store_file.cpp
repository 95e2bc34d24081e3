#include "sim/study/store/store_file.h"

#include "sim/base/diagnostic.h"
#include "sim/base/files.h"
#include "sim/study/store/question.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t application = 0x5459504c; // "TYPL", as SQLite keeps it for `file`
constexpr std::uint32_t schema_version = 1;

// The sizes of a layout, alike in both tables that have them.
constexpr const char* schema = R"(
CREATE TABLE store (program TEXT NOT NULL);
CREATE TABLE points (
    point TEXT PRIMARY KEY,
    tp INTEGER NOT NULL, cp INTEGER NOT NULL, pp INTEGER NOT NULL, vpp INTEGER NOT NULL,
    ep INTEGER NOT NULL, etp INTEGER NOT NULL, dp INTEGER NOT NULL, zero INTEGER NOT NULL,
    schedule TEXT NOT NULL, global_batch INTEGER NOT NULL, micro_batch INTEGER NOT NULL,
    recompute TEXT NOT NULL, recompute_layers INTEGER,
    step_time_s REAL, peak_memory_bytes INTEGER, reserved_memory_bytes INTEGER,
    device_memory_bytes INTEGER, refusal TEXT, simulations INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID;
CREATE TABLE plans (
    plan INTEGER PRIMARY KEY,
    question TEXT NOT NULL, shard INTEGER NOT NULL, shards INTEGER NOT NULL,
    scenario TEXT NOT NULL, scenario_json TEXT NOT NULL, space_json TEXT NOT NULL,
    memory_headroom REAL NOT NULL, nearest_memory_bytes INTEGER,
    shown INTEGER, result_json TEXT,
    UNIQUE (question, shard, shards)
);
CREATE TABLE layouts (
    plan INTEGER NOT NULL REFERENCES plans, number INTEGER NOT NULL,
    tp INTEGER NOT NULL, cp INTEGER NOT NULL, pp INTEGER NOT NULL, vpp INTEGER NOT NULL,
    ep INTEGER NOT NULL, etp INTEGER NOT NULL, dp INTEGER NOT NULL, zero INTEGER NOT NULL,
    schedule TEXT NOT NULL, global_batch INTEGER NOT NULL, micro_batch INTEGER NOT NULL,
    recompute TEXT NOT NULL, recompute_layers INTEGER,
    bound_s REAL NOT NULL, bound_memory_bytes INTEGER NOT NULL,
    PRIMARY KEY (plan, number)
) WITHOUT ROWID;
CREATE TABLE excluded (
    plan INTEGER NOT NULL REFERENCES plans, reason TEXT NOT NULL, field TEXT NOT NULL,
    points INTEGER NOT NULL, example TEXT NOT NULL, first_number INTEGER NOT NULL,
    PRIMARY KEY (plan, reason, field)
) WITHOUT ROWID;
)";

// A store without anything in it.
std::string empty_store()
{
    Database database("a new store", DatabaseAccess::memory);
    database.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", application,
                             schema_version)
                     .c_str());
    database.run(schema);
    Statement(database, "INSERT INTO store VALUES (?)").bind(program_name()).run();
    return database.image();
}

// Puts it in place unless another process has just done so.
void make_store(const std::string& path, bool replaces)
{
    const std::string aside = fmt::format("{}.new-{}", path, ::getpid());
    require_writable(path);
    write_file(aside, empty_store());
    const int placed =
        replaces ? ::rename(aside.c_str(), path.c_str()) : ::link(aside.c_str(), path.c_str());
    const int why = errno;
    const bool no_links = !replaces && placed != 0 && why != EEXIST;
    if (no_links && ::rename(aside.c_str(), path.c_str()) == 0)
        return;
    ::unlink(aside.c_str());
    if (placed != 0 && why != EEXIST)
        throw WorldError{fmt::format("cannot write {}: {}", path, std::strerror(why))};
}

std::uint32_t big_endian(const std::array<char, 100>& header, std::size_t at)
{
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < 4; ++i)
        out = out << 8 | static_cast<unsigned char>(header[at + i]);
    return out;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why, const char* help)
{
    throw WorldError{fmt::format("{}: {}; it is left as it is\n      {}", path, why, help)};
}

using Header = std::array<char, 100>;

// SQLite would change some foreign files when it opens them: this only reads.
bool begins_as_store(std::ifstream& in, Header& header)
{
    in.read(header.data(), header.size());
    constexpr std::string_view magic("SQLite format 3\0", 16);
    return in.gcount() == static_cast<std::streamsize>(header.size()) &&
           std::string_view(header.data(), magic.size()) == magic &&
           big_endian(header, 68) == application;
}

void require_ours(const std::string& path)
{
    if (fs::is_directory(path))
        refuse(path, "is a folder", "name a file in it, such as plan.db");
    Header header{};
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw WorldError{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
    if (!begins_as_store(in, header))
        refuse(path, "is no store of plans", "name another file: a new one is made");
    if (const std::uint32_t found = big_endian(header, 60); found != schema_version)
        refuse(
            path,
            fmt::format("is a store of another version of trainyard (schema {}, this one has {})",
                        found, schema_version),
            "name another file, or use that version");
}

// SQLite takes one that cannot be written for a damaged one.
void require_writable_store(const std::string& path)
{
    const fs::path folder = fs::absolute(path).parent_path();
    for (const fs::path& needed : {fs::path(path), folder})
        if (::access(needed.c_str(), W_OK) != 0)
            throw WorldError{fmt::format("cannot write {}: {}\n      a store writes its log beside "
                                         "the file; --merge only reads it",
                                         needed.string(), std::strerror(errno))};
}

void require_whole(Database& database, const std::string& path)
{
    std::string found = "not readable";
    try {
        found = database.answer("PRAGMA quick_check(1)");
    } catch (const WorldError&) { // SQLite's words for a damaged file are many
    }
    if (found != "ok")
        refuse(path, fmt::format("is damaged ({})", found), "move it away: the plan starts anew");
}

void require_own_program(Database& database, const std::string& path)
{
    const std::string program = database.answer("SELECT program FROM store");
    if (program != program_name())
        refuse(path,
               fmt::format("holds results of another trainyard ({}; this is {}), which may differ",
                           program, program_name()),
               "name another file, or use the program that made it");
}

} // namespace

std::unique_ptr<Database> open_store_file(const std::string& path, DatabaseAccess access)
{
    std::error_code absent;
    const std::uintmax_t size = fs::file_size(path, absent);
    const bool folder = fs::is_directory(path);
    if (access == DatabaseAccess::write && !folder && (absent || size == 0))
        make_store(path, !absent);
    require_ours(path);
    if (access == DatabaseAccess::write)
        require_writable_store(path);
    auto database = std::make_unique<Database>(path, access);
    require_whole(*database, path);
    require_own_program(*database, path);
    if (access == DatabaseAccess::write) {
        // A commit is in the log of the system when it returns, so that the death of the process
        // loses nothing; only when the machine dies may the last ones be missing, and the file is
        // whole then too.
        database->answer("PRAGMA journal_mode = WAL");
        database->run("PRAGMA synchronous = NORMAL");
    }
    return database;
}

std::unique_ptr<Database> open_any_store_file(const std::string& path)
{
    require_ours(path);
    auto database = std::make_unique<Database>(path, DatabaseAccess::read);
    require_whole(*database, path);
    return database;
}

bool is_plan_store(const std::string& path)
{
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored))
        return false;
    Header header{};
    std::ifstream in(path, std::ios::binary);
    return in && begins_as_store(in, header);
}

} // namespace trainyard
