#include "sim/cli/command.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard {
namespace {

// Options and subcommands of one command, as typed.
std::vector<std::string> words_of(const CLI::App& app)
{
    std::vector<std::string> words;
    for (const CLI::App* sub : app.get_subcommands({}))
        words.push_back(sub->get_name());
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            words.push_back("--" + name);
    return words;
}

std::string bash_script(const CLI::App& program)
{
    std::string cases;
    for (const CLI::App* sub : program.get_subcommands({}))
        cases += fmt::format("        {}) words=\"{}\" ;;\n", sub->get_name(),
                             fmt::join(words_of(*sub), " "));
    return fmt::format(R"(# bash completion of trainyard: source <(trainyard completion bash)
_trainyard() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" words
    case "${{COMP_WORDS[1]}}" in
{}        *) words="{}" ;;
    esac
    [ "$COMP_CWORD" -eq 1 ] && words="{}"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")
}}
complete -o filenames -F _trainyard trainyard
)",
                       cases, fmt::join(words_of(program), " "), fmt::join(words_of(program), " "));
}

std::string zsh_script(const CLI::App& program)
{
    return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(program);
}

std::string fish_script(const CLI::App& program)
{
    std::string out = "# fish completion of trainyard: trainyard completion fish | source\n";
    for (const CLI::App* sub : program.get_subcommands({})) {
        out += fmt::format("complete -c trainyard -n __fish_use_subcommand -a {} -d '{}'\n",
                           sub->get_name(), sub->get_description());
        for (const CLI::Option* option : sub->get_options())
            for (const std::string& name : option->get_lnames())
                out +=
                    fmt::format("complete -c trainyard -n '__fish_seen_subcommand_from {}' -l {}\n",
                                sub->get_name(), name);
    }
    return out;
}

} // namespace

void add_completion(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("completion", "Print the completion script of a shell");
    auto shell = std::make_shared<std::string>();
    sub->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    sub->footer("Example: source <(trainyard completion bash)");
    sub->callback([&program, &chosen, shell] {
        chosen = [&program, shell] {
            print_data(*shell == "fish"
                           ? fish_script(program)
                           : (*shell == "zsh" ? zsh_script(program) : bash_script(program)));
            return exit_ok;
        };
    });
}

} // namespace trainyard
