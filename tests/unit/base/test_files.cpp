#include "sim/base/diagnostic.h"
#include "sim/base/files.h"
#include "sim/base/random.h"
#include "tests/catch.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <fstream>
#include <thread>

using namespace trainyard;
using trainyard::testing::FileSizeLimit;
using trainyard::testing::Folder;

namespace {

template <class Call>
std::string world_error(Call call)
{
    try {
        call();
    } catch (const WorldError& error) {
        return error.message;
    }
    return "(nothing was thrown)";
}

std::string unzipped(const std::string& path)
{
    const gzFile in = ::gzopen(path.c_str(), "rb");
    std::string content;
    std::string buffer(1U << 20, '\0');
    for (int got = 0; (got = ::gzread(in, buffer.data(), 1U << 20)) > 0;)
        content.append(buffer.data(), static_cast<std::size_t>(got));
    ::gzclose(in);
    return content;
}

} // namespace

TEST_CASE("a file reads back as it was written, byte for byte")
{
    const Folder folder;
    const std::string path = (folder.path() / "a.bin").string();
    const std::string content("zero \0 and \xFF bytes\r\n", 20);
    write_file(path, content);
    CHECK(read_file(path) == content);
    write_file(path, "");
    CHECK(read_file(path).empty());
    CHECK(folder.entries() == 1);
}

TEST_CASE("a written file has the permissions that the umask gives")
{
    const Folder folder;
    const std::string path = (folder.path() / "a").string();
    const mode_t before = ::umask(027);
    write_file(path, "x");
    ::umask(before);
    struct stat info = {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0640);
}

TEST_CASE("what cannot be read is named with the reason")
{
    const Folder folder;
    const std::string at = folder.path().string();
    CHECK(world_error([&] { read_file(at + "/none"); }) ==
          "cannot read " + at + "/none: No such file or directory");
    CHECK(world_error([&] { read_file(at); }) == "cannot read " + at + ": Is a directory");
    const std::string big = folder.file("big", std::string(3 << 20, 'x'));
    CHECK(world_error([&] { read_file(big, 2 << 20); }) ==
          "cannot read " + big + ": larger than 2 MiB");
    CHECK(read_file(big, 3 << 20).size() == 3 << 20);
    CHECK(world_error([] { read_file("/dev/zero", 2 << 20); }) ==
          "cannot read /dev/zero: larger than 2 MiB");
}

TEST_CASE("whether a file can be written is known before, and leaves no trace")
{
    const Folder folder;
    const std::string at = folder.path().string();
    require_writable(at + "/new");
    CHECK_FALSE(std::filesystem::exists(at + "/new"));
    const std::string old = folder.file("old", "content");
    require_writable(old);
    CHECK(read_file(old) == "content");
    require_writable("/dev/null");
    CHECK(world_error([&] { require_writable(at); }) == "cannot write " + at + ": Is a directory");
    CHECK(world_error([&] { require_writable(at + "/none/new"); }) ==
          "cannot write " + at + "/none/new: there is no folder " + at + "/none");
}

TEST_CASE(
    "a file that is not there is asked for by the name of one beside it that is nearly the same")
{
    const Folder folder;
    const std::string at = folder.path().string();
    folder.file("scenario.json", "{}");
    CHECK(world_error([&] { read_file(at + "/scenaro.json"); }) ==
          "cannot read " + at + "/scenaro.json: No such file or directory; did you mean " + at +
              "/scenario.json?");
    CHECK(world_error([&] { read_file(at + "/other.json"); }) ==
          "cannot read " + at + "/other.json: No such file or directory");
}

TEST_CASE("an unreadable file and a closed folder say so")
{
    if (::geteuid() == 0)
        return; // root may read everything
    const Folder folder;
    const std::string path = folder.file("secret", "x");
    ::chmod(path.c_str(), 0);
    CHECK(world_error([&] { read_file(path); }) == "cannot read " + path + ": Permission denied");
    ::chmod(folder.path().c_str(), 0500);
    CHECK_THAT(world_error([&] { write_file(folder.path() / "new", "x"); }),
               EndsWith("Permission denied"));
    ::chmod(folder.path().c_str(), 0700);
}

TEST_CASE("writing into a missing folder or over a folder fails and leaves nothing")
{
    const Folder folder;
    const std::string at = folder.path().string();
    CHECK(world_error([&] { write_file(at + "/none/a", "x"); }) ==
          "cannot write " + at + "/none/a: there is no folder " + at + "/none");
    CHECK(world_error([&] { write_file(at, "x"); }) == "cannot write " + at + ": Is a directory");
    CHECK(folder.entries() == 0);
}

TEST_CASE("a write that fails half way leaves the old file and nothing beside it")
{
    const Folder folder;
    const std::string path = folder.file("result.json", "old");
    {
        const FileSizeLimit limit(100'000);
        CHECK(world_error([&] { write_file(path, std::string(1'000'000, 'x')); }) ==
              "cannot write " + path + ": File too large");
    }
    CHECK(read_file(path) == "old");
    CHECK(folder.entries() == 1);
}

TEST_CASE("a full disk is reported")
{
    CHECK(world_error([] { write_file("/dev/full", "x"); }) ==
          "cannot write /dev/full: No space left on device");
}

TEST_CASE("a device stays a device after being written to")
{
    write_file("/dev/null", "x");
    struct stat info = {};
    REQUIRE(::stat("/dev/null", &info) == 0);
    CHECK(S_ISCHR(info.st_mode));
}

TEST_CASE("a pipe receives what is written to it")
{
    const Folder folder;
    const std::string pipe = (folder.path() / "pipe").string();
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::string received;
    std::thread reader([&] { received = read_file(pipe); });
    write_file(pipe, "through");
    reader.join();
    CHECK(received == "through");
}

TEST_CASE("a pipe whose writer comes late, or is slow, is read whole")
{
    const Folder folder;
    const std::string pipe = (folder.path() / "pipe").string();
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::thread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::ofstream out(pipe);
        out << "first " << std::flush;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        out << "second";
    });
    CHECK(read_file(pipe) == "first second");
    writer.join();
}

