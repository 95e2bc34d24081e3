#pragma once

// Files read at once and written whole or not at all.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// The bytes of a file. Throws WorldError when it is missing, a directory, unreadable, or above
// `max_bytes`.
std::string read_file(const std::filesystem::path& path,
                      std::size_t max_bytes = std::size_t{1} << 30);

// The same; nothing for a file above `max_bytes`, of which no more than that is read.
std::optional<std::string> read_file_up_to(const std::filesystem::path& path,
                                           std::size_t max_bytes);

// Writes aside in the same folder, flushes, then renames: a reader sees the old file or the new
// one. Symbolic links are followed; a device or a pipe (/dev/stdout) is written to as it is. Throws
// WorldError and leaves nothing behind on failure. Where files have a size limit, SIGXFSZ must be
// ignored for that failure to be reported.
void write_file(const std::filesystem::path& path, std::string_view content);

// A file written in parts, for what need not be held in memory: `publish` puts it in place; without
// it nothing appears. Otherwise as write_file.
class FileInParts {
public:
    explicit FileInParts(const std::filesystem::path& path);
    ~FileInParts();
    FileInParts(const FileInParts&) = delete;
    FileInParts& operator=(const FileInParts&) = delete;

    void append(std::string_view content);
    void publish(); // once, at the end

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Files that appear together: `add` writes each aside, `publish` puts them in place, in which
// nothing is left to fail but the renaming itself. Without it nothing appears.
class FilesTogether {
public:
    struct Named {
        std::string name;
        std::string content;
    };

    FilesTogether();
    ~FilesTogether();
    FilesTogether(const FilesTogether&) = delete;
    FilesTogether& operator=(const FilesTogether&) = delete;

    void add(const std::filesystem::path& path, std::string_view content); // as write_file does
    // A folder that does not exist yet, with these files.
    void add_folder(const std::filesystem::path& folder, const std::vector<Named>& files);
    void publish(); // once, at the end

private:
    struct State;
    std::unique_ptr<State> state_;
};

// write_file with gzip compression (for names ending in .gz).
void write_file_gzip(const std::filesystem::path& path, std::string_view content);

// Throws what write_file would throw for want of a folder, a name or the right to write; leaves
// everything as it is. For work that should not be done in vain.
void require_writable(const std::filesystem::path& path);

// FNV-1a 64-bit: the hash of inputs named in outputs. Not for security.
std::uint64_t content_hash(std::string_view content);

} // namespace trainyard
