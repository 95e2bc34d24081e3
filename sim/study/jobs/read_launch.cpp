// Jobs given as scripts: the launch, and the reader of what it starts.

#include "sim/base/words.h"
#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/launch_program.h"
#include "sim/study/jobs/manifest.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/recipes/dialect.h"
#include "sim/study/jobs/recipes/read_recipe.h"
#include "sim/study/problems.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace trainyard {
namespace {

// Variables that libraries read; a script's own are not taken over.
constexpr std::array<std::string_view, 9> library_prefixes{
    "NCCL_", "CUDA_", "TORCH_NCCL_", "PYTORCH_", "NVTE_", "OMP_", "UCX_", "NVSHMEM_", "GLOO_"};

// Whether a block of code in Markdown, by the words behind its mark, is of a shell.
bool is_shell_block(std::string_view mark)
{
    constexpr std::array<std::string_view, 6> shells{"", "bash", "sh", "shell", "console", "zsh"};
    mark = mark.substr(0, mark.find_first_of(" \t\r\n{"));
    return std::find(shells.begin(), shells.end(), mark) != shells.end();
}

// The code of a page in Markdown, lines where they are; any other text as it is. Between blocks
// stands a command that starts nothing, so that none goes on in the next.
std::string code_of(const std::string& text)
{
    constexpr std::string_view fence = "```";
    if (!text.starts_with(fence) && text.find("\n```") == std::string::npos)
        return text;
    std::string out;
    bool inside = false;
    bool shell = false;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
        const std::string_view line = std::string_view(text).substr(from, end - from);
        const std::string_view words =
            line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
        const bool mark = words.starts_with(fence);
        if (mark && !inside)
            shell = is_shell_block(words.substr(fence.size()));
        out += inside && shell && !mark ? line
               : mark && inside         ? std::string_view("echo\n")
                                        : std::string_view("\n");
        inside = inside != mark;
        from = end;
    }
    return out;
}

// A way out, and the parts of the script that may have had it.
std::string with_left_out(std::string hint, const JobDraft& draft)
{
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, draft.left_out.size()); ++i)
        hint += "; " + draft.left_out[i];
    return hint;
}

void take_size(std::optional<int>& size, const std::optional<LaunchSize>& stated,
               std::string_view what, JobDraft& draft)
{
    if (!stated)
        return;
    size = stated->value;
    draft.understand({stated->line, fmt::format("{} {}", stated->value, what)}, "the launch");
}

// Ranks and GPUs of all nodes, a GPU for each: as many nodes as they make, or GPUs of each. Where
// neither is stated, accelerate has one machine, and MPI as many nodes of 8 as it needs.
void take_ranks(const Launch& launch, JobDraft& draft)
{
    const std::optional<LaunchSize>& stated = launch.ranks ? launch.ranks : launch.gpus;
    JobSize& size = draft.size;
    if (!stated || (size.nodes && size.gpus_per_node))
        return;
    constexpr int usual = 8;
    const std::string what =
        fmt::format("{} {}", stated->value, launch.ranks ? "ranks" : "GPUs of all nodes");
    const bool one = launch.launcher.ends_with("accelerate") || stated->value <= usual;
    if (!size.nodes && !size.gpus_per_node && !one) {
        if (stated->value % usual != 0)
            return draft.flag({stated->line, what}, "on how many nodes is not stated");
        size.gpus_per_node = usual;
        draft.assume({stated->line, what}, fmt::format("{} on each node", usual));
    } else if (!size.nodes && !size.gpus_per_node)
        size.nodes = 1;
    std::optional<int>& open = size.nodes ? size.gpus_per_node : size.nodes;
    const int known = size.nodes ? *size.nodes : *size.gpus_per_node;
    if (stated->value % known != 0)
        return;
    open = stated->value / known;
    draft.understand({stated->line, what},
                     fmt::format("{} nodes of {} GPUs", *size.nodes, *size.gpus_per_node));
}

// "worker-1 slots=4", a line for each host.
void take_hosts(const Launch& launch, JobContext& context)
{
    JobDraft& draft = context.draft;
    const std::string& path = launch.hosts.text;
    const std::optional<std::string> text =
        path.empty() || draft.size.nodes ? std::nullopt : context.beside(path);
    if (!text)
        return;
    int hosts = 0;
    int slots = 0;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        line = line.substr(0, line.find('#'));
        constexpr std::string_view key = "slots=";
        const std::size_t at = line.find(key);
        if (line.find_first_not_of(" \t\r") == std::string::npos)
            continue;
        ++hosts;
        slots = at == std::string::npos ? 0 : std::atoi(line.c_str() + at + key.size());
    }
    if (hosts < 1 || hosts > 1'000'000)
        return;
    draft.size.nodes = hosts;
    if (slots >= 1 && slots <= 1'000'000 && !draft.size.gpus_per_node)
        draft.size.gpus_per_node = slots;
    draft.understand({launch.hosts.line(), path}, fmt::format("{} hosts", hosts));
}

