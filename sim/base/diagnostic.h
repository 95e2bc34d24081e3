#pragma once

// What is wrong with a user's input: collected, located, with a way out. Never thrown.

#include <tl/expected.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

enum class Severity { error, warning };

struct Diagnostic {
    std::string file;    // as the user named it; empty when the input is not a file
    int line = 0;        // 1-based; 0 when unknown
    std::string pointer; // RFC 6901 JSON pointer, e.g. "/links/nvlink"; empty for the whole file
    std::string message;
    std::string hint; // how to mend it; may be empty
    Severity severity = Severity::error;

    bool operator==(const Diagnostic&) const = default;
};

using Problems = std::vector<Diagnostic>;

// A value, or every problem that kept it from being built.
template <class T>
using Checked = tl::expected<T, Problems>;

// A value that an error in a file (or an argument: "--set x") keeps from being built.
inline tl::unexpected<Problems> rejected(std::string file, std::string message,
                                         std::string hint = {}, int line = 0)
{
    return tl::unexpected(Problems{
        {std::move(file), line, "", std::move(message), std::move(hint), Severity::error}});
}

bool has_errors(std::span<const Diagnostic> problems);

// One diagnostic as text: "cluster.json:14: error: ...", the source line where the file can be read
// again, and the hint. Ends with a newline.
std::string render(const Diagnostic& problem);

// All of them (of each severity the first 50), errors and warnings in the order found, and a
// closing count ("2 problems; nothing was run."). Control characters of the input are escaped and
// endless texts are cut.
std::string render(std::span<const Diagnostic> problems, std::string_view closing);

// The candidate nearest to `word` (Damerau-Levenshtein, at most a third of its length), or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// `did_you_mean` as a hint sentence: "did you mean "bandwidth"?", else "one of: a, b, c".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

// The world failed (disk, permission, driver): thrown, caught once in main or a task runner.
struct WorldError {
    std::string message; // names the file or device and what the system said
};

} // namespace trainyard
