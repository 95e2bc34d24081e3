#include "sim/study/stages.h"

#include "sim/base/units.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/profile_library.h"
#include "sim/strategy/communicators.h"
#include "sim/strategy/group_options.h"
#include "sim/strategy/misfits.h"
#include "sim/strategy/rank_layout.h"
#include "sim/study/data_parallel_notes.h"
#include "sim/study/device_models.h"
#include "sim/study/environment.h"
#include "sim/study/idle_settings.h"
#include "sim/study/inputs.h"
#include "sim/study/job_hash.h"
#include "sim/study/placement.h"
#include "sim/study/problems.h"
#include "sim/topology/used_devices.h"
#include "sim/workload/model_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// A part that a file describes: from the memo, or read. Null with its problems added.
template <class T>
std::shared_ptr<const T> build_input(const Checked<Input>& input,
                                     Checked<T> (*read)(const Json&, const std::string&),
                                     Memo<T>& memo, Problems& problems)
{
    if (!input) {
        append(problems, input.error());
        return nullptr;
    }
    return memo.find_or_make(input->hash, [&]() -> std::optional<T> {
        Checked<T> value = read(input->json, input->file);
        if (value)
            return std::move(*value);
        append(problems, in_its_file(std::move(value.error()), *input));
        return std::nullopt;
    });
}

// The same of a cluster; its warnings come each time that it is asked for.
std::shared_ptr<const Topology> build_topology(const Checked<Input>& input,
                                               Memo<TopologyFile>& memo, Problems& problems)
{
    const std::shared_ptr<const TopologyFile> read =
        build_input<TopologyFile>(input, inspect_topology, memo, problems);
    if (!read)
        return nullptr;
    append(problems, in_its_file(read->warnings, *input));
    return {read, &read->topology};
}

// Perturbed links are a cluster of their own.
void add_perturbations(const Scenario& scenario, Parts& parts, Problems& problems)
{
    parts.sound = parts.topology;
    const Problems wrong =
        perturbation_problems(scenario.perturbations, parts.job, *parts.sound, scenario.run.steps);
    append(problems, wrong);
    if (has_errors(wrong))
        return;
    parts.topology = perturbed_topology(parts.sound, scenario.perturbations, scenario.run.seed);
    if (parts.topology != parts.sound)
        append(problems,
               partition_problems(scenario.perturbations, *parts.topology, parts.job.world()));
}

void check_precision(Precision precision, const Device& device, Problems& problems)
{
    const Precision executed = executed_precision(precision, device);
    if (executed != precision)
        problems.push_back({"", 0, "/training/precision",
                            fmt::format("{} has no units for {}", device.name, to_name(precision)),
                            fmt::format("its products are timed as {}", to_name(executed)),
                            Severity::warning});
}

void check_family(const Model& model, Problems& problems)
{
    if (!model.family_known)
        problems.push_back(
            {"", 0, "/model",
             fmt::format("the family of model \"{}\" is not known: its config is read "
                         "by what its keys are called",
                         model.name),
             "`trainyard model show` lists what is taken for granted", Severity::warning});
}

// Kernels whose times follow from bytes and operations alone, on any device.
bool has_unmeasured_kernels(const Model& model)
{
    const auto* transformer = std::get_if<Transformer>(&model.architecture);
    return transformer != nullptr &&
           std::ranges::any_of(layers_of(model), [&](const LayerKind& kind) {
               const LayerModel layer(*transformer, kind);
               return layer->is_recurrent() || layer->indexer || layer->key_compression > 1;
           });
}

// The loading with the constants that it names.
Checked<DataSource> find_data(const DataLoading& loading)
{
    Problems problems;
    Checked<StorageClass> storage = load_storage(loading.storage);
    Checked<HostClass> host = load_host(loading.host);
    if (!storage)
        append(problems, placed(storage.error(), "/data/storage"));
    if (!host)
        append(problems, placed(host.error(), "/data/host"));
    if (!problems.empty())
        return tl::unexpected(problems);
    return DataSource{loading, std::move(*storage), std::move(*host)};
}

