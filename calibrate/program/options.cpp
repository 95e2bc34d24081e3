#include "calibrate/program/options.h"

#include "sim/base/build_info.h"
#include "sim/base/units.h"
#include "sim/cli/manual.h"
#include "sim/cli/usage.h"
#include "sim/cost/profile_library.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace trainyard {
namespace {

// As the command line words them, before they are understood.
struct OptionTexts {
    std::vector<std::string> only;
    std::vector<std::string> types;
    std::string min_size;
    std::string max_size;
};

const std::map<std::string, ElementType>& type_words()
{
    using enum ElementType;
    static const std::map<std::string, ElementType> words{
        {"bf16", bfloat16}, {"bfloat16", bfloat16}, {"fp16", float16},
        {"half", float16},  {"float16", float16},   {"fp32", float32},
        {"float", float32}, {"float32", float32},   {"uint8", uint8}};
    return words;
}

constexpr std::array timed_collectives{CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                       CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                       CollectiveKind::broadcast,      CollectiveKind::reduce,
                                       CollectiveKind::barrier};

// What --only takes.
std::vector<std::string> part_names()
{
    std::vector<std::string> out;
    for (const auto& entry : enum_names<PlanPart>())
        out.emplace_back(entry.name);
    for (const CollectiveKind kind : timed_collectives)
        out.emplace_back(to_name(kind));
    return out;
}

// Parts of the plan, or single collectives.
void take_only(const std::vector<std::string>& words, PlanOptions& plan)
{
    for (const std::string& word : words) {
        if (const auto part = from_name<PlanPart>(word)) {
            plan.parts.insert(*part);
        } else if (const auto kind = from_name<CollectiveKind>(word);
                   kind && std::find(timed_collectives.begin(), timed_collectives.end(), *kind) !=
                               timed_collectives.end())
        {
            plan.parts.insert(PlanPart::collectives);
            plan.collectives.push_back(*kind);
        } else {
            throw CLI::ValidationError(
                "--only", fmt::format("\"{}\" is no part of a calibration and no collective; {}",
                                      word, suggestion(word, part_names())));
        }
    }
}

void take_types(const std::vector<std::string>& words, PlanOptions& plan)
{
    for (const std::string& word : words) {
        const auto found = type_words().find(word);
        if (found == type_words().end())
            throw CLI::ValidationError(
                "--dtype",
                fmt::format("\"{}\" is no type that is timed; one of: bf16, fp16, fp32, uint8",
                            word));
        plan.types.push_back(found->second);
    }
}

void take_size(const char* option, const std::string& text, Bytes& out)
{
    if (text.empty())
        return;
    const auto size = parse_bytes(text);
    if (!size)
        throw CLI::ValidationError(option, fmt::format("\"{}\" is no size: write it with its "
                                                       "unit, as 64MiB",
                                                       text));
    out = *size;
}

void add_what(CLI::App& app, CalibrateOptions& options, OptionTexts& texts)
{
    app.add_flag("--quick", options.plan.quick,
                 "a minute or two: two groups, fewer sizes, wider intervals");
    app.add_option("--only", texts.only,
                   "parts (collectives, pairs, gemm, memory, launch, attention, overlap) or single "
                   "collectives, by commas")
        ->delimiter(',')
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("LIST");
    app.add_option("--dtype", texts.types, "elements of reductions: bf16, fp16, fp32, uint8")
        ->delimiter(',')
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("LIST");
    app.add_option("--min-size", texts.min_size, "of collectives (512 B)")->type_name("SIZE");
    app.add_option("--max-size", texts.max_size,
                   "of collectives (512 MiB; 64 MiB on CPUs and with --quick)")
        ->type_name("SIZE");
    app.add_flag("--algorithms", options.plan.forced,
                 "NCCL's algorithms and protocols one by one, beside its own choice");
    app.add_option("--trials", options.trials,
                   "batches of each point, instead of as many as precision needs")
        ->type_name("COUNT")
        ->check(CLI::Range(3, 10'000));
    app.add_option("--launches", options.launches, "how often ranks start anew (3; quick 1)")
        ->type_name("COUNT")
        ->check(CLI::Range(1, 100));
    app.add_option("--target", options.target,
                   "sizes are added where a curve misses by more than this share (0.05)")
        ->type_name("SHARE")
        ->check(CLI::Range(0.005, 1.0));
}

void add_where(CLI::App& app, CalibrateOptions& options)
{
    app.add_option("--backend", options.backend,
                   "nccl, mpi or gloo; else NCCL, where there are GPUs")
        ->type_name("NAME")
        ->check(CLI::IsMember({"nccl", "mpi", "gloo"}));
    app.add_flag("--backends", options.say_backends,
                 "measure nothing: say as JSON which back ends can measure on this host");
    app.add_option("-n,--ranks", options.ranks,
                   "ranks on this host (all GPUs; of CPUs the cores, at most 8)")
        ->type_name("COUNT")
        ->check(CLI::Range(1, 4096));
    app.add_option("--timeout", options.timeout,
                   "seconds until what should be done is given up (30)")
        ->type_name("SECONDS")
        ->check(CLI::Range(1.0, 3600.0));
    app.add_option("--seed", options.seed, "of the order of points")->type_name("NUMBER");
}

void add_output(CLI::App& app, CalibrateOptions& options)
{
    app.add_option("-o,--output", options.output, "write a profile, which scenarios may name")
        ->type_name("FILE");
    app.add_option("--topology", options.topology,
                   "write the topology there (else beside the profile)")
        ->type_name("FILE");
    app.add_option("--samples", options.samples,
                   "keep every sample there (else beside the profile; without -o none is kept)")
        ->type_name("FILE");
    app.add_option("--html", options.html, "write a report as one page with plots")
        ->type_name("FILE");
    app.add_option("--tuner", options.tuner,
                   "write a CSV for NCCL's tuner plugin (needs --algorithms)")
        ->type_name("FILE");
    app.add_option("--name", options.name, "of the profile; else that of its file")
        ->type_name("NAME");
    app.add_option("--device", options.device,
                   "the shipped GPU that the profile rests on (else as its driver names it)")
        ->type_name("NAME");
    app.add_option("--network", options.network,
                   "class of the network between nodes, for the profile")
        ->type_name("NAME");
    app.add_flag("--table", options.table,
                 "print what was measured, collectives as nccl-tests does (always without -o)");
    app.add_option("--check", options.check,
                   "compare this machine with a profile of it: what has changed, what is slow")
        ->type_name("FILE");
    app.add_option("--from", options.from,
                   "measure nothing: take the samples that another run left")
        ->type_name("FILE");
    for (const char* what : {"--only", "--dtype", "--min-size", "--max-size", "--trials",
                             "--launches", "--backend", "--ranks", "--samples"})
        app.get_option("--from")->excludes(app.get_option(what));
    app.add_flag("--rank", options.is_rank, "serve as one rank")->group("");
}

ParsedEnd usage_error(const std::string& what, const std::string& more = "")
{
    return {fmt::format("error: {}\n{}      trainyard calibrate --help shows what there is\n", what,
                        more),
            exit_usage};
}

void require_known(const char* option, const std::string& name,
                   const std::vector<std::string>& known)
{
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
        throw CLI::ValidationError(
            option, fmt::format("\"{}\" is not known; {}", name, suggestion(name, known)));
}

void settle(const OptionTexts& texts, CalibrateOptions& options)
{
    take_only(texts.only, options.plan);
    take_types(texts.types, options.plan);
    require_known("--device", options.device, known_devices());
    require_known("--network", options.network, known_networks());
    take_size("--min-size", texts.min_size, options.plan.min_size);
    const bool on_cpus = options.backend == "mpi" || options.backend == "gloo";
    if (options.plan.quick || on_cpus)
        options.plan.max_size = Bytes(std::uint64_t{64} << 20);
    take_size("--max-size", texts.max_size, options.plan.max_size);
    if (options.plan.min_size < Bytes(4) || options.plan.max_size < options.plan.min_size)
        throw CLI::ValidationError(
            "--min-size",
            fmt::format("sizes from {} to {} are none: at least 4 B, and the largest "
                        "not below the smallest",
                        to_text(options.plan.min_size), to_text(options.plan.max_size)));
    if (!options.tuner.empty())
        options.plan.forced = true;
    if (on_cpus && options.plan.forced)
        throw CLI::ValidationError("--algorithms",
                                   fmt::format("those of NCCL (and --tuner, which is made of "
                                               "them), not of --backend {}",
                                               options.backend));
    const std::set<PlanPart>& parts = options.plan.parts;
    if (on_cpus && !(options.device.empty() && options.network.empty()))
        throw CLI::ValidationError("--device",
                                   fmt::format("--device and --network are of GPUs, not "
                                               "of --backend {}",
                                               options.backend));
    if (on_cpus && !options.output.empty() && !parts.empty() &&
        !(parts.contains(PlanPart::gemm) && parts.contains(PlanPart::memory)))
        throw CLI::ValidationError("--only", "a profile (-o) of CPUs needs gemm and memory beside "
                                             "these");
    if (options.launches == 0)
        options.launches = options.plan.quick ? 1 : 3;
}

} // namespace

tl::expected<CalibrateOptions, ParsedEnd> parse_options(int argc, char** argv)
{
    CalibrateOptions out;
    OptionTexts texts;
    CLI::App app{"Measures collectives, pairs, kernels and their interference on this machine, and "
                 "writes a profile and a topology that simulations trust",
                 "trainyard calibrate"};
    app.set_version_flag("--version", std::string(version()));
    app.failure_message(CLI::FailureMessage::simple);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_what(app, out, texts);
    add_where(app, out);
    add_output(app, out);
    add_manual_option(app, app.get_name());
    app.footer("Example: trainyard calibrate --backend gloo -n 2 --quick -o my-box.json\n"
               "On several nodes: srun, mpirun or torchrun start the ranks, one per GPU.");
    try {
        app.parse(argc, argv);
        if (const std::string empty = empty_file_name(app); !empty.empty())
            return tl::unexpected(usage_error(
                fmt::format("the file name of {} is empty: is a variable unset?", empty)));
        settle(texts, out);
        return out;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0)
            return tl::unexpected(usage_error(error.what(), near_options(app, argc, argv)));
        std::ostringstream text;
        app.exit(error, text, text);
        return tl::unexpected(ParsedEnd{text.str(), exit_ok});
    }
}

std::optional<ParsedEnd> misfit(const CalibrateOptions& options, int ranks_launched)
{
    if (options.ranks == 0 || options.ranks == ranks_launched)
        return std::nullopt;
    return usage_error(fmt::format("-n {}, but the launcher started {} rank{}: leave out -n, or "
                                   "give it to the launcher",
                                   options.ranks, ranks_launched, ranks_launched == 1 ? "" : "s"));
}

} // namespace trainyard
