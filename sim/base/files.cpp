#include "sim/base/files.h"

#include "sim/base/diagnostic.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <random>
#include <utility>
#include <vector>

namespace trainyard {
namespace fs = std::filesystem;

namespace {

// A file beside it with nearly its name.
std::string near_file(const fs::path& path)
{
    std::vector<std::string> names;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(
             path.has_parent_path() ? path.parent_path() : fs::path("."), ignored))
        if (entry.path().extension() == path.extension() && entry.is_regular_file(ignored))
            names.push_back(entry.path().stem().string());
    const std::string near = did_you_mean(path.stem().string(), names);
    return near.empty() ? near
                        : (path.parent_path() / near).replace_extension(path.extension()).string();
}

[[noreturn]] void fail(const fs::path& path, std::string_view doing, int error)
{
    std::string why = std::strerror(error);
    std::error_code ignored;
    if (error == ENOENT && path.has_parent_path() && !fs::exists(path.parent_path(), ignored))
        why = fmt::format("there is no folder {}", path.parent_path().string());
    else if (error == ENOENT && doing == "read")
        if (const std::string near = near_file(path); !near.empty())
            why += fmt::format("; did you mean {}?", near);
    throw WorldError{fmt::format("cannot {} {}: {}", doing, path.string(), why)};
}

// An open file that closes itself.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (number_ >= 0)
            ::close(number_);
    }

    int number() const { return number_; }
    void reset(int number) { number_ = number; }
    // Closes now; false when what was written could not be kept.
    bool close() { return ::close(std::exchange(number_, -1)) == 0; }

private:
    int number_ = -1;
};

