#include "sim/study/jobs/manifest.h"

#include "sim/base/quoted.h"
#include "sim/study/jobs/structured_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace trainyard {
namespace {

constexpr int most = 1'000'000;

std::string value_text(const Json& value)
{
    return value.is_string() ? value.as_string() : to_text(value, JsonStyle::compact);
}

std::optional<int> whole_at(const Json* value)
{
    const std::string text = value != nullptr ? value_text(*value) : "";
    const bool digits = !text.empty() && text.size() < 7 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::optional(std::stoi(text)) : std::nullopt;
}

// Kubernetes puts the container's own variables in for $(NAME), in a shell's text too.
std::string with_variables(std::string text, const Json& container)
{
    const Json* const variables = container.find("env");
    if (variables == nullptr || !variables->is_array())
        return text;
    for (const Json& variable : variables->items()) {
        const Json* const name = variable.is_object() ? variable.find("name") : nullptr;
        const Json* const value = variable.is_object() ? variable.find("value") : nullptr;
        if (name == nullptr || value == nullptr)
            continue;
        const std::string mark = "$(" + value_text(*name) + ")";
        const std::string put_in = value_text(*value);
        for (std::size_t at = text.find(mark); at != std::string::npos && text.size() < 1U << 20;
             at = text.find(mark, at + put_in.size()))
            text.replace(at, mark.size(), put_in);
    }
    return text;
}

// A script whose words stand at the lines that the manifest has them on.
class ScriptLines {
public:
    void go_to(int line, std::string_view end)
    {
        for (; line_ < line; ++line_)
            text_ += end;
    }
    void add(std::string_view text)
    {
        text_ += text;
        line_ += static_cast<int>(std::ranges::count(text, '\n'));
    }
    std::string take() && { return std::move(text_); }

private:
    std::string text_;
    int line_ = 1;
};

class Manifest {
public:
    // Of one document.
    void read(const Json& node, int copies = 1)
    {
        if (node.is_array())
            for (const Json& item : node.items())
                read(item, copies);
        if (!node.is_object())
            return;
        if (node.find("template") != nullptr)
            for (const char* const name : {"replicas", "parallelism", "completions"})
                if (const auto count = whole_at(node.find(name))) {
                    copies = static_cast<int>(
                        std::min<std::int64_t>(std::int64_t{copies} * *count, most));
                    break;
                }
        for (const Json::Member& member : node.members())
            if ((member.first == "containers" || member.first == "tasks") &&
                member.second.is_array())
                for (const Json& container : member.second.items())
                    take(container, copies);
            else
                read(member.second, copies);
    }

    std::optional<ManifestJob> job() && { return std::move(job_); }
    std::optional<int> pods() const { return pods_; }
    std::optional<int> gpus() const { return gpus_; }

private:
    void take(const Json& container, int copies)
    {
        if (!container.is_object())
            return;
        const Json* const resources = container.find("resources");
        const Json* const limits = resources != nullptr ? resources->find("limits") : nullptr;
        if (const auto tasks = whole_at(container.find("replicas"))) // Beaker's
            copies = static_cast<int>(std::min<std::int64_t>(std::int64_t{copies} * *tasks, most));
        for (const Json* const part : {limits, resources})
            for (const char* const name : {"nvidia.com/gpu", "amd.com/gpu", "gpuCount"})
                if (const auto count = whole_at(part != nullptr ? part->find(name) : nullptr);
                    count && *count > 0) {
                    gpus_ = *count;
                    pods_ = std::min(pods_.value_or(0) + copies, most);
                }
        std::vector<const Json*> words;
        for (const char* const part : {"command", "args", "arguments"})
            if (const Json* const list = container.find(part); list && list->is_array())
                for (const Json& word : list->items())
                    words.push_back(&word);
        if (!words.empty() && !job_)
            job_ = ManifestJob{script_of(container, words), {}, {}};
    }

