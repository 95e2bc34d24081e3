#include "sim/base/inflated_file.h"

#include "sim/base/diagnostic.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace trainyard {

struct InflatedFile::State {
    std::string name;
    gzFile file = nullptr;
    std::uint64_t size = 0;
    ~State()
    {
        if (file != nullptr)
            gzclose_r(file);
    }
};

InflatedFile::InflatedFile(const std::filesystem::path& path) : state_(std::make_unique<State>())
{
    constexpr unsigned buffer = 1U << 17;
    state_->name = path.string();
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw WorldError{fmt::format("cannot read {}: {}", state_->name, std::strerror(EISDIR))};
    errno = 0;
    state_->file = gzopen(path.c_str(), "rb");
    if (state_->file == nullptr)
        throw WorldError{fmt::format("cannot read {}: {}", state_->name,
                                     std::strerror(errno == 0 ? ENOMEM : errno))};
    gzbuffer(state_->file, buffer);
    if (std::filesystem::is_regular_file(path, ignored))
        state_->size = std::filesystem::file_size(path, ignored);
    if (ignored)
        state_->size = 0;
}

InflatedFile::~InflatedFile() = default;

std::uint64_t InflatedFile::taken() const
{
    const z_off_t at = gzoffset(state_->file);
    return at > 0 ? static_cast<std::uint64_t>(at) : 0;
}

std::uint64_t InflatedFile::size() const
{
    return state_->size;
}

std::size_t InflatedFile::read(std::span<char> piece)
{
    constexpr std::size_t most = std::numeric_limits<int>::max();
    if (!damage_.empty())
        return 0;
    const int got =
        gzread(state_->file, piece.data(), static_cast<unsigned>(std::min(piece.size(), most)));
    int error = Z_OK;
    gzerror(state_->file, &error);
    if (error == Z_ERRNO)
        throw WorldError{fmt::format("cannot read {}: {}", state_->name, std::strerror(errno))};
    if (error == Z_BUF_ERROR)
        damage_ = "the compressed data end too early (cut?)";
    else if (error != Z_OK && error != Z_STREAM_END)
        damage_ = "the compressed data are damaged";
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

} // namespace trainyard