// What the launch leaves open, the pods of its manifest say.
void take_pods(const ManifestJob& manifest, JobDraft& draft)
{
    if (!draft.size.gpus_per_node && manifest.gpus) {
        draft.size.gpus_per_node = manifest.gpus;
        draft.understand({0, fmt::format("{} GPUs of each pod", *manifest.gpus)}, "the manifest");
    }
    if (!draft.size.nodes && manifest.pods) {
        draft.size.nodes = manifest.pods;
        draft.understand({0, fmt::format("{} pods with GPUs, a node each", *manifest.pods)},
                         "the manifest");
    }
}

void take_environment(const Launch& launch, JobDraft& draft)
{
    for (const auto& [name, value] : launch.environment) {
        const bool library = std::any_of(
            library_prefixes.begin(), library_prefixes.end(),
            [&name = name](std::string_view prefix) { return name.starts_with(prefix); });
        const Origin origin{value.line(), fmt::format("{}={}", name, value.text)};
        if (!library)
            draft.ignore(origin, "no variable of a library");
        else if (has_unknown(value.text))
            draft.flag(fmt::format("line {}: {}={}: not known here, left out", value.line(), name,
                                   value.text));
        else
            draft.scenario.environment[name] = value.text;
    }
}

// Launchers of their own take their sizes from the environment.
void take_variable_size(const std::string& name, const Launch& launch, JobDraft& draft)
{
    const auto found = launch.environment.find(name);
    const bool own = launch.launcher == "megatron" || launch.launcher == "swift" ||
                     launch.launcher == "llamafactory-cli" || launch.launcher.empty();
    std::optional<int>& size = name == "NNODES" ? draft.size.nodes : draft.size.gpus_per_node;
    if (!own || found == launch.environment.end() || size)
        return;
    const std::string& text = found->second.text;
    if (has_unknown(text))
        return draft.flag({found->second.line(), fmt::format("{}={}", name, text)},
                          "is no number known here");
    if (const auto count = to_number<int>(text); count && *count >= 1 && *count <= 1'000'000) {
        size = *count;
        draft.understand({found->second.line(), fmt::format("{}={}", name, text)}, "the launch");
    }
}

// A program that Python starts without a launcher, in a world of one, has one GPU.
void take_lone_process(const Launch& launch, const ShellScript& script, JobDraft& draft)
{
    const auto found = script.variables.find("WORLD_SIZE");
    if (!launch.launcher.empty() || launch.program.empty() || draft.size.nodes ||
        draft.size.gpus_per_node || found == script.variables.end() ||
        found->second.values.size() != 1 || found->second.values.front().text != "1")
        return;
    draft.size.nodes = 1;
    draft.size.gpus_per_node = 1;
    draft.understand({found->second.values.front().line(), "WORLD_SIZE=1"}, "the launch");
}

// Commands in prose are examples.
bool is_prose(std::string_view file)
{
    constexpr std::array<std::string_view, 4> endings = {".md", ".markdown", ".rst", ".html"};
    return std::ranges::any_of(endings,
                               [&](std::string_view ending) { return file.ends_with(ending); });
}

// The script as far as its text tells what runs. Where nothing of that starts a job, what is not
// known to run is taken to, if that does.
Checked<ShellScript> script_with_launch(const std::string& text, JobContext& context)
{
    const TracedText code = traced(code_of(text));
    const auto read = [&](auto reader) {
        return reader(code, context.draft.file(), context.options.defined,
                      [&](const std::string& path) { return context.beside(path); });
    };
    Checked<ShellScript> script = read(read_shell);
    if (!script || find_launch(*script) || is_prose(context.draft.file()))
        return script;
    Checked<ShellScript> doubtful = read(read_doubtful_shell);
    return doubtful && find_launch(*doubtful) ? std::move(doubtful) : std::move(script);
}

} // namespace

bool starts_nothing(const std::string& text)
{
    if (text.size() > longest_script || is_tree(text) || read_manifest(text))
        return false;
    const Checked<ShellScript> script = read_shell(traced(code_of(text)), "", {});
    return script && script->skipped.empty() && script->too_deep == 0 && !find_launch(*script);
}

bool starts_a_script(std::string_view text)
{
    if (text.size() > longest_script)
        return false;
    const Checked<ShellScript> script = read_shell(traced(code_of(std::string(text))), "", {});
    const std::optional<Launch> launch = script ? find_launch(*script) : std::nullopt;
    constexpr std::array<std::string_view, 4> endings{"bash", "sh", ".py", ".sbatch"};
    return launch && std::ranges::any_of(endings, [&](std::string_view ending) {
               return launch->program.ends_with(ending);
           });
}

