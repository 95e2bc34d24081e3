// Files that a script reads as parts of itself, and those that it writes for others to read.

#include "sim/study/jobs/shell/shell_interpreter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

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

bool starts_scripts(std::string_view command)
{
    constexpr std::array<std::string_view, 8> names{"bash", "sh",    "sbatch", "srun",
                                                    "exec", "nohup", "env",    "time"};
    return std::ranges::find(names, command) != names.end();
}

bool is_script_name(std::string_view word)
{
    constexpr std::array<std::string_view, 4> endings{".sh", ".bash", ".slurm", ".sbatch"};
    return !word.starts_with('-') && std::ranges::any_of(endings, [&](std::string_view ending) {
        return word.ends_with(ending);
    });
}

} // namespace

// A file that the script writes from a here-document is there for what names it; one that a shell
// or Slurm is given is a script of its own.
bool ShellInterpreter::read_document(const std::string& name, std::size_t at)
{
    if (here_document_ == nullptr)
        return false;
    const bool shell = name == "bash" || name == "sh" || name == "sbatch";
    const std::string text = expander_.text(here_document_->pieces).text;
    const std::string path = name != "tee" ? written_to_
                             : at + 1 < command_.size()
                                 ? expander_.text(command_.back()->pieces).text
                                 : std::string();
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

// Another script that a command starts: "bash train.sh 7b", "sbatch -N 4 job.slurm", and the text
// of sbatch's --wrap.
bool ShellInterpreter::run_other_script(std::size_t at,
                                        const std::map<std::string, TracedText>& assigned)
{
    const std::string command = command_[at]->plain();
    const bool starts = starts_scripts(command);
    if (depth_ >= deepest_file ||
        (!starts && !is_script_name(command) && !out_.files.contains(command)))
        return false;
    std::vector<TracedText> words;
    for (std::size_t i = at; i < command_.size(); ++i)
        for (TracedText& word : expander_.words(*command_[i]))
            words.push_back(std::move(word));
    constexpr std::string_view wrap = "--wrap=";
    for (std::size_t i = 0; i < words.size() && (starts || i == 0); ++i) {
        const std::string& word = words[i].text;
        std::optional<std::string> text;
        if (i > 0 && word.starts_with(wrap))
            text = word.substr(wrap.size());
        else if (const auto written = out_.files.find(word); written != out_.files.end())
            text = written->second;
        else if (is_script_name(word))
            text = files_ ? files_(without_unknown_folder(word)) : std::nullopt;
        else
            continue;
        if (!text)
            return false;
        if (is_script_name(word))
            out_.assumed.push_back(fmt::format(
                "line {}: the script {} runs, whose lines count as this one", line_, word));
        TracedText options; // of Slurm
        for (std::size_t k = 1; k < i; ++k) {
            options.append(k > 1 ? " " : "", line_);
            options.append(words[k]);
        }
        if (!options.text.empty())
            out_.directives.insert(out_.directives.begin(), std::move(options));
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        run_apart(*text, std::move(words), assigned);
        return true;
    }
    return false;
}

// In a shell of its own, which has what is exported to it and leaves the variables as they were.
void ShellInterpreter::run_apart(const std::string& text, std::vector<TracedText> parameters,
                                 const std::map<std::string, TracedText>& assigned)
{
    ShellVariables before = out_.variables;
    std::erase_if(out_.variables, [&](const auto& variable) {
        const std::vector<TracedText>& values = variable.second.values;
        const bool given = !values.empty() && values.front().line() == 0; // to the script itself
        return !given && !variable.first.starts_with("SLURM") && !variable.second.exported;
    });
    for (const auto& [name, value] : assigned)
        out_.variables[name].values = {value};
    set_parameters(std::move(parameters));
    read_inner_script(text);
    std::erase_if(out_.variables, [](const auto& variable) {
        return variable.first.find_first_not_of("0123456789#@") == std::string::npos;
    });
    before.merge(out_.variables); // those that only it has stay known
    out_.variables = std::move(before);
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
