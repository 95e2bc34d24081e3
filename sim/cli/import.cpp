#include "calibrate/import/read_node.h"
#include "calibrate/import/read_pairs.h"
#include "calibrate/import/read_sweeps.h"
#include "calibrate/import/recognise.h"
#include "calibrate/import/sweep_collection.h"
#include "sim/base/build_info.h"
#include "sim/base/field_values.h"
#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/import_trace.h"
#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"
#include "sim/study/jobs/job_verdict.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr std::string_view trace_kind = "trace";
constexpr std::size_t most_bytes = std::size_t{256} << 20;

struct ImportOptions {
    std::vector<std::string> words; // [kind] file
    std::string output;
    std::string collective;
    std::string device;
    int ranks = 0;
    int nodes = 0;
    std::string csv;
    int scale_to = 0;
    std::string against;
    std::string trace;
    std::string html;
    int which = 1;
    bool json = false;
    JobQuestion job;
};

// What came of a file, as each kind is printed and written.
struct Imported {
    ImportNotes notes;
    std::string content_name; // member of the JSON output
    Json content;             // the file that -o writes
};

Checked<Imported> import_sweeps(const std::string& text, const std::string& file,
                                const ImportOptions& options)
{
    SweepHints hints;
    if (options.ranks > 0)
        hints.ranks = options.ranks;
    if (options.nodes > 0)
        hints.nodes = options.nodes;
    if (!options.collective.empty())
        hints.collective = collective_named(options.collective);
    return read_sweeps(text, file, hints).map([](const ImportedSweeps& imported) {
        return Imported{imported.notes, "sweeps", to_json(imported.sweeps)};
    });
}

Checked<Imported> import_pairs(const std::string& text, const std::string& file)
{
    return read_pairs(text, file).map([](const ImportedPairs& imported) {
        return Imported{imported.notes, "pairs", to_json(imported.matrices)};
    });
}

Checked<Imported> import_topology(const std::string& text, const std::string& file,
                                  const ImportOptions& options)
{
    return read_node_topology(text, file, {options.device, options.which})
        .map([](const ImportedTopology& imported) {
            return Imported{imported.notes, "topology", imported.json};
        });
}

Checked<Imported> import_as(ImportKind kind, const std::string& text, const std::string& file,
                            const ImportOptions& options)
{
    switch (kind) {
    case ImportKind::nccl_tests:
        return import_sweeps(text, file, options);
    case ImportKind::nvbandwidth:
    case ImportKind::p2p:
        return import_pairs(text, file);
    case ImportKind::topology:
        return import_topology(text, file, options);
    }
    return tl::make_unexpected(Problems{});
}

// Who made the file from what: in the member that its kind has for it.
void add_provenance(Imported& imported, const std::string& file, const std::string& text)
{
    const std::string by = fmt::format("imported by trainyard {} from {} (hash {:016x})", version(),
                                       file, content_hash(text));
    imported.content["source"] = by;
}

int refuse_file(const std::string& file, std::string message, std::string hint)
{
    print_problems(Problems{{file, 0, "", std::move(message), std::move(hint), Severity::error}},
                   "nothing was imported.");
    return exit_invalid_input;
}

void print_result(const Imported& imported, ImportKind kind, const ImportOptions& options)
{
    if (!options.json) {
        print_data(describe(imported.notes));
        return;
    }
    Json out = Json::object();
    out["kind"] = name_of(kind);
    out["notes"] = to_json(imported.notes);
    out[imported.content_name] = imported.content;
    print_data(to_text(out) + "\n");
}

JobQuestion job_options(const ImportOptions& options)
{
    JobQuestion out = options.job;
    out.nodes = options.nodes;
    return out;
}

std::vector<std::string> kinds_to_import()
{
    std::vector<std::string> names = import_kind_names();
    names.emplace_back(trace_kind);
    for (std::string& name : FieldValue<JobKind>::names())
        names.push_back(std::move(name));
    return names;
}

