#pragma once

// The bytes of a file in pieces, unpacked where gzip packed it: for files that memory need not
// hold.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace trainyard {

class InflatedFile {
public:
    // Throws WorldError when it is missing, a directory or unreadable.
    explicit InflatedFile(const std::filesystem::path& path);
    ~InflatedFile();
    InflatedFile(const InflatedFile&) = delete;
    InflatedFile& operator=(const InflatedFile&) = delete;

    // Fills `piece` from its beginning; returns how many bytes there are: 0 at the end, or where
    // the packed data are damaged or cut.
    std::size_t read(std::span<char> piece);

    // Bytes of the file itself: read so far, and in all. 0 where nobody knows, as of a pipe.
    std::uint64_t taken() const;
    std::uint64_t size() const;

    // Why the packed data end before their end; empty: they do not.
    const std::string& damage() const { return damage_; }

private:
    struct State;
    std::unique_ptr<State> state_;
    std::string damage_;
};

} // namespace trainyard
