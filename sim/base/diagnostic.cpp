#include "sim/base/diagnostic.h"

#include "sim/base/utf8.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace trainyard {
namespace {

constexpr std::size_t widest_quoted_line = 160;
constexpr std::size_t longest_sentence = 400;
constexpr std::size_t most_rendered = 50; // of each severity

// At most `longest` bytes of a text from outside, on one line, and without what would drive a
// terminal or is no UTF-8.
std::string printable(std::string_view text, std::size_t longest)
{
    std::string out;
    while (!text.empty() && out.size() < longest) {
        const bool tab = text.front() == '\t';
        text.remove_prefix(tab ? append_printable(out, " ") : append_printable(out, text));
    }
    return text.empty() ? out : out + " ...";
}

// Lines of files that are read again to be quoted.
class Quotes {
public:
    // Line `number` of the file, or empty when it cannot be read again.
    std::string line(const std::string& file, int number)
    {
        if (file != file_ || number < next_)
            open(file);
        std::string text;
        while (next_ <= number && std::getline(in_, text))
            ++next_;
        if (!text.empty() && text.back() == '\r')
            text.pop_back();
        return next_ > number ? text : std::string();
    }

private:
    void open(const std::string& file)
    {
        file_ = file;
        next_ = 1;
        in_ = std::ifstream();
        std::error_code ignored; // a pipe cannot be read twice
        if (std::filesystem::is_regular_file(file, ignored))
            in_.open(file);
        if (in_.peek() == gzip_begins) // its lines are those of what it packs
            in_.setstate(std::ios::failbit);
    }

    static constexpr int gzip_begins = 0x1f;

    std::string file_;
    std::ifstream in_;
    int next_ = 1; // the line that the stream stands at
};

std::string render(const Diagnostic& problem, Quotes& quotes)
{
    std::string text;
    if (!problem.file.empty())
        text += printable(problem.file, longest_sentence) +
                (problem.line > 0 ? fmt::format(":{}: ", problem.line) : ": ");
    text += problem.severity == Severity::error ? "error: " : "warning: ";
    text += printable(problem.message, longest_sentence);
    if (!problem.pointer.empty())
        text += " at " + printable(problem.pointer, longest_sentence);
    text += '\n';
    if (!problem.file.empty() && problem.line > 0)
        if (const std::string quoted = quotes.line(problem.file, problem.line); !quoted.empty())
            text +=
                fmt::format("{:>5} | {}\n", problem.line, printable(quoted, widest_quoted_line));
    if (!problem.hint.empty())
        text += fmt::format("      {}\n", printable(problem.hint, 4 * longest_sentence));
    return text;
}

} // namespace

bool has_errors(std::span<const Diagnostic> problems)
{
    return std::any_of(problems.begin(), problems.end(),
                       [](const Diagnostic& p) { return p.severity == Severity::error; });
}

std::string render(const Diagnostic& problem)
{
    Quotes quotes;
    return render(problem, quotes);
}

std::string render(std::span<const Diagnostic> problems, std::string_view closing)
{
    std::string text;
    Quotes quotes;
    std::size_t errors = 0;
    std::size_t warnings = 0;
    for (const Diagnostic& problem : problems)
        if (++(problem.severity == Severity::error ? errors : warnings) <= most_rendered)
            text += render(problem, quotes);
    if (warnings > most_rendered)
        text += fmt::format("... and {} more warnings\n", warnings - most_rendered);
    if (errors > most_rendered)
        text += fmt::format("... and {} more errors\n", errors - most_rendered);
    if (errors > 0)
        text += fmt::format("{} {}; {}\n", errors, errors == 1 ? "problem" : "problems", closing);
    return text;
}

} // namespace trainyard
