// Files that a script reads as parts of itself, and those that it writes for others to read.

#include "sim/base/words.h"
#include "sim/study/jobs/shell/launch_command.h"
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
    constexpr std::string_view names = "bash sh sbatch srun exec nohup env time";
    return has_word(names, command);
}

bool is_script_name(std::string_view word)
{
    constexpr std::array<std::string_view, 4> endings{".sh", ".bash", ".slurm", ".sbatch"};
    return !word.starts_with('-') && std::ranges::any_of(endings, [&](std::string_view ending) {
        return word.ends_with(ending);
    });
}

constexpr std::string_view wrap_option = "--wrap=";

// Where the words of a command name the script that it starts, or hold it: behind what starts
// scripts, options and assignments. The number of words where a program stands there.
std::size_t place_of_script(const std::vector<TracedText>& words)
{
    std::optional<LauncherOptions> options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (word.starts_with(wrap_option))
            return i;
        if (starts_scripts(word))
            options = launcher_options(word);
        else if (word.starts_with('-'))
            i += options && word.find('=') == std::string::npos &&
                         meaning_of(*options, word) != LauncherMeaning::none
                     ? 1
                     : 0;
        else if (assigned_name(word) == 0)
            return i;
    }
    return words.size();
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
    if (depth_ >= deepest_file ||
        (!starts_scripts(command) && !is_script_name(command) && !out_.files.contains(command)))
        return false;
    std::vector<TracedText> words;
    for (std::size_t i = at; i < command_.size(); ++i)
        for (TracedText& word : expander_.words(*command_[i]))
            words.push_back(std::move(word));
    const std::size_t place = place_of_script(words);
    if (place == words.size())
        return false;
    const std::string& word = words[place].text;
    std::optional<std::string> text;
    if (word.starts_with(wrap_option))
        text = word.substr(wrap_option.size());
    else if (const auto written = out_.files.find(word); written != out_.files.end())
        text = written->second;
    else if (is_script_name(word) && files_)
        text = files_(without_unknown_folder(word));
    if (!text)
        return false;
    if (is_script_name(word))
        out_.assumed.push_back(
            fmt::format("line {}: the script {} runs, whose lines count as this one", line_, word));
    std::map<std::string, TracedText> given = assigned;
    TracedText options; // of Slurm
    const auto give = [&](const TracedText& whole, std::string_view part) {
        const std::size_t name = assigned_name(std::string(part));
        if (name > 0)
            given[std::string(part.substr(0, name))] =
                whole.part(static_cast<std::size_t>(part.data() - whole.text.data()) + name + 1);
        return name > 0;
    };
    constexpr std::string_view exported = "--export=";
    for (std::size_t k = 1; k < place; ++k) {
        if (give(words[k], words[k].text)) // env's
            continue;
        if (words[k].text.starts_with(exported))
            for (const std::string_view part :
                 split(std::string_view(words[k].text).substr(exported.size()), ','))
                give(words[k], part);
        options.append(options.text.empty() ? "" : " ", line_);
        options.append(words[k]);
    }
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    // What Slurm is asked for here is the job's where the job is started here.
    const std::vector<TracedText> before = out_.directives;
    const std::size_t commands = out_.commands.size();
    if (!options.text.empty())
        out_.directives.insert(out_.directives.begin(), std::move(options));
    run_apart(*text, std::move(words), given);
    if (std::none_of(out_.commands.begin() + static_cast<std::ptrdiff_t>(commands),
                     out_.commands.end(),
                     [](const ShellCommand& one) { return launch_of(one.words).has_value(); }))
        out_.directives = before;
    return true;
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
