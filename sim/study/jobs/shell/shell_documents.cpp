// Files that a script reads as parts of itself, and those that it writes for others to read.

#include "sim/study/jobs/shell/shell_interpreter.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr int deepest_file = 8;

// "$(dirname $0)/env.sh" without the folder that is not known: files are looked for from the
// script's folder up.
std::string without_unknown_folder(const std::string& path)
{
    const std::size_t last = path.find_last_of(")}");
    return has_unknown(path) && last != std::string::npos && path.substr(last + 1).starts_with('/')
               ? path.substr(last + 2)
               : path;
}

} // namespace

// A file that the script writes from a here-document is there for what names it; one that a shell
// or Slurm is given is a script of its own.
bool ShellInterpreter::read_document(const std::string& name, std::size_t at)
{
    const auto argument = [&] {
        return at + 1 < command_.size() ? expander_.text(command_.back()->pieces).text
                                        : std::string();
    };
    const bool shell = name == "bash" || name == "sh" || name == "sbatch";
    if (here_document_ == nullptr) {
        const auto file = shell ? out_.files.find(argument()) : out_.files.end();
        if (file == out_.files.end() || depth_ >= deepest_file)
            return false;
        read_inner_script(file->second);
        return true;
    }
    const std::string text = expander_.text(here_document_->pieces).text;
    const std::string path = name == "tee" ? argument() : written_to_;
    if ((name == "cat" || name == "tee") && !path.empty())
        out_.files[path] = text;
    else if (shell && depth_ < deepest_file)
        read_inner_script(text);
    else {
        out_.skipped.push_back(fmt::format("line {}: a here-document was not read", line_));
        return false;
    }
    status_ = true;
    return true;
}

// Its lines count as the one that starts it.
void ShellInterpreter::read_inner_script(const std::string& text)
{
    const int line = line_;
    other_files_.push_back(shell_tokens({text, std::vector<int>(text.size(), line)}));
    const ShellTokens& inner = other_files_.back();
    out_.directives.insert(out_.directives.end(), inner.directives.begin(), inner.directives.end());
    define_slurm_variables(out_);
    command_.clear();
    here_document_ = nullptr;
    walk(inner.tokens, 0, inner.tokens.size());
    line_ = line;
    status_ = true;
}

// A file that the script reads as part of itself; its lines count as the one that names it.
void ShellInterpreter::read_other_file(std::size_t at)
{
    const std::string path =
        at < command_.size() ? expander_.text(command_[at]->pieces).text : std::string();
    const std::string known = without_unknown_folder(path);
    const int line = line_;
    std::optional<std::string> text;
    if (!known.empty() && !has_unknown(known) && files_ && depth_ < deepest_file)
        text = files_(known);
    if (!text) {
        out_.skipped.push_back(
            fmt::format("line {}: {} was not read, which may set variables", line, path));
        status_ = true;
        return;
    }
    read_inner_script(*text);
}

} // namespace trainyard