// An option that says nothing of a trace, as it is called; or none.
std::optional<std::string_view> useless_for_traces(const ImportOptions& options)
{
    if (!options.job.changes.empty() && options.against.empty())
        return "--set without --against";
    if (!options.job.model.empty())
        return "--model";
    if (!options.job.definitions.empty())
        return "--define";
    if (options.nodes > 0)
        return "--nodes";
    if (options.ranks > 0)
        return "--ranks";
    if (!options.collective.empty())
        return "--collective";
    if (!options.device.empty())
        return "--device";
    if (!options.csv.empty())
        return "--csv";
    return std::nullopt;
}

int run_import(const ImportOptions& options)
{
    if (!options.trace.empty() && options.against.empty())
        return refuse_file(options.trace, "would hold one step alone", "add --against SCENARIO");
    if (options.words.size() > 1 && options.words.front() == trace_kind) {
        if (const auto useless = useless_for_traces(options))
            return refuse_file(options.words[1],
                               fmt::format("is a trace, of which {} says nothing", *useless),
                               "leave it out");
        return import_trace_files({{{options.words.begin() + 1, options.words.end()},
                                    options.job.topology,
                                    options.job.gpu,
                                    options.job.gpus_per_node,
                                    options.scale_to,
                                    options.against,
                                    options.job.changes,
                                    {}},
                                   options.output,
                                   options.trace,
                                   options.html,
                                   options.json});
    }
    if (options.scale_to > 0 || !options.against.empty() || !options.html.empty())
        return refuse_file(options.words.back(),
                           fmt::format("is not read as a trace, which --{} is for",
                                       options.scale_to > 0       ? "scale-to"
                                       : !options.against.empty() ? "against"
                                                                  : "html"),
                           "trainyard import trace FILE ...");
    if (options.words.size() > 2)
        return refuse_file(options.words[2], "is one file too many",
                           "one file at a time; traces of several ranks: trainyard import trace "
                           "FILE ...");
    const std::string& file = options.words.back();
    std::optional<ImportKind> kind;
    std::optional<JobKind> job_kind;
    std::vector<ImportKind> others;
    if (options.words.size() == 2) {
        kind = import_kind_named(options.words.front());
        job_kind = from_name<JobKind>(options.words.front());
        if (!kind && !job_kind)
            return refuse_file(options.words.front(), "is no kind of import",
                               suggestion(options.words.front(), kinds_to_import()));
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
        if (options.words.size() == 2 || !options.output.empty())
            return refuse_file(file, "is a folder: the verdict of each file is printed",
                               "without a kind and without -o; --csv FILE writes a table");
        return import_job_folder(file, job_options(options), options.json, options.csv);
    }
    if (!options.csv.empty())
        return refuse_file(file, "is one file: --csv is for a folder", "leave --csv out");
    const std::string text = read_file(file, most_bytes);
    if (is_compressed(text))
        return refuse_file(file, "is compressed",
                           "unpack it first: gunzip; a profiler's trace is read as it is: "
                           "trainyard import trace FILE");
    const bool sought = !kind && !job_kind;
    if (sought && recognise_import(text).empty())
        job_kind = recognise_job(text);
    if (const auto why = kind ? std::nullopt : why_no_job(text); why && (sought || !job_kind))
        return refuse_file(file, *why,
                           job_kind ? "a kind before it reads it as if it trained: trainyard "
                                      "import megatron FILE"
                                    : "");
    if (job_kind)
        return import_job_file({*job_kind, file, text, options.output, options.json},
                               job_options(options));
    if (!kind) {
        others = recognise_import(text);
        if (others.empty())
            return refuse_file(
                file, "nothing in it was recognised",
                "wanted: nccl-tests, nvbandwidth, p2pBandwidthLatencyTest, nvidia-smi "
                "topo -m or NCCL topology XML; or a job of Megatron-LM, DeepSpeed, "
                "torchtitan or torchrun, or a recipe of NeMo, Megatron-Bridge, Primus, nanotron, "
                "GPT-NeoX, LLaMA-Factory, axolotl, Oumi, torchtune, LLM Foundry or Hugging Face's "
                "Trainer");
        kind = others.front();
        others.erase(others.begin());
    }
    Checked<Imported> imported = import_as(*kind, text, file, options);
    if (!imported)
        return refuse(imported.error(), "nothing was imported.");
    for (const ImportKind other : others)
        add_note(imported->notes.ignored, fmt::format("it holds {} too (trainyard import {} ...)",
                                                      name_of(other), name_of(other)));
    add_provenance(*imported, file, text);
    if (!options.output.empty())
        write_file(options.output, to_text(imported->content) + "\n");
    print_result(*imported, *kind, options);
    return exit_ok;
}

