#include "sim/study/jobs/shell/launch.h"

#include "sim/base/words.h"
#include "sim/study/jobs/shell/launch_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace trainyard {
namespace {

using enum LauncherMeaning;

// "bash -c '$LAUNCHER $CMD'": the word is a script of its own.
bool is_script_of_a_shell(const std::vector<TracedText>& words, std::size_t at)
{
    constexpr std::string_view shells = "bash sh zsh dash";
    if (at < 2 || !words[at - 1].text.starts_with('-') || !words[at - 1].text.ends_with('c'))
        return false;
    return std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at) - 1,
                       [&](const TracedText& word) {
                           const std::string name =
                               word.text.substr(word.text.find_last_of('/') + 1);
                           return has_word(shells, name);
                       });
}

// srun bash -c "torchrun ...": the script inside the quotes; one without a command where there is
// none.
ShellScript unwrapped(const ShellCommand& command, const ShellScript& script)
{
    for (std::size_t at = 0; at < command.words.size(); ++at) {
        const TracedText& word = command.words[at];
        const bool plain = word.text.find("torchrun ") != std::string::npos ||
                           word.text.find("python") != std::string::npos;
        const bool nested = !word.text.starts_with("$(") &&
                            word.text.find(' ') != std::string::npos &&
                            (plain || is_script_of_a_shell(command.words, at));
        if (!nested)
            continue;
        Checked<ShellScript> inside = read_inner_shell(word, script.variables);
        if (inside && (plain || std::ranges::any_of(inside->commands, [](const ShellCommand& one) {
                           return launch_of(one.words).has_value();
                       })))
            return std::move(*inside);
    }
    return {};
}

constexpr int most_of_a_node = 1024; // tasks, or GPUs of one

void take_slurm_directives(Launch& launch, const ShellScript& script)
{
    int tasks = 1; // of a node
    std::optional<LaunchSize> of_a_task;
    for (const TracedText& directive : script.directives) {
        std::vector<TracedText> words;
        for (const ShellToken& token : shell_tokens(directive).tokens) {
            TracedText word;
            word.append(token.plain(), directive.line());
            words.push_back(std::move(word));
        }
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::size_t equals = words[i].text.find('=');
            const std::string name = words[i].text.substr(0, equals);
            const LauncherMeaning meaning = meaning_of(*launcher_options("srun"), name);
            TracedText value =
                words[i].part(equals == std::string::npos ? words[i].text.size() : equals + 1);
            if (equals == std::string::npos && i + 1 < words.size())
                value = words[i + 1];
            const int number = std::atoi(value.text.substr(value.text.rfind(':') + 1).c_str());
            if (name == "--ntasks-per-node" && number > 0 && number <= most_of_a_node)
                tasks = number;
            if (name == "--gpus-per-task" && number > 0 && number <= most_of_a_node)
                of_a_task = LaunchSize{number, value.line()};
            const bool taken = (meaning == nodes && launch.nodes) ||
                               (meaning == gpus_per_node && launch.gpus_per_node) ||
                               (meaning == gpus && launch.gpus) || meaning == ranks;
            if (!taken && !value.text.empty())
                put_size(launch, meaning, name, value);
        }
    }
    if (of_a_task && !launch.gpus_per_node && !launch.gpus)
        launch.gpus_per_node = LaunchSize{of_a_task->value * tasks, of_a_task->line};
}

// From so many on, the words of a command are a job's.
constexpr std::ptrdiff_t fewest_options = 4;

std::ptrdiff_t option_count(const std::vector<TracedText>& words)
{
    return std::count_if(words.begin(), words.end(), [](const TracedText& word) {
        return word.text.size() > 2 && word.text.starts_with("--");
    });
}

// A word as it stands; what was not known stays seen as such.
TracedText as_text(const ShellToken& token)
{
    TracedText out;
    for (const ShellPiece& piece : token.pieces) {
        const int line = piece.text.line();
        switch (piece.kind) {
        case ShellPiece::Kind::literal:
            out.append(piece.text);
            break;
        case ShellPiece::Kind::parameter:
            out.append("${" + piece.text.text + "}", line);
            break;
        case ShellPiece::Kind::arithmetic:
            out.append("$((" + piece.text.text + "))", line);
            break;
        case ShellPiece::Kind::command:
            out.append("$(" + piece.text.text + ")", line);
            break;
        }
    }
    return out;
}

