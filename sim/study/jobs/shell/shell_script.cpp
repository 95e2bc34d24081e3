#include "sim/study/jobs/shell/shell_script.h"

#include "sim/study/jobs/shell/shell_interpreter.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::string_view script_name(std::string_view path)
{
    return path.substr(path.find_last_of('/') + 1);
}

// "# bash run.sh 7B 2": what stands behind the script's own name, where all of it is meant as it
// stands: no <places>, no $VARIABLES, no options.
std::vector<TracedText> shown_arguments(const TracedText& comment, const std::string& file)
{
    std::vector<TracedText> out;
    bool called = false;
    for (const ShellToken& token : shell_tokens(comment).tokens) {
        const std::string plain = token.plain();
        if (called && (plain.empty() || plain.find_first_of("[{-<") == 0))
            return {};
        if (called)
            out.push_back(token.pieces.front().text);
        called = called || script_name(plain) == script_name(file);
    }
    return out;
}

// The arguments of the first call of itself that a comment of the script shows.
std::vector<TracedText> shown_arguments_in(const TracedText& text, const std::string& file)
{
    for (std::size_t from = 0; from < text.text.size();) {
        const std::size_t end = std::min(text.text.find('\n', from), text.text.size());
        const std::size_t mark = text.text.find_first_not_of(" \t#", from);
        const bool comment = text.text[from] == '#' && mark < end;
        if (comment && text.text.find(script_name(file), mark) < end)
            if (auto words = shown_arguments(text.part(mark, end - mark), file); !words.empty())
                return words;
        from = end + 1;
    }
    return {};
}

} // namespace

void define_slurm_variables(ShellScript& script)
{
    // The first says it, as where a launch takes its sizes from them.
    for (auto it = script.directives.rbegin(); it != script.directives.rend(); ++it) {
        const TracedText& directive = *it;
        std::string text = directive.text;
        std::replace(text.begin(), text.end(), '=', ' ');
        const ShellTokens words = shell_tokens(traced(text, directive.line()));
        for (std::size_t i = 0; i + 1 < words.tokens.size(); ++i) {
            const std::string name = words.tokens[i].plain();
            std::string value = words.tokens[i + 1].plain();
            const auto define = [&](std::string_view variable) {
                TracedText traced_value;
                traced_value.append(value, directive.line());
                script.variables[std::string(variable)].values = {std::move(traced_value)};
            };
            if (name == "-N" || name == "--nodes") {
                define("SLURM_NNODES");
                define("SLURM_JOB_NUM_NODES");
            } else if (name == "-n" || name == "--ntasks")
                define("SLURM_NTASKS");
            else if (name == "--ntasks-per-node")
                define("SLURM_NTASKS_PER_NODE");
            else if (name == "--gpus-per-node") {
                define("SLURM_GPUS_PER_NODE");
                value = value.substr(value.rfind(':') + 1); // "h100:8"
                define("SLURM_GPUS_ON_NODE");
            } else if (name == "--gres" && value.starts_with("gpu:")) {
                value = value.substr(value.rfind(':') + 1);
                define("SLURM_GPUS_ON_NODE");
            } else if (name == "--cpus-per-task" || name == "-c")
                define("SLURM_CPUS_PER_TASK");
        }
    }
}

namespace {

enum class Doubtful { left_out, taken };

// What a script is read with.
struct Surroundings {
    const std::string& file;
    const ShellFiles& files;
    std::vector<TracedText> parameters;
    Doubtful doubtful = Doubtful::left_out;
};

// Runs what was cut into tokens; what it starts with is in `out` already.
Checked<ShellScript> read_tokens(const ShellTokens& tokens, ShellScript out, Surroundings around)
{
    ShellInterpreter interpreter(out, around.files);
    if (!around.parameters.empty())
        interpreter.set_parameters(std::move(around.parameters));
    if (around.doubtful == Doubtful::taken)
        interpreter.take_doubtful();
    interpreter.run(tokens.tokens);
    out.too_deep = tokens.too_deep > 0 ? tokens.too_deep : interpreter.too_deep();
    for (const auto& [name, variable] : out.variables)
        if (variable.exported && !variable.values.empty())
            out.exported[name] = variable.values.front();
    if (interpreter.overflown())
        return rejected(around.file, "its variables grow beyond all reason",
                        "give the launch line with the values put in");
    return out;
}

Checked<ShellScript> read_script(const TracedText& text,
                                 const std::map<std::string, std::string>& defined,
                                 Surroundings around)
{
    ShellTokens tokens = shell_tokens(text);
    ShellScript out;
    out.directives = std::move(tokens.directives);
    out.skipped = std::move(tokens.skipped);
    define_slurm_variables(out);
    for (const auto& [name, value] : defined) {
        TracedText traced_value;
        traced_value.append(value, 0);
        out.variables[name].values = {std::move(traced_value)};
    }
    if (!around.file.empty() && !defined.contains("1"))
        around.parameters = shown_arguments_in(text, around.file);
    for (const TracedText& word : around.parameters) {
        out.shown_call.append(out.shown_call.text.empty() ? "" : " ", word.line());
        out.shown_call.append(word);
    }
    return read_tokens(tokens, std::move(out), std::move(around));
}

} // namespace

Checked<ShellScript> read_shell(const TracedText& text, const std::string& file,
                                const std::map<std::string, std::string>& defined,
                                const ShellFiles& files)
{
    return read_script(text, defined, {file, files, {}, Doubtful::left_out});
}

Checked<ShellScript> read_doubtful_shell(const TracedText& text, const std::string& file,
                                         const std::map<std::string, std::string>& defined,
                                         const ShellFiles& files)
{
    return read_script(text, defined, {file, files, {}, Doubtful::taken});
}

Checked<ShellScript> read_inner_shell(const TracedText& text, const ShellVariables& known)
{
    ShellTokens tokens = shell_tokens(text);
    ShellScript out;
    out.skipped = std::move(tokens.skipped);
    out.variables = known;
    return read_tokens(tokens, std::move(out), {"", {}, {}, Doubtful::left_out});
}

} // namespace trainyard