std::string check_collective(const std::string& name)
{
    return collective_named(name) ? "" : "is no collective: " + name;
}

} // namespace

void add_import(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand(
        "import", "Read measurements (nccl-tests, nvbandwidth, p2p, topo), a job of "
                  "Megatron-LM, DeepSpeed, torchtitan or torchrun, or traces of a job that ran");
    auto options = std::make_shared<ImportOptions>();
    sub->add_option(
           "file", options->words,
           "the file, or a folder of jobs; before it, where it is not to be recognised, its kind: "
           "nccl-tests, nvbandwidth, p2p, topo, megatron, deepspeed, torchtitan, torchrun or trace "
           "(of PyTorch's profiler, of Nsight Systems as "
           "SQLite, or an execution trace; one file of each rank)")
        ->required()
        ->expected(1, -1)
        ->type_name("[KIND] FILE|FOLDER");
    sub->add_option("-o,--output", options->output, "write what was imported")->type_name("FILE");
    sub->add_flag("--json", options->json, "print notes and content as JSON");
    sub->add_option("--csv", options->csv, "of a folder: write one line per file")
        ->type_name("FILE");
    sub->add_option("--ranks", options->ranks, "ranks of the sweeps, where the log does not say")
        ->check(CLI::Range(1, 1'000'000));
    sub->add_option("--nodes", options->nodes, "nodes of the sweeps, or of the job")
        ->check(CLI::Range(1, 1'000'000));
    sub->add_option("--collective", options->collective, "collective of the sweeps")
        ->check(check_collective)
        ->type_name("NAME");
    sub->add_option("--device", options->device,
                    "GPU model of a topology: a key of the device constants")
        ->type_name("MODEL");
    sub->add_option("--nth", options->which, "which of several topologies in one text")
        ->check(CLI::PositiveNumber);
    add_job_options(*sub, options->job);
    sub->add_option("--define", options->job.definitions,
                    "a variable of a script that is set elsewhere; repeatable")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    sub->add_option("--set", options->job.changes,
                    "change a field of a job's scenario, or of --against; repeatable")
        ->type_name("FIELD=VALUE")
        ->allow_extra_args(false);
    sub->add_option("--scale-to", options->scale_to,
                    "of traces: what a step would take on so many ranks, the work of each the same")
        ->check(CLI::Range(2, 10'000'000))
        ->type_name("RANKS");
    sub->add_option("--against", options->against,
                    "of traces: a scenario of the same job, simulated and shown beside")
        ->type_name("SCENARIO");
    sub->add_option("--trace", options->trace,
                    "write that step and the recorded one as one trace, for Perfetto")
        ->type_name("FILE");
    sub->add_option("--html", options->html,
                    "of traces: write all of it as one page that needs no network")
        ->type_name("FILE");
    sub->footer("Example: trainyard import all_reduce.log -o sweeps.json\n"
                "         trainyard import topo nvidia-smi-topo.txt -o node.json\n"
                "         trainyard import megatron pretrain.sh --gpu h100 --nodes 8 -o mine.json\n"
                "         trainyard import my-jobs/ --gpu h100\n"
                "         trainyard import trace rank*.json.gz -o run.json --scale-to 1024");
    sub->callback([&chosen, options] { chosen = [options] { return run_import(*options); }; });
}

} // namespace trainyard