// A command that hands a job's options to a script that is not here.
std::optional<Launch> by_options(const ShellCommand& command)
{
    if (only_talks(command.words.front().text) || option_count(command.words) < fewest_options)
        return std::nullopt;
    Launch out;
    out.program = command.words.front().text;
    out.line = command.words.front().line();
    out.arguments.assign(command.words.begin() + 1, command.words.end());
    return out;
}

// Lists of arguments kept in variables, for scripts whose launch line stands elsewhere.
std::optional<Launch> from_variables(const ShellScript& script)
{
    Launch out;
    for (const auto& [name, variable] : script.variables) {
        std::vector<TracedText> words = variable.values;
        if (words.size() == 1 && words.front().text.find(' ') != std::string::npos) {
            std::vector<TracedText> split;
            for (const ShellToken& token : shell_tokens(words.front()).tokens)
                if (token.kind == ShellToken::Kind::word && !token.pieces.empty())
                    split.push_back(as_text(token));
            words = std::move(split);
        }
        if (option_count(words) > 0 &&
            (words.front().text.starts_with("--") || option_count(words) >= fewest_options))
            out.arguments.insert(out.arguments.end(), words.begin(), words.end());
    }
    return out.arguments.empty() ? std::nullopt : std::optional(std::move(out));
}

// Launchers that take the devices that are visible where they are told no number, as Python alone
// does. Where the number that one is told is not known, those devices tell it.
constexpr std::string_view launchers_on_all_devices =
    "deepspeed accelerate swift megatron llamafactory-cli axolotl";

void take_visible_devices(Launch& launch)
{
    const auto found = launch.environment.find("CUDA_VISIBLE_DEVICES");
    const bool bare = launch.launcher.empty() && !launch.program.empty();
    const bool all =
        launch.gpus_unknown || bare || has_word(launchers_on_all_devices, launch.launcher);
    if (!all || launch.gpus_per_node || launch.gpus || launch.ranks ||
        (launch.nodes && launch.launcher == "deepspeed") || found == launch.environment.end() ||
        found->second.text.empty() ||
        found->second.text.find_first_not_of("0123456789,") != std::string::npos)
        return;
    const auto commas = std::count(found->second.text.begin(), found->second.text.end(), ',');
    launch.gpus_per_node = LaunchSize{static_cast<int>(commas) + 1, found->second.line()};
}

} // namespace

std::optional<Launch> find_launch(const ShellScript& script)
{
    std::optional<Launch> best;
    std::vector<int> launches;                // lines of all of them
    int last_line = 0;                        // of the command before, where that is a launch
    Launch bare;                              // lines that are arguments and nothing else
    std::map<std::string, std::string> files; // that scripts inside it write
    const auto consider = [&](const ShellCommand& command, const ShellCommand& outer) {
        std::optional<Launch> launch = launch_of(command.words);
        const bool options = command.words.front().text.starts_with("--");
        if (!launch && options && best && best->line == last_line) {
            // A comment between continued lines ends a command; the rest is meant too.
            best->arguments.insert(best->arguments.end(), command.words.begin(),
                                   command.words.end());
            best->cut = true;
            return;
        }
        last_line = launch ? launch->line : 0;
        if (!launch && options)
            bare.arguments.insert(bare.arguments.end(), command.words.begin(), command.words.end());
        if (!launch)
            return;
        launches.push_back(launch->line);
        if (best && launch->arguments.size() < best->arguments.size())
            return;
        launch->environment = script.exported;
        for (const ShellCommand* at : {&outer, &command})
            for (const auto& [name, value] : at->environment)
                launch->environment[name] = value;
        best = std::move(launch);
    };
    for (const ShellCommand& command : script.commands) {
        const ShellScript inside = unwrapped(command, script);
        files.insert(inside.files.begin(), inside.files.end());
        for (const ShellCommand& nested : inside.commands)
            consider(nested, command);
        if (inside.commands.empty())
            consider(command, command);
    }
    if (!best && !bare.arguments.empty()) {
        bare.line = bare.arguments.front().line();
        bare.environment = script.exported;
        best = std::move(bare);
    }
    for (const ShellCommand& command : script.commands)
        if (std::optional<Launch> launch = best ? std::nullopt : by_options(command)) {
            launch->environment = script.exported;
            best = std::move(launch);
        }
    if (!best) {
        best = from_variables(script);
        if (best)
            best->environment = script.exported;
    }
    if (best) {
        best->files = std::move(files);
        take_visible_devices(*best);
        take_slurm_directives(*best, script);
        best->others = std::move(launches);
        const auto own = std::find(best->others.begin(), best->others.end(), best->line);
        if (own != best->others.end())
            best->others.erase(own);
    }
    return best;
}

} // namespace trainyard
