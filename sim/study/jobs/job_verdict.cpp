#include "sim/study/jobs/job_verdict.h"

#include "sim/base/files.h"
#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/recipes/read_recipe.h"
#include "sim/study/jobs/torch/torchtitan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace fs = std::filesystem;

template <>
std::vector<EnumName<JobFate>> enum_names<JobFate>()
{
    return {
        {JobFate::imported, "imported"}, {JobFate::no_job, "no job"}, {JobFate::failed, "failed"}};
}

namespace {

// "qwen2.5-7b, 2 x 8 GPUs, tp 2 x pp 2 x dp 4, batch 128 in passes of 1"
std::string in_a_line(const Job& job)
{
    const Strategy& s = job.strategy;
    std::string out = fmt::format("{}, {} GPUs", job.model.name, job.world());
    const auto add = [&out](std::string_view name, int size) {
        if (size > 1)
            out += fmt::format(", {} {}", name, size);
    };
    add("tp", s.tp);
    add("pp", s.pp);
    add("cp", s.cp);
    add("ep", s.ep);
    add("dp", s.dp.value_or(1));
    if (s.zero > 0)
        out += fmt::format(", zero {}", s.zero);
    return out + fmt::format(", batch {} in passes of {}, {} tokens", job.training.global_batch,
                             job.training.micro_batch, job.training.sequence_length);
}

// Outside lines that are comments.
bool stands_in_code(std::string_view text, std::string_view word)
{
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const std::size_t line = text.substr(0, at).rfind('\n') + 1; // npos + 1 is 0
        const std::size_t first = text.find_first_not_of(" \t", line);
        if (text[first] != '#')
            return true;
    }
    return false;
}

// Whether a line begins so.
bool has_line(std::string_view text, std::string_view begin)
{
    for (std::size_t at = text.find(begin); at != std::string_view::npos;
         at = text.find(begin, at + 1))
        if (at == 0 || text[at - 1] == '\n')
            return true;
    return false;
}

// Of programs in Python those alone are jobs that make configurations of torchtitan.
bool is_registry(const fs::path& file)
{
    try {
        const auto text = read_file_up_to(file, longest_script);
        return text && is_titan_python(*text);
    } catch (const WorldError&) {
        return false;
    }
}

bool may_hold_a_job(const fs::path& file)
{
    constexpr std::array<std::string_view, 13> endings{
        "",      ".sh",   ".bash", ".slurm", ".sbatch", ".sub",  ".pbs",
        ".qsub", ".yaml", ".yml",  ".json",  ".toml",   ".ipynb"};
    const std::string ending = file.extension().string();
    return std::find(endings.begin(), endings.end(), ending) != endings.end() ||
           (ending == ".py" && is_registry(file));
}

// What describes an installed package of Python: RECORD, METADATA, entry points.
bool describes_a_package(const fs::path& folder)
{
    const std::string ending = folder.extension().string();
    return ending == ".dist-info" || ending == ".egg-info";
}

} // namespace

std::optional<std::string> why_no_job(std::string_view text)
{
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return "is empty";
    constexpr std::size_t looked_at = 8192;
    if (text.substr(0, looked_at).find('\0') != std::string_view::npos)
        return "is no text";
    if (text.starts_with("Metadata-Version:"))
        return "describes a package of Python";
    if (has_line(text, "[build-system]") || has_line(text, "[project]"))
        return "describes a package of Python";
    if (has_line(text, "FROM ") && has_line(text, "RUN "))
        return "builds an image of a container";
    if (has("\"nbformat\""))
        return "is a notebook: save its launch as a script";
    // Reinforcement learning generates too.
    const bool trains =
        stands_in_code(text, "--train-iters") || stands_in_code(text, "--train-samples");
    for (const std::string_view word :
         {"--inference-", "--num-tokens-to-generate", "run_text_generation"})
        if (!trains && stands_in_code(text, word))
            return "is inference, not training";
    for (const std::string_view word : {"oumi evaluate", "oumi infer"})
        if (stands_in_code(text, word) && !stands_in_code(text, "oumi train"))
            return "is inference, not training";
    struct Unread {
        std::string_view mark;
        std::string_view why;
    };
    constexpr std::array unread{
        Unread{"MaxText", "is a job of MaxText, which is in JAX and not modelled"},
        Unread{"maxtext", "is a job of MaxText, which is in JAX and not modelled"},
        Unread{"levanter.main", "is a job of Levanter, which is in JAX and not modelled"},
        Unread{"import nemo_run",
               "is a recipe of NeMo in Python, which tells nothing until it runs"},
    };
    for (const Unread& one : unread)
        if (stands_in_code(text, one.mark) && !recognise_job(text))
            return std::string(one.why);
    if ((has_line(text, "compute_environment:") && has_line(text, "distributed_type:")) ||
        (has("\"compute_environment\"") && has("\"distributed_type\"")))
        return "is a configuration of accelerate: the script that names it is the job";
    if (is_recipe_of_no_training(text))
        return "is inference or a conversion, not training";
    return std::nullopt;
}

JobVerdict judge_job(const std::string& text, const std::string& file,
                     const JobImportOptions& options, StageMemos& memos)
{
    JobVerdict out;
    out.file = file;
    if (const auto why = why_no_job(text)) {
        out.what = *why;
        return out;
    }
    out.kind = recognise_job(text);
    if (!out.kind) {
        out.what = "nothing of a job was recognised";
        return out;
    }
    if (*out.kind == JobKind::torchrun && starts_nothing(text)) {
        out.what = "starts no training program";
        return out;
    }
    JobImportOptions alone = options;
    alone.model = {};
    Checked<ImportedJob> job = import_job(*out.kind, text, file, alone, memos);
    if (!job && options.model.given())
        job = import_job(*out.kind, text, file, options, memos);
    if (!job) {
        const Problems& problems = job.error();
        const auto first =
            std::find_if(problems.begin(), problems.end(), [](const Diagnostic& problem) {
                return problem.severity == Severity::error;
            });
        out.fate = JobFate::failed;
        if (first != problems.end()) {
            out.line = first->line;
            out.what = first->message;
            out.hint = first->hint;
        }
        return out;
    }
    out.fate = JobFate::imported;
    out.what = in_a_line(job->job);
    out.assumed = job->notes.assumed.size();
    out.flagged = job->notes.flagged.size();
    out.scenario = job->scenario.json;
    return out;
}

std::vector<std::string> files_of_jobs(const fs::path& folder)
{
    std::vector<std::string> out;
    std::error_code error;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied,
                                        error);
    for (; !error && it != fs::recursive_directory_iterator() && out.size() <= most_job_files;
         it.increment(error))
    {
        std::error_code ignored;
        const bool hidden = it->path().filename().string().starts_with('.');
        if (it->is_directory(ignored)) {
            if (hidden || describes_a_package(it->path()))
                it.disable_recursion_pending();
        } else if (!hidden && it->is_regular_file(ignored) && may_hold_a_job(it->path()))
            out.push_back(it->path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace trainyard
