#include "sim/study/jobs/shell/launch_command.h"

#include "sim/base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

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
    constexpr std::array<std::pair<std::string_view, std::string_view>, 12> commands{{
        {"megatron", "sft"},
        {"megatron", "pt"},
        {"megatron", "rlhf"},
        {"swift", "sft"},
        {"swift", "pt"},
        {"swift", "rlhf"},
        {"llamafactory-cli", "train"},
        {"axolotl", "train"},
        {"trl", "sft"},
        {"trl", "dpo"},
        {"xtuner", "train"},
        {"oumi", "train"},
    }};
    const std::string name = file_name(word);
    return std::any_of(commands.begin(), commands.end(), [&](const auto& command) {
        return command.first == name && command.second == next;
    });
}

// "4", "2:4" (elastic: the most), "gpu:8", "gpu:h100:8": the last number; nothing when there is
// none.
std::optional<int> size_in(const std::string& text)
{
    const auto out = to_number<int>(text.substr(text.find_last_of(':') + 1));
    return out && *out >= 1 && *out <= 1'000'000 ? out : std::nullopt;
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
        const std::string_view verb = launching_word(name);
        if (const std::optional<LauncherOptions> options = launcher_options(name)) {
            if (!verb.empty() && (at_ + 1 >= words_.size() || words_[at_ + 1].text != verb))
                return false; // "accelerate config", "tune download"
            start(name);
            at_ += verb.empty() ? 1 : 2;
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

    // Tasks that start launchers are no ranks.
    void start(const std::string& launcher)
    {
        out_.ranks.reset();
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
            if (name == "-m" || name == "--module") // the program behind the options is one
                continue;
            const LauncherMeaning meaning = meaning_of(options, name);
            TracedText value =
                word.part(equals == std::string::npos ? word.text.size() : equals + 1);
            const bool alone = meaning == none || meaning == setting_alone;
            if (!alone && equals == std::string::npos && at_ < words_.size())
                value = words_[at_++];
            put_size(out_, meaning, name, value);
            if (name == "--include" || name == "-i")
                put_included(value);
            if (name == "--hostfile" || name == "-H")
                out_.hosts = value;
            if (name == "--config-file")
                out_.config = value;
            if (meaning == setting || meaning == setting_alone) {
                out_.settings.push_back(word);
                if (!value.text.empty() && equals == std::string::npos)
                    out_.settings.push_back(value);
            }
            if (meaning == none || meaning == takes_value)
                out_.ignored.push_back(fmt::format("line {}: {}{}{}", word.line(), name,
                                                   value.text.empty() ? "" : " ", value.text));
        }
    }

    // "localhost:0,1,2,3": the devices of one host; of more hosts, with '@' between them.
    void put_included(const TracedText& value)
    {
        const std::string first = value.text.substr(0, value.text.find('@'));
        const auto hosts = std::count(value.text.begin(), value.text.end(), '@');
        if (hosts > 0)
            out_.nodes = LaunchSize{static_cast<int>(hosts) + 1, value.line()};
        const std::size_t colon = first.find(':');
        if (colon == std::string::npos)
            return;
        const auto commas =
            std::count(first.begin() + static_cast<std::ptrdiff_t>(colon), first.end(), ',');
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
                const bool accelerate = module == "accelerate.commands.launch";
                if (accelerate || module == "torch.distributed.run" ||
                    module == "torch.distributed.launch") {
                    start(accelerate ? "accelerate" : "torchrun");
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

} // namespace

bool only_talks(const std::string& word)
{
    constexpr std::string_view names = "echo printf cat cp mkdir rm cd pip git tee sed log";
    return has_word(names, file_name(word));
}

void put_size(Launch& launch, LauncherMeaning meaning, const std::string& name,
              const TracedText& value)
{
    std::optional<LaunchSize>* const place = meaning == nodes           ? &launch.nodes
                                             : meaning == gpus_per_node ? &launch.gpus_per_node
                                             : meaning == ranks         ? &launch.ranks
                                             : meaning == gpus          ? &launch.gpus
                                                                        : nullptr;
    if (place == nullptr)
        return;
    if (const std::optional<int> size = size_in(value.text))
        *place = LaunchSize{*size, value.line()};
    else {
        launch.gpus_unknown = launch.gpus_unknown || meaning == gpus_per_node;
        launch.unknown.push_back(
            fmt::format("line {}: {} {} is no number known here", value.line(), name, value.text));
    }
}

std::optional<Launch> launch_of(const std::vector<TracedText>& words)
{
    return LaunchReader(words).read();
}

} // namespace trainyard
