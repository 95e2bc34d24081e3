#include "sim/study/jobs/manifest.h"

#include "sim/study/jobs/recipes/dialect.h"
#include "sim/study/jobs/structured_text.h"

#include <algorithm>

namespace trainyard {
namespace {

std::string scalar_text(const Json& value)
{
    return value.is_string() ? value.as_string() : to_text(value, JsonStyle::compact);
}

// A block of lines begins behind the mark that opens it.
TracedText traced_scalar(const Json& value)
{
    const std::string text = scalar_text(value);
    return traced(text, value.line() + (text.find('\n') == std::string::npos ? 0 : 1));
}

TracedText in_quotes(const TracedText& text)
{
    TracedText out;
    out.append("'", text.line());
    for (std::size_t i = 0; i < text.text.size(); ++i)
        if (text.text[i] == '\'')
            out.append("'\\''", text.lines[i]);
        else
            out.append(text.part(i, 1));
    out.append("'", text.line());
    return out;
}

std::int64_t count_in(const Json& tree, std::string_view name)
{
    const Json* const value = tree.find(name);
    constexpr std::int64_t most = 100'000;
    return value != nullptr && value->is_integer()
               ? std::clamp(value->as_integer(), std::int64_t{0}, most)
               : 1;
}

// "nvidia.com/gpu: 8" of the limits.
std::optional<LaunchSize> gpus_of(const Json& container)
{
    for (const std::string_view kind : {"resources.limits", "resources.requests"}) {
        const Json* const asked = setting_at(container, kind);
        if (asked == nullptr || !asked->is_object())
            continue;
        for (const auto& [name, value] : asked->members()) {
            const std::string text = scalar_text(value);
            constexpr std::size_t most_digits = 4;
            if (name.ends_with("/gpu") && !text.empty() && text.size() <= most_digits &&
                text.find_first_not_of("0123456789") == std::string::npos && text != "0")
                return LaunchSize{std::stoi(text), value.line()};
        }
    }
    return std::nullopt;
}

std::vector<TracedText> words_in(const Json& container)
{
    std::vector<TracedText> out;
    for (const std::string_view name : {"command", "args"}) {
        const Json* const words = container.find(name);
        if (words != nullptr && words->is_array())
            for (const Json& word : words->items())
                out.push_back(traced_scalar(word));
        else if (words != nullptr && words->is_string())
            out.push_back(traced_scalar(*words));
    }
    return out;
}

// "bash -c TEXT": the text; else the words as a command.
TracedText command_of(const std::vector<TracedText>& words)
{
    const bool shell = !words.empty() &&
                       (words.front().text.ends_with("bash") || words.front().text.ends_with("sh"));
    for (std::size_t i = 1; shell && i + 1 < words.size(); ++i)
        if (words[i].text.starts_with('-') && words[i].text.ends_with('c'))
            return words[i + 1];
    TracedText out;
    for (const TracedText& word : words) {
        if (!out.text.empty())
            out.append(" ", word.line());
        out.append(word.text.find_first_of(" \t\n'\"") == std::string::npos ? word
                                                                            : in_quotes(word));
    }
    return out;
}

// Kubernetes puts $(NAME) in for the names of the container's environment.
TracedText with_named(TracedText text, const std::string& name)
{
    const std::string mark = "$(" + name + ")";
    for (std::size_t at = text.text.find(mark); at != std::string::npos;
         at = text.text.find(mark, at)) {
        text.text[at + 1] = '{';
        text.text[at + mark.size() - 1] = '}';
    }
    return text;
}

class ManifestReader {
public:
    void read(const Json& tree, std::int64_t copies)
    {
        if (tree.is_array())
            for (const Json& item : tree.items())
                read(item, copies);
        if (!tree.is_object())
            return;
        constexpr std::int64_t most_copies = 1'000'000;
        for (const std::string_view name : {"replicas", "parallelism"})
            copies = std::min(most_copies, copies * count_in(tree, name));
        for (const auto& [name, value] : tree.members())
            if (name == "containers" && value.is_array())
                read_pod(value, copies);
            else
                read(value, copies);
    }

    std::optional<Manifest> take()
    {
        if (!container_)
            return std::nullopt;
        TracedText& script = out_.script;
        TracedText command = command_of(words_in(*container_));
        const Json* const variables = container_->find("env");
        if (variables != nullptr && variables->is_array())
            for (const Json& variable : variables->items()) {
                const Json* const name = variable.find("name");
                const Json* const value = variable.find("value");
                if (name == nullptr || value == nullptr)
                    continue;
                command = with_named(std::move(command), scalar_text(*name));
                script.append("export " + scalar_text(*name) + "=", name->line());
                script.append(in_quotes(traced_scalar(*value)));
                script.append("\n", value->line());
            }
        script.append(command);
        if (pods_ > 0)
            out_.nodes = LaunchSize{static_cast<int>(pods_), out_.gpus_per_node->line};
        return std::move(out_);
    }

private:
    void read_pod(const Json& containers, std::int64_t copies)
    {
        std::optional<LaunchSize> gpus;
        for (const Json& container : containers.items()) {
            if (!container.is_object())
                continue;
            gpus = gpus ? gpus : gpus_of(container);
            const std::size_t length = command_of(words_in(container)).text.size();
            if (length > longest_) {
                longest_ = length;
                container_ = container;
            }
        }
        if (gpus) {
            pods_ += copies;
            out_.gpus_per_node = gpus;
        }
    }

    Manifest out_;
    std::optional<Json> container_; // with the longest command
    std::size_t longest_ = 0;
    std::int64_t pods_ = 0; // that ask for GPUs
};

} // namespace

std::optional<Manifest> read_manifest(const std::string& text)
{
    if (text.find("apiVersion") == std::string::npos ||
        text.find("containers") == std::string::npos)
        return std::nullopt;
    ManifestReader reader;
    // Documents stand behind lines of dashes; each keeps its lines.
    std::string before;
    std::string document;
    const auto read = [&] {
        const Checked<Json> tree = parse_yaml(before + document, "");
        if (tree && tree->is_object() && tree->find("apiVersion") != nullptr)
            reader.read(*tree, 1);
        before.append(static_cast<std::size_t>(std::count(document.begin(), document.end(), '\n')),
                      '\n');
        document.clear();
    };
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
        const std::string line = text.substr(from, end - from);
        if (line.starts_with("---")) {
            read();
            before += '\n';
        } else
            document += line;
        from = end;
    }
    read();
    return reader.take();
}

} // namespace trainyard
