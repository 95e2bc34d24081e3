#include "sim/api/imported_job.h"

#include "sim/api/scenarios.h"
#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/study/jobs/job_verdict.h"
#include "sim/study/problems.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr std::size_t longest_job = std::size_t{256} << 20;

} // namespace

Checked<JobImportOptions> settled_job_options(const JobQuestion& question,
                                              const std::filesystem::path& folder)
{
    Problems problems;
    JobImportOptions out;
    out.folder = folder;
    if (!question.model.empty())
        out.model = source_from(question.model, out.folder);
    if (!question.topology.empty())
        out.cluster.topology = source_from(question.topology, out.folder);
    out.cluster.gpu = question.gpu;
    if (question.gpus_per_node > 0)
        out.cluster.gpus_per_node = question.gpus_per_node;
    if (question.nodes > 0)
        out.cluster.nodes = question.nodes;
    for (const std::string& definition : question.definitions) {
        const std::size_t equals = definition.find('=');
        if (equals == std::string::npos || equals == 0)
            problems.push_back({fmt::format("--define {}", definition), 0, "", "no name and value",
                                "write NAME=VALUE", Severity::error});
        else
            out.defined[definition.substr(0, equals)] = definition.substr(equals + 1);
    }
    if (auto changes = parse_changes(question.changes))
        out.changes = std::move(*changes);
    else
        append(problems, changes.error());
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return out;
}

Checked<ImportedJob> read_job_file(const std::string& file, std::optional<JobKind> kind,
                                   const JobQuestion& question, const std::filesystem::path& folder)
{
    const auto refused = [&](std::string message, std::string hint) {
        return rejected(file, std::move(message), std::move(hint));
    };
    const std::string text = read_file(file, longest_job);
    if (!kind) {
        if (const auto why = why_no_job(text))
            return refused(*why, "");
        kind = recognise_job(text);
    }
    if (!kind)
        return refused("nothing in it was recognised as a job",
                       "say its kind: megatron, deepspeed, torchtitan or torchrun");
    const Checked<JobImportOptions> options = settled_job_options(question, folder);
    if (!options)
        return tl::unexpected(options.error());
    StageMemos memos;
    return import_job(*kind, text, file, *options, memos);
}

Json described_scenario(const ImportedJob& job, const std::string& file, const std::string& text)
{
    Json out = job.scenario.json;
    const std::string by = fmt::format("Imported by trainyard {} from {} (hash {:016x}).",
                                       version(), file, content_hash(text));
    Json described = Json::object();
    for (Json::Member& member : out.members()) {
        if (member.first == "description")
            continue;
        described[member.first] = std::move(member.second);
        if (member.first == "format")
            described["description"] = by;
    }
    return described;
}

} // namespace trainyard