std::optional<Launch> read_launch(const std::string& given, JobContext& context)
{
    const std::optional<ManifestJob> manifest = read_manifest(given);
    const std::string& text = manifest ? manifest->script : given;
    JobDraft& draft = context.draft;
    if (text.size() > longest_script) {
        draft.refuse({}, "is too long for a script", "at most 1 MiB");
        return std::nullopt;
    }
    const Checked<ShellScript> script = script_with_launch(text, context);
    if (!script) {
        append(draft.problems, script.error());
        return std::nullopt;
    }
    for (const std::string& skipped : script->skipped)
        add_note(draft.notes.ignored, skipped);
    for (const std::string& doubtful : script->doubtful)
        draft.flag(doubtful);
    draft.left_out = script->skipped;
    for (const std::string& assumed : script->assumed)
        draft.assume(assumed);
    if (!script->shown_call.text.empty())
        draft.assume(fmt::format("arguments of the script as line {} shows its call: {}",
                                 script->shown_call.line(), script->shown_call.text));
    context.written = script->files;
    std::optional<Launch> launch = find_launch(*script);
    if (!launch && script->too_deep > 0) {
        draft.problems.push_back({draft.file(), script->too_deep, "",
                                  "expansions are nested too deeply to be read",
                                  "give the launch line with the values put in", Severity::error});
        return std::nullopt;
    }
    if (!launch) {
        std::string hint =
            "wanted: torchrun, srun, deepspeed or python with a program, or a list of arguments";
        for (const std::string& skipped : script->skipped)
            hint += fmt::format("; {}", skipped);
        draft.refuse({}, "no line of it starts a training program", hint);
        return std::nullopt;
    }
    context.written.insert(launch->files.begin(), launch->files.end());
    for (const std::string& ignored : launch->ignored)
        add_note(draft.notes.ignored, ignored + ": of the launcher");
    for (const std::string& unknown : launch->unknown)
        draft.flag(unknown);
    take_size(draft.size.nodes, launch->nodes, "nodes", draft);
    take_size(draft.size.gpus_per_node, launch->gpus_per_node, "GPUs a node", draft);
    if (launch->launcher.ends_with("torchrun") && !launch->gpus_per_node && !launch->gpus &&
        !launch->ranks && !launch->gpus_unknown)
        draft.assume("torchrun is told no --nproc-per-node and would start one process on each "
                     "node; taken as meant for all GPUs of a node");
    take_hosts(*launch, context);
    take_ranks(*launch, draft);
    if (manifest)
        take_pods(*manifest, draft);
    for (const char* const name : {"NNODES", "NPROC_PER_NODE"})
        take_variable_size(name, *launch, draft);
    take_lone_process(*launch, *script, draft);
    if (launch->cut)
        draft.flag(
            fmt::format("line {}: a comment among its continued lines ends the launch there; "
                        "the arguments below are taken as meant",
                        launch->line));
    if (!launch->others.empty())
        draft.assume(fmt::format("the launch of line {}; the script has others on lines {}",
                                 launch->line, fmt::join(launch->others, ", ")));
    take_environment(*launch, draft);
    return launch;
}

void read_megatron_job(const std::string& text, JobContext& context)
{
    JobDraft& draft = context.draft;
    if (is_tree(text) && !read_manifest(text)) {
        read_recipe(text, context);
        return;
    }
    const std::optional<Launch> launch = read_launch(text, context);
    if (!launch)
        return;
    Arguments arguments(launch->arguments);
    add_dotted_settings(*launch, arguments, context);
    // Primus: a script of its own reads the recipe in EXP, over which the arguments are said.
    if (const auto named = launch->environment.find("EXP");
        named != launch->environment.end() && !arguments.contains("--model"))
    {
        if (read_recipe_at(named->second.text, *launch, context))
            return;
        draft.flag(fmt::format("the settings of {} are not read: all that the arguments do not say "
                               "is as Megatron-LM has it",
                               named->second.text));
        arguments.add({"--model", {named->second.text}, named->second.line()});
    }
    if (read_hydra_recipe(*launch, arguments, context))
        return;
    if (!arguments.contains("--num-layers") && !draft.unread_settings.why.empty())
        return require_model(context, "the arguments");
    const RecipeDialect* const own = dialect_of_launch(launch->launcher, launch->program);
    const bool of_trainer = (own != nullptr && own->words == RecipeWords::trainer) ||
                            arguments.contains("--model-name-or-path") ||
                            arguments.contains("--per-device-train-batch-size");
    const bool of_core = own != nullptr && own->words == RecipeWords::megatron;
    const bool named = megatron_names(arguments) > 0 || of_core;
    if (!named && of_trainer)
        read_program(*launch, context); // a page that names both
    else if (!named)
        draft.refuse({launch->line, ""}, "none of Megatron-LM's arguments is in it",
                     with_left_out("e.g. --num-layers, --tensor-model-parallel-size", draft));
    else
        read_megatron_program(*launch, arguments, context);
}

void read_torchrun_job(const std::string& text, JobContext& context)
{
    if (is_tree(text) && !read_manifest(text))
        read_recipe(text, context);
    else if (const std::optional<Launch> launch = read_launch(text, context))
        read_program(*launch, context);
}

} // namespace trainyard
