#include "sim/study/jobs/shell/launch.h"

#include "sim/study/jobs/shell/launcher_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace trainyard {
namespace {

using enum LauncherMeaning;

std::string file_name(const std::string& path)
{
    return path.substr(path.find_last_of('/') + 1);
}

bool is_python(const std::string& word)
{
    const std::string name = file_name(word);
    return name == "python" || name.starts_with("python3") || name == "python2";
}

// Programs that are launchers of their own: their first word says what they do.
bool trains_by_itself(const std::string& word, const std::string& next)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> commands{{
        {"megatron", "sft"},
        {"megatron", "pt"},
        {"swift", "sft"},
        {"swift", "pt"},
        {"llamafactory-cli", "train"},
        {"axolotl", "train"},
        {"trl", "sft"},
        {"trl", "dpo"},
        {"xtuner", "train"},
    }};
    const std::string name = file_name(word);
    return std::any_of(commands.begin(), commands.end(), [&](const auto& command) {
        return command.first == name && command.second == next;
    });
}

// What only shows its words, or moves files.
bool only_talks(const std::string& word)
{
    constexpr std::array<std::string_view, 12> names{
        "echo", "printf", "cat", "cp", "mkdir", "rm", "cd", "pip", "git", "tee", "sed", "log"};
    return std::find(names.begin(), names.end(), file_name(word)) != names.end();
}

// "4", "2:4" (elastic: the most), "gpu:8", "gpu:h100:8": the last number; nothing when there is
// none.
std::optional<int> size_in(const std::string& text)
{
    const std::string last = text.substr(text.find_last_of(':') + 1);
    int out = 0;
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), out);
    if (error != std::errc() || end != last.data() + last.size() || out < 1 || out > 1'000'000)
        return std::nullopt;
    return out;
}

void put_size(Launch& launch, LauncherMeaning meaning, const std::string& name,
              const TracedText& value)
{
    std::optional<LaunchSize>* const place = meaning == nodes           ? &launch.nodes
                                             : meaning == gpus_per_node ? &launch.gpus_per_node
                                             : meaning == ranks         ? &launch.ranks
                                                                        : nullptr;
    if (place == nullptr)
        return;
    if (const std::optional<int> size = size_in(value.text))
        *place = LaunchSize{*size, value.line()};
    else
        launch.unknown.push_back(
            fmt::format("line {}: {} {} is no number known here", value.line(), name, value.text));
}

// Launchers take --max_restarts for --max-restarts; -short_ones are left alone.
std::string long_option_with_dashes(std::string name)
{
    const std::size_t from = name.find_first_not_of('-');
    if (from == 2)
        std::replace(name.begin() + 2, name.end(), '_', '-');
    return name;
}

// Walks over the words of one command.
class LaunchReader {
public:
    explicit LaunchReader(const std::vector<TracedText>& words) : words_(words) {}

    // Nothing when the command launches no program.
    std::optional<Launch> read()
    {
        if (!words_.empty() && only_talks(words_.front().text))
            return std::nullopt;
        if (take_own_launcher())
            return std::move(out_);
        while (at_ < words_.size() && out_.program.empty() && step())
            continue;
        if (!launches_ && !is_program())
            return std::nullopt;
        if (out_.program.empty() && at_ < words_.size())
            take_program();
        return out_.program.empty() ? std::nullopt : std::optional(std::move(out_));
    }

private:
    // "llamafactory-cli train": the program is the launcher.
    bool take_own_launcher()
    {
        for (std::size_t i = 0; i + 1 < words_.size(); ++i)
            if (trains_by_itself(words_[i].text, words_[i + 1].text)) {
                at_ = i;
                start(file_name(words_[i].text));
                out_.program = out_.launcher + " " + words_[i + 1].text;
                for (std::size_t j = i + 2; j < words_.size(); ++j)
                    out_.arguments.push_back(words_[j]);
                return true;
            }
        return false;
    }

    static bool starts_programs(const std::string& word)
    {
        return launcher_options(file_name(word)).has_value() || is_python(word);
    }

    // Takes a launcher with its options, or what may stand before one. False at anything else.
    bool step()
    {
        const std::string name = file_name(words_[at_].text);
        if (const std::optional<LauncherOptions> options = launcher_options(name)) {
            start(name);
            ++at_;
            if (name == "colossalai" && at_ < words_.size() && words_[at_].text == "run")
                ++at_;
            if (name == "accelerate" && at_ < words_.size() && words_[at_].text == "launch")
                ++at_;
            read_options(*options);
            launches_ = true;
        } else if (is_python(words_[at_].text)) {
            ++at_;
            launches_ = read_python() || launches_;
        } else if (!is_program() &&
                   std::any_of(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end(),
                               [](const TracedText& word) { return starts_programs(word.text); }))
            ++at_; // env, nohup, a wrapper, an option's value
        else
            return false;
        return true;
    }

    void start(const std::string& launcher)
    {
        out_.launcher += (out_.launcher.empty() ? "" : " ") + launcher;
        if (out_.line == 0)
            out_.line = words_[at_].line();
    }

    bool is_program() const { return at_ < words_.size() && words_[at_].text.ends_with(".py"); }

