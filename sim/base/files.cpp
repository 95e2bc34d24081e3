#include "sim/base/files.h"

#include "sim/base/diagnostic.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace trainyard {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, std::string_view doing, int error)
{
    throw WorldError{fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(error))};
}

// A file descriptor and a temporary name that vanish unless `publish` was reached.
class PendingFile {
public:
    explicit PendingFile(const fs::path& target) : target_(target)
    {
        std::string name =
            (target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string();
        descriptor_ = ::mkstemp(name.data());
        if (descriptor_ < 0)
            fail(target, "write", errno);
        aside_ = name;
    }
    PendingFile(const PendingFile&) = delete;
    PendingFile& operator=(const PendingFile&) = delete;
    ~PendingFile()
    {
        if (descriptor_ >= 0)
            ::close(descriptor_);
        if (!aside_.empty())
            ::unlink(aside_.c_str());
    }

    void write(std::string_view content)
    {
        while (!content.empty()) {
            const ssize_t written = ::write(descriptor_, content.data(), content.size());
            if (written < 0 && errno == EINTR)
                continue;
            if (written < 0)
                fail(target_, "write", errno);
            content.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void publish()
    {
        const mode_t mask = ::umask(0);
        ::umask(mask);
        if (::fchmod(descriptor_, 0666 & ~mask) != 0 || ::fsync(descriptor_) != 0)
            fail(target_, "write", errno);
        const int closing = descriptor_;
        descriptor_ = -1;
        if (::close(closing) != 0 || ::rename(aside_.c_str(), target_.c_str()) != 0)
            fail(target_, "write", errno);
        aside_.clear();
    }

private:
    fs::path target_;
    std::string aside_;
    int descriptor_ = -1;
};

} // namespace

std::string read_file(const fs::path& path, std::size_t max_bytes)
{
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        fail(path, "read", errno);
    if (S_ISDIR(info.st_mode))
        fail(path, "read", EISDIR);
    std::ifstream in(path, std::ios::binary);
    if (!in)
        fail(path, "read", errno);
    std::string content;
    char buffer[1 << 16];
    while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
        content.append(buffer, static_cast<std::size_t>(in.gcount()));
        if (content.size() > max_bytes)
            throw WorldError{
                fmt::format("cannot read {}: larger than {} MiB", path.string(), max_bytes >> 20)};
    }
    if (in.bad())
        fail(path, "read", errno);
    return content;
}

void write_file(const fs::path& path, std::string_view content)
{
    if (fs::is_directory(path))
        fail(path, "write", EISDIR);
    PendingFile file(path);
    file.write(content);
    file.publish();
}

void write_file_gzip(const fs::path& path, std::string_view content)
{
    z_stream stream = {};
    constexpr int gzip_window = 15 + 16; // zlib: 16 more asks for the gzip wrapper
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw WorldError{fmt::format("cannot write {}: compression did not start", path.string())};
    std::string packed(deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int status = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (status != Z_STREAM_END)
        throw WorldError{fmt::format("cannot write {}: compression failed", path.string())};
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