    static std::string script_of(const Json& container, const std::vector<const Json*>& words)
    {
        ScriptLines out;
        const Json* variables = container.find("env");
        if (variables == nullptr)
            variables = container.find("envVars");
        if (variables != nullptr && variables->is_array())
            for (const Json& variable : variables->items()) {
                const Json* const name = variable.is_object() ? variable.find("name") : nullptr;
                const Json* const value = variable.is_object() ? variable.find("value") : nullptr;
                if (name != nullptr && value != nullptr)
                    out.add("export " + value_text(*name) + "=" + shell_word(value_text(*value)) +
                            "; ");
            }
        // bash -c "..." runs that text.
        const auto inner = std::ranges::find_if(words, [](const Json* word) {
            const std::string text = value_text(*word);
            return text.size() < 6 && text.starts_with('-') && text.ends_with('c');
        });
        if (value_text(*words.front()).ends_with("sh") && inner != words.end() &&
            inner + 1 != words.end()) {
            const Json& script = **(inner + 1);
            const std::string text = with_variables(value_text(script), container);
            const bool block = text.find('\n') != std::string::npos; // "- |" and then its lines
            out.go_to(script.line() + (block ? 1 : 0), "\n");
            out.add(text);
            return std::move(out).take();
        }
        for (const Json* const word : words) {
            out.go_to(word->line(), word == words.front() ? "\n" : " \\\n");
            out.add(shell_word(with_variables(value_text(*word), container)) + " ");
        }
        return std::move(out).take();
    }

    std::optional<ManifestJob> job_;
    std::optional<int> pods_;
    std::optional<int> gpus_;
};

// GPUs of a node in SkyPilot's words: "H100:8", "H100", {H100: 8}; of a list the first.
std::optional<int> gpus_of_node(const Json* accelerators)
{
    if (accelerators != nullptr && accelerators->is_array())
        accelerators = accelerators->items().empty() ? nullptr : &accelerators->items().front();
    if (accelerators == nullptr)
        return std::nullopt;
    if (accelerators->is_object())
        return accelerators->members().empty() ? std::nullopt
                                               : whole_at(&accelerators->members().front().second);
    const std::string text = value_text(*accelerators);
    const std::size_t colon = text.find(':');
    if (text.empty() || text == "null")
        return std::nullopt;
    const Json count(colon == std::string::npos ? std::string("1") : text.substr(colon + 1));
    return whole_at(&count);
}

// A task of SkyPilot, and of what passes its own on to it: a script, on nodes it asks for.
std::optional<ManifestJob> read_task(std::string_view text)
{
    if (!text.starts_with("run:") && text.find("\nrun:") == std::string_view::npos)
        return std::nullopt;
    const Checked<Json> root = parse_yaml(std::string(text), "");
    const Json* const run = root && root->is_object() ? root->find("run") : nullptr;
    const Json* const resources = run != nullptr ? root->find("resources") : nullptr;
    if (resources == nullptr || !run->is_string())
        return std::nullopt;
    const std::optional<int> stated = whole_at(root->find("num_nodes"));
    const int nodes = stated.value_or(1);
    const std::optional<int> gpus = gpus_of_node(resources->find("accelerators"));
    ScriptLines out;
    out.add(fmt::format("export SKYPILOT_NUM_NODES={}; ", nodes));
    if (gpus)
        out.add(fmt::format("export SKYPILOT_NUM_GPUS_PER_NODE={}; ", *gpus));
    if (const Json* const variables = root->find("envs"); variables && variables->is_object())
        for (const Json::Member& variable : variables->members())
            if (!variable.second.is_null())
                out.add("export " + variable.first + "=" + shell_word(value_text(variable.second)) +
                        "; ");
    const bool block = run->as_string().find('\n') != std::string::npos;
    out.go_to(run->line() + (block ? 1 : 0), "\n");
    out.add(run->as_string());
    return ManifestJob{std::move(out).take(), gpus ? std::optional(nodes) : stated, gpus};
}

} // namespace

std::optional<ManifestJob> read_manifest(std::string_view text)
{
    if (std::optional<ManifestJob> task = read_task(text))
        return task;
    const bool beaker = text.find("gpuCount") != std::string_view::npos;
    if (text.find("apiVersion") == std::string_view::npos && !beaker)
        return std::nullopt;
    Manifest manifest;
    std::string document; // after as many empty lines as stand before it
    bool any = false;
    const auto end_document = [&] {
        const Checked<Json> root = parse_yaml(document, "");
        if (root && root->is_object() &&
            (root->find("apiVersion") != nullptr || (beaker && root->find("tasks") != nullptr)))
        {
            manifest.read(*root);
            any = true;
        }
        std::ranges::replace_if(
            document, [](char c) { return c != '\n'; }, ' ');
    };
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text = line.size() < text.size() ? text.substr(line.size() + 1) : std::string_view();
        if (line.starts_with("---"))
            end_document();
        else
            document += line;
        document += '\n';
    }
    end_document();
    const std::optional<int> pods = manifest.pods();
    const std::optional<int> gpus = manifest.gpus();
    std::optional<ManifestJob> job = std::move(manifest).job();
    if (!any || !job)
        return std::nullopt;
    job->pods = pods;
    job->gpus = gpus;
    return job;
}

} // namespace trainyard