    void take_program()
    {
        out_.program = words_[at_].text;
        if (out_.line == 0)
            out_.line = words_[at_].line();
        for (std::size_t i = at_ + 1; i < words_.size(); ++i)
            out_.arguments.push_back(words_[i]);
    }

    // After the launcher's name, up to its program.
    void read_options(const LauncherOptions& options)
    {
        while (at_ < words_.size() && words_[at_].text.starts_with('-')) {
            const TracedText& word = words_[at_++];
            const std::size_t equals = word.text.find('=');
            const std::string name = long_option_with_dashes(word.text.substr(0, equals));
            if (name == "-m" || name == "--module")
                return;
            const LauncherMeaning meaning = meaning_of(options, name);
            TracedText value =
                word.part(equals == std::string::npos ? word.text.size() : equals + 1);
            if (meaning != none && equals == std::string::npos && at_ < words_.size())
                value = words_[at_++];
            put_size(out_, meaning, name, value);
            if (name == "--include" || name == "-i")
                put_included(value);
            if (name == "--config-file" || name == "--deepspeed-config-file")
                out_.config = value;
            if (name == "--use-deepspeed" || name == "--use-fsdp" || name == "--mixed-precision" ||
                name == "--zero-stage" || name == "--gradient-accumulation-steps")
            {
                out_.arguments.push_back(word);
                if (!value.text.empty() && equals == std::string::npos)
                    out_.arguments.push_back(value);
                continue;
            }
            if (meaning == none || meaning == takes_value)
                out_.ignored.push_back(fmt::format("line {}: {}{}{}", word.line(), name,
                                                   value.text.empty() ? "" : " ", value.text));
        }
    }

    // "localhost:0,1,2,3": the devices of one host.
    void put_included(const TracedText& value)
    {
        const std::size_t colon = value.text.find(':');
        if (colon == std::string::npos || value.text.find('@') != std::string::npos)
            return;
        const auto commas = std::count(value.text.begin() + static_cast<std::ptrdiff_t>(colon),
                                       value.text.end(), ',');
        out_.gpus_per_node = LaunchSize{static_cast<int>(commas) + 1, value.line()};
    }

    // After "python": options, then -m module or a program. True for launchers that are modules.
    bool read_python()
    {
        while (at_ < words_.size() && words_[at_].text.starts_with('-')) {
            const std::string option = words_[at_].text;
            ++at_;
            if (option == "-m" && at_ < words_.size()) {
                const std::string module = words_[at_].text;
                if (module == "torch.distributed.run" || module == "torch.distributed.launch") {
                    start("torchrun");
                    ++at_;
                    read_options(*launcher_options("torchrun"));
                    return true;
                }
                break;
            }
        }
        if (at_ < words_.size())
            take_program();
        return !out_.program.empty();
    }

    const std::vector<TracedText>& words_;
    std::size_t at_ = 0;
    bool launches_ = false;
    Launch out_;
};

// srun bash -c "torchrun ...": the command inside the quotes.
std::vector<ShellCommand> unwrapped(const ShellCommand& command, const ShellScript& script)
{
    for (const TracedText& word : command.words) {
        const bool nested = word.text.find(' ') != std::string::npos &&
                            (word.text.find("torchrun ") != std::string::npos ||
                             word.text.find("python") != std::string::npos);
        if (!nested)
            continue;
        std::map<std::string, std::string> known;
        for (const auto& [name, variable] : script.variables)
            if (variable.values.size() == 1)
                known[name] = variable.values.front().text;
        if (const Checked<ShellScript> inside = read_shell(word, "", known))
            return inside->commands;
    }
    return {};
}

void take_slurm_directives(Launch& launch, const ShellScript& script)
{
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
            const bool taken = (meaning == nodes && launch.nodes) ||
                               (meaning == gpus_per_node && launch.gpus_per_node) ||
                               meaning == ranks;
            if (!taken && !value.text.empty())
                put_size(launch, meaning, name, value);
        }
    }
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

// deepspeed takes the devices that are visible where it is told no number.
void take_visible_devices(Launch& launch)
{
    const auto found = launch.environment.find("CUDA_VISIBLE_DEVICES");
    if (launch.launcher != "deepspeed" || launch.gpus_per_node || launch.nodes ||
        found == launch.environment.end() || found->second.text.empty() ||
        found->second.text.find_first_not_of("0123456789,") != std::string::npos)
        return;
    const auto commas = std::count(found->second.text.begin(), found->second.text.end(), ',');
    launch.gpus_per_node = LaunchSize{static_cast<int>(commas) + 1, found->second.line()};
}

} // namespace

std::optional<Launch> find_launch(const ShellScript& script)
{
    std::optional<Launch> best;
    std::vector<int> launches; // lines of all of them
    int last_line = 0;         // of the command before, where that is a launch
    Launch bare;               // lines that are arguments and nothing else
    const auto consider = [&](const ShellCommand& command, const ShellCommand& outer) {
        std::optional<Launch> launch = LaunchReader(command.words).read();
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
        const std::vector<ShellCommand> inside = unwrapped(command, script);
        for (const ShellCommand& nested : inside)
            consider(nested, command);
        if (inside.empty())
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