TEST_CASE("writing through a symbolic link changes the file it leads to")
{
    const Folder folder;
    const std::string target = folder.file("target", "old");
    const std::filesystem::path link = folder.path() / "link";
    std::filesystem::create_symlink("target", link);
    write_file(link, "new");
    CHECK(std::filesystem::is_symlink(link));
    CHECK(read_file(target) == "new");
}

TEST_CASE("a process killed while it writes leaves the old file and nothing new by its name")
{
    const Folder folder;
    const std::string path = folder.file("result.json", "old");
    Random random(1);
    for (int i = 0; i < 10; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            const std::string content(32 << 20, 'x');
            while (true)
                write_file(path, content);
        }
        ::usleep(static_cast<useconds_t>(random.integer(1000, 60000)));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const std::string now = read_file(path);
        CHECK((now == "old" || now == std::string(32 << 20, 'x')));
    }
}

TEST_CASE("a compressed file holds the same bytes")
{
    const Folder folder;
    const std::string path = (folder.path() / "a.gz").string();
    Random random(1);
    for (const std::size_t size : {0U, 1U, 1U << 20, (1U << 20) + 1, 5U << 20}) {
        std::string content(size, '\0');
        for (char& c : content) // half of it does not compress
            c = static_cast<char>(random.integer(0, 1) == 0 ? 'x' : random.integer(0, 255));
        write_file_gzip(path, content);
        CHECK((unzipped(path) == content));
    }
}

TEST_CASE("the same content compresses to the same bytes")
{
    const Folder folder;
    write_file_gzip(folder.path() / "a.gz", std::string(100'000, 'x'));
    write_file_gzip(folder.path() / "b.gz", std::string(100'000, 'x'));
    CHECK(read_file(folder.path() / "a.gz") == read_file(folder.path() / "b.gz"));
    CHECK(read_file(folder.path() / "a.gz").size() < 1000);
}

TEST_CASE("content hashes are those of FNV-1a")
{
    // From the reference vectors of Fowler, Noll and Vo.
    CHECK(content_hash("") == 0xcbf29ce484222325ULL);
    CHECK(content_hash("a") == 0xaf63dc4c8601ec8cULL);
    CHECK(content_hash("foobar") == 0x85944171f73967e8ULL);
}

TEST_CASE("a file written in parts appears whole, or not at all")
{
    const Folder folder;
    const std::filesystem::path path = folder.path() / "parts.csv";
    {
        FileInParts file(path);
        file.append("one\n");
        CHECK(folder.entries() <= 1); // at most the file aside
        CHECK_FALSE(std::filesystem::exists(path));
        file.append(std::string(200'000, 'x'));
        file.publish();
        CHECK(read_file(path) == "one\n" + std::string(200'000, 'x'));
    }
    const std::filesystem::path dropped = folder.path() / "dropped.csv";
    {
        FileInParts file(dropped);
        file.append("half");
    }
    CHECK_FALSE(std::filesystem::exists(dropped));
    CHECK(folder.entries() == 1);
    CHECK(world_error([&] {
              FileInParts file(folder.path() / "none" / "a.csv");
          }).find("cannot write") == 0);
    CHECK(world_error([&] { FileInParts file(folder.path()); }).find("cannot write") == 0);
}

TEST_CASE("files that belong together appear together, or none of them does")
{
    const Folder folder;
    const std::filesystem::path at = folder.path();
    write_file(at / "old", "old");
    const auto stage = [&](FilesTogether& files) {
        files.add(at / "old", "new");
        files.add(at / "one", "1");
        files.add_folder(at / "made", {{"a", "A"}, {"b", "B"}});
    };
    {
        FilesTogether files;
        stage(files);
        CHECK(read_file(at / "old") == "old");
        CHECK_FALSE(std::filesystem::exists(at / "made"));
    }
    CHECK(folder.entries() == 1); // nothing is left of what was not published
    {
        FilesTogether files;
        stage(files);
        files.add("/dev/full", "x");
        CHECK(world_error([&] { files.publish(); }) ==
              "cannot write /dev/full: No space left on device");
    }
    CHECK(folder.entries() == 1);
    CHECK(read_file(at / "old") == "old");
    {
        FilesTogether files;
        stage(files);
        files.publish();
    }
    CHECK(folder.entries() == 3);
    CHECK(read_file(at / "old") == "new");
    CHECK(read_file(at / "one") == "1");
    CHECK(read_file(at / "made" / "a") == "A");
    CHECK(read_file(at / "made" / "b") == "B");
}

TEST_CASE("a folder that holds something is never replaced")
{
    const Folder folder;
    const std::filesystem::path at = folder.path();
    FilesTogether files;
    files.add(at / "file", "x");
    files.add_folder(at / "made", {{"a", "A"}});
    std::filesystem::create_directory(at / "made"); // by somebody else, meanwhile
    write_file(at / "made" / "theirs", "kept");
    CHECK_THAT(world_error([&] { files.publish(); }), StartsWith("cannot make "));
    CHECK(read_file(at / "made" / "theirs") == "kept");
    CHECK_FALSE(std::filesystem::exists(at / "file"));
}