Checked<Job> build_job(const ScenarioFile& file, const Parts& parts,
                       const EnvironmentEffects& effects)
{
    const Topology& topology = *parts.topology;
    JobRequest request;
    request.model = *parts.model;
    request.training = file.scenario.training;
    request.strategy = file.scenario.strategy;
    request.software = parts.cost->profile().software;
    request.devices = topology.device_count();
    request.gpus_per_node = largest_domain(topology);
    request.cuda_graphs =
        file.scenario.software.cuda_graphs && file.scenario.software.graphed_parts.empty();
    if (file.scenario.data) {
        Checked<DataSource> data = find_data(*file.scenario.data);
        if (!data)
            return tl::unexpected(data.error());
        request.data = std::move(*data);
    }
    request.launches = {effects.blocking_launches, effects.ordered_launches};
    Checked<Job> job = resolve(request);
    if (job && file.scenario.software.communicators == CommunicatorLife::every_iteration)
        job->communicator_creation =
            communicator_start(*job, parts.cost->profile().hardware.collectives).time;
    return job;
}

} // namespace

Checked<Parts> build_job_parts(const ScenarioFile& file, StageMemos& memos)
{
    Parts parts;
    Problems problems = file.warnings;
    append(problems, fidelity_notes(file.scenario));
    const auto refused = [&] {
        locate(problems, file);
        return tl::unexpected(std::move(problems));
    };
    std::shared_ptr<const CostPart> cost;
    const Checked<Input> topology = find_input(file.scenario.topology, InputKind::topology, file);
    const Checked<Input> model = find_input(file.scenario.model, InputKind::model, file);
    parts.topology = build_topology(topology, memos.topologies, problems);
    parts.model = build_input(model, read_model, memos.models, problems);
    if (parts.topology) {
        parts.topology_hash = topology->hash;
        cost = build_cost(file, *parts.topology, parts.topology_hash, memos.costs, problems);
        append(problems, placement_misfits(file.scenario.strategy, *parts.topology));
        parts.cluster_devices = parts.topology->device_count();
        parts.topology = used_part(parts.topology, file.scenario.strategy);
    } else
        append(problems, check_environment(file.scenario.environment));
    if (cost)
        append(problems, cost->warnings);
    if (!parts.topology || !parts.model || !cost)
        return refused();
    parts.model_hash = model->hash;
    parts.cost = cost->cost;
    parts.cost_hash = cost->hash;
    check_family(*parts.model, problems);
    check_precision(file.scenario.training.precision, parts.cost->profile().hardware.device,
                    problems);
    Checked<Job> job = build_job(file, parts, cost->effects);
    if (take(job, problems) != nullptr) {
        parts.job = std::move(*job);
        add_perturbations(file.scenario, parts, problems);
        append(problems, in_its_file(device_model_problems(*parts.topology,
                                                           parts.cost->profile().hardware.device,
                                                           parts.job.world(), *topology),
                                     *topology));
        append(problems, offload_misfits(parts.job, parts.cost->profile().hardware.device));
        append(problems, one_host_misfits(parts.job, *parts.topology));
    }
    if (job) {
        append(problems, idle_settings(file.scenario, parts.job));
        append(problems, group_notes(parts.job));
        append(problems, placement_notes(parts.job, *parts.topology));
        append(problems, idle_devices_note(parts.job, parts.cluster_devices));
    }
    if (has_errors(problems))
        return refused();
    parts.job_hash = hash_of(parts.job, parts.model_hash);
    locate(problems, file);
    parts.warnings = std::move(problems);
    return parts;
}

std::shared_ptr<const Plan> plan_of(const Parts& parts, StageMemos& memos)
{
    return memos.plans.find_or_make(parts.job_hash,
                                    [&] { return std::optional<Plan>(make_plan(parts.job)); });
}

void add_plan(Parts& parts, const ScenarioFile& file, StageMemos& memos)
{
    parts.plan = plan_of(parts, memos);
    parts.network = choose_fidelity(file.scenario, parts);
}

Checked<Parts> build_parts(const ScenarioFile& file, StageMemos& memos)
{
    Checked<Parts> parts = build_job_parts(file, memos);
    if (parts)
        add_plan(*parts, file, memos);
    return parts;
}

Problems fit_problems(const MemoryEstimate& memory)
{
    if (memory.fits())
        return {};
    const bool seen_by_allocator =
        memory.stages[static_cast<std::size_t>(memory.fullest_stage)].allocator.has_value();
    return {
        {"", 0, "",
         fmt::format("does not fit: stage {} needs {}{} more than the {} of a device",
                     memory.fullest_stage, seen_by_allocator ? "" : "at least ",
                     to_display(memory.peak() - memory.capacity), to_display(memory.capacity)),
         "more tensor or pipeline parallelism, a higher ZeRO stage, recomputation, or a smaller "
         "micro-batch",
         Severity::error}};
}

