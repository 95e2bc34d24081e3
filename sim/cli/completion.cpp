#include "sim/cli/command.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace trainyard {
namespace {

std::set<std::string> options_of(const CLI::App& app)
{
    std::set<std::string> words;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            words.insert("--" + name);
    return words;
}

// What may follow one command: its parts (`topo show`), its options and those of its parts.
std::set<std::string> words_of(const CLI::App& app)
{
    std::set<std::string> words = options_of(app);
    for (const CLI::App* part : app.get_subcommands({})) {
        words.insert(part->get_name());
        words.merge(options_of(*part));
    }
    return words;
}

std::set<std::string> first_words(const CLI::App& program)
{
    std::set<std::string> words = options_of(program);
    for (const CLI::App* sub : program.get_subcommands({}))
        words.insert(sub->get_name());
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
{}        *) words="" ;;
    esac
    [ "$COMP_CWORD" -eq 1 ] && words="{}"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")
}}
complete -o filenames -F _trainyard trainyard
)",
                       cases, fmt::join(first_words(program), " "));
}

// The same file serves `source` and, as _trainyard, a folder of $fpath.
std::string zsh_script(const CLI::App& program)
{
    std::string cases;
    for (const CLI::App* sub : program.get_subcommands({}))
        cases += fmt::format("        {}) choices=({}) ;;\n", sub->get_name(),
                             fmt::join(words_of(*sub), " "));
    return fmt::format(R"(#compdef trainyard
# zsh completion of trainyard: source <(trainyard completion zsh)
_trainyard() {{
    local -a choices
    case "${{words[2]}}" in
{}        *) choices=() ;;
    esac
    ((CURRENT == 2)) && choices=({})
    compadd -- $choices
    _files
}}
if [ "${{funcstack[1]}}" = _trainyard ]; then
    _trainyard "$@"
else
    compdef _trainyard trainyard
fi
)",
                       cases, fmt::join(first_words(program), " "));
}

// Between single quotes of fish.
std::string fish_text(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\'' || c == '\\')
            out += '\\';
        out += c;
    }
    return out;
}

std::string fish_script(const CLI::App& program)
{
    std::string out = "# fish completion of trainyard: trainyard completion fish | source\n";
    for (const CLI::App* sub : program.get_subcommands({})) {
        out += fmt::format("complete -c trainyard -n __fish_use_subcommand -a {} -d '{}'\n",
                           sub->get_name(), fish_text(sub->get_description()));
        for (const std::string& word : words_of(*sub))
            out += fmt::format("complete -c trainyard -n '__fish_seen_subcommand_from {}' {} {}\n",
                               sub->get_name(), word.starts_with("--") ? "-l" : "-a",
                               word.starts_with("--") ? word.substr(2) : word);
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