void write_all(const Descriptor& file, std::string_view content, const fs::path& target)
{
    while (!content.empty()) {
        const ssize_t written = ::write(file.number(), content.data(), content.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail(target, "write", errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
}

constexpr int for_a_writer = 10'000; // milliseconds

// Whether somebody has the pipe open to write to it, who may be slow; what was there goes to
// `content`.
bool has_writer(const Descriptor& pipe, std::string& content)
{
    char first = 0;
    const ssize_t got = ::read(pipe.number(), &first, 1);
    if (got > 0)
        content.push_back(first);
    return got > 0 || (got < 0 && errno == EAGAIN);
}

// A named pipe is waited for until somebody writes to it, but not for ever: the open itself would
// wait without a word.
std::string wait_for_writer(const Descriptor& pipe, const fs::path& path)
{
    std::string content;
    pollfd writer{pipe.number(), POLLIN, 0}; // not hung up before there was one
    int ready = 0;
    while ((ready = ::poll(&writer, 1, for_a_writer)) < 0 && errno == EINTR) {
    }
    if (ready == 0 && !has_writer(pipe, content))
        throw WorldError{fmt::format("cannot read {}: nobody has opened this pipe to write to it "
                                     "within {} s",
                                     path.string(), for_a_writer / 1000)};
    return content;
}

mode_t creation_mask()
{
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mask;
}

// Beside the target; one that no other process of any machine uses.
std::string temporary_name(const fs::path& target)
{
    std::random_device entropy;
    return (target.parent_path() /
            fmt::format(".{:.200}.{:08x}{:08x}", target.filename().string(), entropy(), entropy()))
        .string();
}

// A file without a name (where the file system has such; else with a temporary one), which vanishes
// unless it is put in place, under the name of its target.
class PendingFile {
public:
    explicit PendingFile(const fs::path& target)
        : target_(target), aside_(temporary_name(target)), file_(-1)
    {
        const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
        file_.reset(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
        if (file_.number() >= 0)
            return;
        file_.reset(::open(aside_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
        if (file_.number() < 0)
            fail(target, "write", errno);
        named_ = true;
    }
    PendingFile(const PendingFile&) = delete;
    PendingFile& operator=(const PendingFile&) = delete;
    ~PendingFile()
    {
        if (named_)
            ::unlink(aside_.c_str());
    }

    const Descriptor& file() const { return file_; }

    // Under a name of its own beside the target, flushed: only the renaming is left.
    void complete()
    {
        if (::fchmod(file_.number(), 0666 & ~creation_mask()) != 0 || ::fsync(file_.number()) != 0)
            fail(target_, "write", errno);
        if (!named_) {
            const std::string unnamed = fmt::format("/proc/self/fd/{}", file_.number());
            if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, aside_.c_str(), AT_SYMLINK_FOLLOW) !=
                0)
                fail(target_, "write", errno);
            named_ = true;
        }
        if (!file_.close())
            fail(target_, "write", errno);
    }

    // Requires that it is complete.
    void put_in_place()
    {
        if (::rename(aside_.c_str(), target_.c_str()) != 0)
            fail(target_, "write", errno);
        named_ = false;
    }

private:
    fs::path target_;
    std::string aside_;
    Descriptor file_;
    bool named_ = false; // aside_ exists
};

// The file that a name leads to, through symbolic links.
fs::path behind_links(const fs::path& path)
{
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? path : real;
}

// Devices, pipes and what the shell opened for us: there is no whole file to put in place.
bool is_stream(const fs::path& path)
{
    std::error_code ignored;
    return path.native().starts_with("/dev/") || path.native().starts_with("/proc/") ||
           (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored));
}

void write_stream(const fs::path& path, std::string_view content)
{
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.number() < 0)
        fail(path, "write", errno);
    write_all(file, content, path);
    if (!file.close())
        fail(path, "write", errno);
}

struct DeflateStream {
    z_stream state = {};
    DeflateStream()
    {
        constexpr int gzip_window = 15 + 16; // zlib: 16 more asks for the gzip wrapper
        constexpr int memory_level = 8;      // zlib's default
        constexpr int level = 8;             // traces: 2/3 of the fastest's size at 120 MB/s
        if (deflateInit2(&state, level, Z_DEFLATED, gzip_window, memory_level,
                         Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    DeflateStream(const DeflateStream&) = delete;
    DeflateStream& operator=(const DeflateStream&) = delete;
    ~DeflateStream() { deflateEnd(&state); }
};

} // namespace

std::string read_file(const fs::path& path, std::size_t max_bytes)
{
    std::optional<std::string> content = read_file_up_to(path, max_bytes);
    if (!content)
        throw WorldError{
            fmt::format("cannot read {}: larger than {} MiB", path.string(), max_bytes >> 20)};
    return std::move(*content);
}

std::optional<std::string> read_file_up_to(const fs::path& path, std::size_t max_bytes)
{
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat info = {};
    if (file.number() < 0 || ::fstat(file.number(), &info) != 0)
        fail(path, "read", errno);
    std::string content;
    if (S_ISFIFO(info.st_mode))
        content = wait_for_writer(file, path);
    if (::fcntl(file.number(), F_SETFL, 0) != 0)
        fail(path, "read", errno);
    std::size_t piece = 1U << 18;
    if (S_ISREG(info.st_mode)) {
        const auto size = static_cast<std::size_t>(info.st_size);
        if (size > max_bytes)
            return std::nullopt;
        content.reserve(size);
        piece = std::min(piece, size + 1); // one more shows that nothing follows
    }
    std::vector<char> buffer(piece);
    while (true) {
        const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail(path, "read", errno);
        if (got == 0)
            return content;
        content.append(buffer.data(), static_cast<std::size_t>(got));
        if (content.size() > max_bytes)
            return std::nullopt;
    }
}

void write_file(const fs::path& path, std::string_view content)
{
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        fail(path, "write", EISDIR);
    if (is_stream(path))
        return write_stream(path, content);
    PendingFile pending(behind_links(path));
    write_all(pending.file(), content, path);
    pending.complete();
    pending.put_in_place();
}

// One of the two: a file to put in place, or what is written to as it is.
struct FileInParts::State {
    explicit State(const fs::path& named) : path(named)
    {
        std::error_code ignored;
        if (fs::is_directory(path, ignored))
            fail(path, "write", EISDIR);
        if (!is_stream(path)) {
            pending.emplace(behind_links(path));
            return;
        }
        stream.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        if (stream.number() < 0)
            fail(path, "write", errno);
    }

    fs::path path;
    std::optional<PendingFile> pending;
    Descriptor stream{-1};
    std::string buffer;

    void flush()
    {
        write_all(pending ? pending->file() : stream, buffer, path);
        buffer.clear();
    }
};

FileInParts::FileInParts(const fs::path& path) : state_(std::make_unique<State>(path)) {}
FileInParts::~FileInParts() = default;

void FileInParts::append(std::string_view content)
{
    constexpr std::size_t part = 1U << 16;
    state_->buffer += content;
    if (state_->buffer.size() >= part)
        state_->flush();
}

void FileInParts::publish()
{
    state_->flush();
    if (state_->pending) {
        state_->pending->complete();
        state_->pending->put_in_place();
    } else if (!state_->stream.close())
        fail(state_->path, "write", errno);
}

namespace {

// A folder under a name of its own beside its target, which vanishes unless it is put in place.
class PendingFolder {
public:
    PendingFolder(const fs::path& target, const std::vector<FilesTogether::Named>& files)
        : target_(behind_links(target.has_filename() ? target : target.parent_path())),
          aside_(temporary_name(target_))
    {
        if (::mkdir(aside_.c_str(), 0777) != 0)
            fail(target_, "make", errno);
        try {
            for (const FilesTogether::Named& file : files)
                write_file(fs::path(aside_) / file.name, file.content);
        } catch (...) {
            remove();
            throw;
        }
    }
    PendingFolder(const PendingFolder&) = delete;
    PendingFolder& operator=(const PendingFolder&) = delete;
    ~PendingFolder()
    {
        if (!placed_)
            remove();
    }

    void put_in_place()
    {
        if (::rename(aside_.c_str(), target_.c_str()) != 0)
            fail(target_, "make", errno);
        placed_ = true;
    }

private:
    void remove()
    {
        std::error_code ignored;
        fs::remove_all(aside_, ignored);
    }

    fs::path target_;
    std::string aside_;
    bool placed_ = false;
};

} // namespace

struct FilesTogether::State {
    std::vector<std::unique_ptr<PendingFile>> files;
    std::vector<std::unique_ptr<PendingFolder>> folders;
    std::vector<std::pair<fs::path, std::string>> streams; // what is written to as it is
};

FilesTogether::FilesTogether() : state_(std::make_unique<State>()) {}
FilesTogether::~FilesTogether() = default;

void FilesTogether::add(const fs::path& path, std::string_view content)
{
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        fail(path, "write", EISDIR);
    if (is_stream(path)) {
        state_->streams.emplace_back(path, content);
        return;
    }
    auto file = std::make_unique<PendingFile>(behind_links(path));
    write_all(file->file(), content, path);
    file->complete();
    state_->files.push_back(std::move(file));
}

void FilesTogether::add_folder(const fs::path& folder, const std::vector<Named>& files)
{
    state_->folders.push_back(std::make_unique<PendingFolder>(folder, files));
}

void FilesTogether::publish()
{
    for (const auto& [path, content] : state_->streams) // may be full
        write_stream(path, content);
    for (const std::unique_ptr<PendingFolder>& folder : state_->folders)
        folder->put_in_place();
    for (const std::unique_ptr<PendingFile>& file : state_->files)
        file->put_in_place();
}

void require_writable(const fs::path& path)
{
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        fail(path, "write", EISDIR);
    if (is_stream(path)) {
        if (::access(path.c_str(), W_OK) != 0)
            fail(path, "write", errno);
        return;
    }
    const PendingFile vanishes(behind_links(path));
}

void write_file_gzip(const fs::path& path, std::string_view content)
{
    constexpr std::size_t slice = 1U << 20; // zlib counts in 32 bits
    DeflateStream stream;
    std::string packed;
    std::string buffer(slice, '\0');
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        if (stream.state.avail_in == 0) {
            const std::string_view next = content.substr(0, slice);
            content.remove_prefix(next.size());
            stream.state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next.data()));
            stream.state.avail_in = static_cast<uInt>(next.size());
        }
        stream.state.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.state.avail_out = static_cast<uInt>(buffer.size());
        status = deflate(&stream.state, content.empty() ? Z_FINISH : Z_NO_FLUSH);
        packed.append(buffer.data(), buffer.size() - stream.state.avail_out);
    }
    write_file(path, packed);
}

std::uint64_t content_hash(std::string_view content)
{
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : content) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3ULL;
    }
    return hash;
}

} // namespace trainyard