DeviceMemory device_memory(const Profile& profile)
{
    const Device& device = profile.hardware.device;
    // A CPU's library takes buffers of its caches' size, which are not counted.
    return {device.memory, device.context_memory, device.communicator_memory,
            device.is_cpu() ? Bytes(0) : device.library_memory};
}

namespace {

// Of the sweeps that time the job's data-parallel collectives; nothing where one has none.
std::optional<Grade> grade_of_sweeps(const CostModel& cost, const Job& job,
                                     const Topology& topology)
{
    std::vector<DeviceId> devices;
    for (const RankId rank : RankLayout(job).members(GroupKind::dp, RankId{0}))
        devices.push_back(DeviceId{rank.value});
    const GroupShape shape = group_shape(topology, devices);
    std::vector kinds{CollectiveKind::all_reduce};
    if (job.strategy.zero > 0)
        kinds = {CollectiveKind::reduce_scatter, CollectiveKind::all_gather};
    Grade worst = Grade::measured;
    for (const CollectiveKind kind : kinds) {
        const KnotTable* table =
            cost.knots_for(kind, shape, backend_of(job.strategy, GroupKind::dp));
        if (table == nullptr)
            return std::nullopt;
        worst = std::max(worst, table->grade);
    }
    return worst;
}

std::vector<std::string> decisive_products(const Hardware& hardware, const Job& job)
{
    const Device& device = hardware.device;
    const Precision asked =
        job.training.precision == Precision::fp8_block ? Precision::fp8 : job.training.precision;
    const Precision executed = executed_precision(asked, device);
    if (!device.gemm_surface.at(executed).empty())
        return {fmt::format("hardware.device.gemm_surface.{}", to_name(executed))};
    if (hardware.kernels.gemm_of(executed) != nullptr)
        return {fmt::format("hardware.device.under_load.gemm.{}", to_name(executed))};
    return {fmt::format("hardware.device.peak.{}", to_name(asked)),
            fmt::format("hardware.device.gemm_efficiency.{}", to_name(asked))};
}

} // namespace

Grade grade_of(const CostModel& cost, const Job& job, const Topology& topology)
{
    const Profile& profile = cost.profile();
    std::vector<std::string> decisive = decisive_products(profile.hardware, job);
    decisive.insert(decisive.end(),
                    {"hardware.device.hbm_bandwidth", "hardware.device.hbm_efficiency"});
    if (job.model.is_transformer())
        decisive.push_back("hardware.device.attention." +
                           std::string(to_name(job.software.kernels.attention)));
    const auto domain_of = [&](int rank) {
        return topology.device(make_id<DeviceId>(static_cast<std::size_t>(rank))).domain;
    };
    Grade worst = Grade::measured;
    if (!job.model.family_known || has_unmeasured_kernels(job.model))
        worst = Grade::extrapolated;
    const Backend library = backend_of(job.strategy, GroupKind::dp);
    if (job.world() > 1 && on_host(library)) {
        const std::optional<Grade> swept = grade_of_sweeps(cost, job, topology);
        worst = std::max(worst, swept.value_or(worst));
        if (!swept)
            decisive.push_back(library == Backend::gloo ? "hardware.gloo.max_per_communicator"
                                                        : "hardware.mpi.rate_inside");
    } else if (job.world() > 1) {
        decisive.insert(decisive.end(),
                        {"hardware.fabric.line_rate", "hardware.fabric.efficiency."});
        if (domain_of(0) != domain_of(job.world() - 1))
            decisive.insert(decisive.end(),
                            {"hardware.network.line_rate", "hardware.network.efficiency"});
    }
    for (const auto& [path, provenance] : provenance_of(profile))
        if (std::any_of(decisive.begin(), decisive.end(), [&path = path](const std::string& start) {
                return path.starts_with(start);
            }))
            worst = std::max(worst, provenance.grade);
    return worst;
}

double product_doubt_of(const CostModel& cost, const Job& job)
{
    double widest = 0;
    for (const std::string& start : decisive_products(cost.profile().hardware, job))
        for (const auto& [path, provenance] : provenance_of(cost.profile())) {
            const std::optional<double> low = magnitude(provenance.low);
            const std::optional<double> high = magnitude(provenance.high);
            if (path.starts_with(start) && low && high && *low > 0)
                widest = std::max(widest, std::log(*high / *low) / 2);
        }
    return widest;
}

} // namespace trainyard
