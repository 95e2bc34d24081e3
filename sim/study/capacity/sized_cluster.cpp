#include "sim/study/capacity/sized_cluster.h"

#include "sim/base/units.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/software_choice.h"
#include "sim/study/jobs/first_training.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/problems.h"
#include "sim/study/search/nearest_batches.h"
#include "sim/study/search/points.h"
#include "sim/study/session.h"
#include "sim/topology/used_devices.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

Problems of_question(std::string_view field, std::string message, std::string hint)
{
    return placed(one_problem(std::move(message), std::move(hint)), field);
}

tl::expected<Json, std::string> topology_of(const ClusterKind& kind, int nodes)
{
    if (!kind.gpu.empty()) {
        tl::expected<UsualMachine, std::string> machine =
            usual_machine(kind.gpu, nodes, kind.gpus_per_node);
        if (!machine)
            return tl::unexpected(machine.error());
        return std::move(machine->topology);
    }
    Json topology = kind.topology;
    topology["nodes"] = nodes;
    return topology;
}

// Nobody named one.
std::string software_reason(const std::string& framework)
{
    return fmt::format("software.framework {}: usual; without a version its class is {}, that of "
                       "software.version 0.14 {}",
                       framework, software_class_for(framework, "").name,
                       software_class_for(framework, "0.14").name);
}

// A model on a cluster, with what it trains with whatever the layout.
Checked<ScenarioFile> base_scenario(const CapacityRequest& request, const ClusterKind& kind,
                                    int nodes, std::vector<std::string>& reasons)
{
    tl::expected<Json, std::string> machine = topology_of(kind, nodes);
    if (!machine)
        return tl::unexpected(one_problem(machine.error(), ""));
    const Source topology{{}, std::move(*machine)};
    if (request.scenario) {
        Scenario scenario = request.scenario->scenario;
        scenario.topology = topology;
        scenario.strategy.gpus_per_domain = 0;
        return scenario_in_memory(std::move(scenario), request.scenario->base,
                                  request.scenario->file);
    }
    StartRequest start;
    start.model = request.model;
    start.topology = topology;
    start.folder = request.folder;
    start.sequence_length = request.sequence_length;
    if (request.batch)
        start.global_batch = 1; // fitted later
    const Checked<Parts> parts = start_parts(start);
    if (!parts)
        return tl::unexpected(parts.error());
    FirstTraining first = first_training(start, *parts);
    reasons = std::move(first.reasons);
    Scenario scenario = std::move(first.scenario);
    scenario.software.framework = "megatron-core";
    reasons.push_back(software_reason(scenario.software.framework));
    scenario.strategy.zero = 1;
    scenario.strategy.dp = 1;
    return scenario_in_memory(std::move(scenario), request.folder, "the planned scenario");
}

// 1 where a model takes samples.
std::int64_t tokens_of_sequence(const Model& model, const Training& training)
{
    const bool counts_tokens = std::get_if<Transformer>(&model.architecture) != nullptr;
    return counts_tokens ? std::max<std::int64_t>(1, training.sequence_length) : 1;
}

// Sizes of the batch that many numbers of replicas divide: the largest and the smallest of the
// range, and one between.
std::vector<std::int64_t> fitted_batches(const TokenRange& range, std::int64_t sequence, int gpus)
{
    const double tokens = static_cast<double>(std::max<std::int64_t>(1, sequence));
    const auto least = static_cast<std::int64_t>(std::ceil(range.least / tokens));
    const auto most = static_cast<std::int64_t>(range.most / tokens);
    if (range.least == range.most && range.least >= tokens && range.most < 1e18)
        return {batch_near(range.least / tokens, gpus, 0.05)};
    if (range.most > 1e18 || least > most || most < 1)
        return {};
    std::int64_t unit = gpus;
    while (unit > 1 && (gpus % unit != 0 || most / unit * unit < std::max<std::int64_t>(1, least)))
        --unit;
    std::vector<std::int64_t> out;
    const auto add = [&](std::int64_t batch) {
        if (batch >= std::max<std::int64_t>(1, least) && batch <= most &&
            std::ranges::find(out, batch) == out.end())
            out.push_back(batch);
    };
    for (const std::int64_t wanted :
         {least,
          static_cast<std::int64_t>(
              std::sqrt(1.0 * static_cast<double>(least) * static_cast<double>(most))),
          most})
    {
        const std::int64_t up = (wanted + unit - 1) / unit * unit;
        add(up > most ? most / unit * unit : up);
    }
    // Replicas may be of two or four devices: nearer to the most that is asked for.
    for (const std::int64_t devices : {2, 4})
        if (unit % devices == 0)
            add(most / (unit / devices) * (unit / devices));
    return out;
}

Checked<SearchSpace> space_of(const CapacityRequest& request, SearchBase& base)
{
    Training& training = base.file.scenario.training;
    std::vector<std::int64_t> batches{training.global_batch};
    if (request.batch)
        batches = fitted_batches(*request.batch, tokens_of_sequence(base.facts.model, training),
                                 base.facts.devices);
    else if (!request.scenario)
        batches = {fitted_batch(training.global_batch, base.facts.devices)};
    if (batches.empty())
        return tl::unexpected(of_question(
            "/batch",
            fmt::format("no number of sequences of {} tokens has {} to {} tokens",
                        training.sequence_length, to_display_count(request.batch->least),
                        to_display_count(request.batch->most)),
            "4M..16M, or shorter sequences"));
    training.global_batch = batches.back();
    SearchSpace space = usual_space(base.file.scenario, base.facts);
    space.global_batches = batches;
    Problems problems;
    for (const SweepAxis& axis : request.axes)
        append(problems, restrict(space, axis));
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return space;
}

Seconds pace_of(const RankedLayout& layout)
{
    return per_sequence(layout.step_time, layout.choice);
}

// One way to use the cluster's devices.
struct Variant {
    SearchBase base;
    SearchResult result;
};

class Sizing {
public:
    Sizing(const CapacityRequest& request, const ClusterKind& kind, int nodes, Session& session)
        : request_(request), kind_(kind), session_(session)
    {
        sized_.nodes = nodes;
        sized_.gpus = nodes * kind.gpus_per_node;
    }

    SizedCluster run() &&
    {
        const Checked<ScenarioFile> file =
            base_scenario(request_, kind_, sized_.nodes, sized_.reasons);
        if (!file) {
            sized_.problems = file.error();
            return std::move(sized_);
        }
        std::optional<Variant> best = searched(*file);
        if (best) {
            const int even = even_part(best->base.facts.domain);
            Scenario scenario = file->scenario;
            scenario.strategy.gpus_per_domain = even;
            if (even != best->base.facts.domain && !sized_.unproven)
                if (std::optional<Variant> other =
                        searched(scenario_in_memory(std::move(scenario), file->base, file->file));
                    other && !other->result.best.empty() &&
                    (best->result.best.empty() ||
                     pace_of(other->result.best.front()) < pace_of(best->result.best.front())))
                    best = std::move(other);
            take(*best);
        }
        return std::move(sized_);
    }

private:
    std::optional<Variant> searched(const ScenarioFile& file)
    {
        Checked<SearchBase> base = search_base(file);
        Checked<SearchSpace> space =
            base ? space_of(request_, *base) : tl::unexpected(base.error());
        if (!space) {
            if (sized_.problems.empty())
                sized_.problems = space.error();
            return std::nullopt;
        }
        SearchRequest search_request;
        search_request.space = std::move(*space);
        search_request.top = 1;
        search_request.headroom = request_.headroom;
        search_request.tolerance = request_.tolerance;
        search_request.threads = request_.threads;
        search_request.work = request_.work;
        search_request.listener = request_.listener.search;
        SearchResult result = search(*base, search_request, session_);
        if (const double gap = result.gap(); gap > 0) // interrupted: what was found is kept
            sized_.unproven = std::max(sized_.unproven.value_or(0), gap);
        sized_.points += result.points;
        sized_.simulated += result.simulated;
        return Variant{std::move(*base), std::move(result)};
    }

    void take(const Variant& best)
    {
        if (best.result.best.empty()) {
            if (best.result.nearest)
                sized_.least_memory = best.result.nearest->memory;
            return;
        }
        sized_.scenario = kept_scenario(best.result.best.front().choice, best.base);
        if (!request_.batch && !request_.scenario)
            sized_.reasons.push_back(
                batch_reason(best.base.facts.model, sized_.scenario->training));
        sized_.outcome = std::move(outcomes_of(best.result, best.base, session_).front());
        WholeTrainingRequest whole = with_step_of(*sized_.outcome, request_.training);
        whole.gpus = sized_.gpus; // idle ones are paid, too
        whole.gpus_per_node = kind_.gpus_per_node;
        whole.prices = kind_.prices;
        if (whole.tokens == 0)
            whole.tokens = tokens_within(whole);
        const Checked<WholeTraining> training = whole_training(whole);
        if (training)
            sized_.training = *training;
        else
            sized_.problems = training.error();
    }

    const CapacityRequest& request_;
    const ClusterKind& kind_;
    Session& session_;
    SizedCluster sized_;
};

// What no size of the cluster changes: the model, the space, contradictions in the training.
Problems problems_of(const CapacityRequest& request, const ClusterKind& kind)
{
    std::vector<std::string> reasons;
    const Checked<ScenarioFile> file =
        base_scenario(request, kind, kind.nodes.value_or(1), reasons);
    Checked<SearchBase> base = file ? search_base(*file) : tl::unexpected(file.error());
    if (!base)
        return base.error();
    if (const Checked<SearchSpace> space = space_of(request, *base); !space)
        return space.error();
    WholeTrainingRequest whole = request.training;
    whole.step_time = Seconds(1);
    whole.batch_tokens = 1;
    whole.prices = kind.prices;
    whole.tokens = std::max(1.0, whole.tokens);
    return problems_of(whole);
}

} // namespace

std::string unpriced_text(const CapacityRequest& request)
{
    std::vector<std::string> names;
    for (const ClusterKind& kind : request.clusters)
        if (!kind.has_price())
            names.push_back(kind.name);
    return names.empty() ? ""
                         : fmt::format("{} {} no price", fmt::join(names, ", "),
                                       names.size() > 1 ? "have" : "has");
}

Problems problems_of(const CapacityRequest& request)
{
    const bool priced = std::ranges::all_of(request.clusters, &ClusterKind::has_price);
    if (request.clusters.empty())
        return of_question("/clusters", "there is no cluster to plan", "h100, or 256xh100 of them");
    if (request.batch && std::ranges::any_of(request.axes, [](const SweepAxis& axis) {
            return axis.field == "training.global_batch";
        }))
        return of_question("/batch", "values of training.global_batch say the batch, too",
                           "one of them");
    const bool about_cost =
        std::ranges::find(request.objectives, Objective::cost) != request.objectives.end();
    if (!priced && (request.training.budget || about_cost))
        return of_question(
            "/prices",
            fmt::format("{} the price of every cluster; {}",
                        request.training.budget ? "a budget needs" : "a front of cost needs",
                        unpriced_text(request)),
            "h100=2.5/h, or 2.5/h for all of them");
    if (!request.has_goal() && !request.scaling && !request.guide)
        return of_question("/tokens", "without tokens, a deadline and a budget there is no goal",
                           "2T; or a deadline (30d), for the most tokens by then; for the best "
                           "step alone the layouts of a scenario");
    for (const auto& [field, range] :
         {std::pair("/scaling", request.scaling), std::pair("/guide", request.guide)})
        for (const ClusterKind& kind : request.clusters)
            if (range && sizes_within(range, kind).empty())
                return of_question(
                    field,
                    fmt::format("no cluster of whole nodes of {} GPUs ({}) has {} to {}",
                                kind.gpus_per_node, kind.name, range->least, range->most),
                    fmt::format("{}..{}", kind.gpus_per_node, 16 * kind.gpus_per_node));
    if (request.batch && (request.batch->least <= 0 || request.batch->most < request.batch->least))
        return of_question("/batch",
                           fmt::format("a batch of {} to {} tokens is no range",
                                       to_display_count(request.batch->least),
                                       to_display_count(request.batch->most)),
                           "4M..16M");
    if (request.training.deadline && request.training.deadline->value() <= 0)
        return of_question("/within", "no training ends at once", "30d");
    for (const ClusterKind& kind : request.clusters)
        if (Problems problems = problems_of(request, kind); !problems.empty())
            return problems;
    return {};
}

WholeTrainingRequest with_step_of(const Outcome& outcome, WholeTrainingRequest request)
{
    const Training& training = outcome.job.training;
    const Model& model = outcome.job.model;
    request.batch_tokens =
        static_cast<double>(training.global_batch * tokens_of_sequence(model, training));
    if (std::get_if<Transformer>(&model.architecture) == nullptr)
        request.unit = "samples";
    request.step_time = outcome.step_time.value;
    request.step_time_low = outcome.step_time.low;
    request.step_time_high = outcome.step_time.high;
    request.device = outcome.cost->profile().hardware.device.name;
    request.gpus = outcome.job.world();
    const Topology& topology = *outcome.topology; // of the devices that are used
    request.gpus_per_node = std::max(1, topology.device_count() / topology.node_count());
    request.parameters = count_parameters(model).total;
    return request;
}

int next_size(int nodes)
{
    int size = 1;
    while (size <= nodes)
        size *= 2;
    return size / 4 * 3 > nodes && size >= 4 ? size / 4 * 3 : size;
}

std::vector<ClusterSize> sizes_within(const std::optional<GpuRange>& range, const ClusterKind& kind)
{
    std::vector<ClusterSize> out;
    if (!range)
        return out;
    const int per_node = kind.gpus_per_node;
    ClusterKind part = kind;
    for (part.gpus_per_node = 1; part.gpus_per_node < per_node; part.gpus_per_node *= 2)
        if (!kind.gpu.empty() && per_node % part.gpus_per_node == 0 &&
            part.gpus_per_node >= range->least && part.gpus_per_node <= range->most)
            out.push_back({part, 1});
    const int first = (range->least + per_node - 1) / per_node;
    const int last = range->most / per_node;
    std::set<int> nodes;
    const auto add_powers = [&](int factor) {
        for (std::int64_t count = factor; count <= last; count *= 2)
            if (count >= first)
                nodes.insert(static_cast<int>(count));
    };
    add_powers(1);
    if (out.size() + nodes.size() < 2)
        add_powers(3);
    if (out.size() + nodes.size() < 2 && first <= last)
        nodes.insert({first, last});
    for (const int count : nodes)
        out.push_back({kind, count});
    return out;
}

namespace {

Checked<SearchBase> any_base(const CapacityRequest& request, const ClusterKind& kind)
{
    std::vector<std::string> reasons;
    const Checked<ScenarioFile> file =
        base_scenario(request, kind, kind.nodes.value_or(1), reasons);
    return file ? search_base(*file) : tl::unexpected(file.error());
}

} // namespace

std::optional<Model> model_of(const CapacityRequest& request, const ClusterKind& kind)
{
    Checked<SearchBase> base = any_base(request, kind);
    return base ? std::optional(std::move(base->facts.model)) : std::nullopt;
}

std::optional<Bytes> device_capacity(const CapacityRequest& request, const ClusterKind& kind)
{
    const Checked<SearchBase> base = any_base(request, kind);
    const Bytes capacity = base ? capacity_of(*base) : Bytes(0);
    return capacity > Bytes(0) ? std::optional(capacity) : std::nullopt;
}

SizedCluster sized_cluster(const CapacityRequest& request, const ClusterKind& kind, int nodes,
                           Session& session)
{
    return Sizing(request, kind, nodes, session).run();
}

double least_devices(const CapacityRequest& request, const ClusterKind& kind)
{
    const Checked<SearchBase> base = any_base(request, kind);
    if (!base)
        return 0;
    const Training& training = base->file.scenario.training;
    const std::int64_t sequence = tokens_of_sequence(base->facts.model, training);
    const double sequences = request.training.tokens / static_cast<double>(sequence);
    const Flops each = model_flops_per_sequence(base->facts.model, sequence);
    const Device& device = base->parts.cost->profile().hardware.device;
    const FlopRate peak = std::max(usual_peak(device),
                                   device.peak.at(executed_precision(training.precision, device)));
    return sequences * each.value() / peak.value() / request.training.deadline->value();
}

double tokens_within(const WholeTrainingRequest& training)
{
    const auto allows = [&](double tokens) {
        WholeTrainingRequest request = training;
        request.tokens = tokens;
        const Checked<WholeTraining> whole = whole_training(request);
        return whole && whole->meets_deadline() && whole->meets_budget();
    };
    double low = training.batch_tokens; // one step
    if (!allows(low))
        return 0;
    double high = low;
    while (high < 1e18 && allows(high))
        high *= 2;
    for (int i = 0; i < 40; ++i) {
        const double middle = (low + high) / 2;
        (allows(middle) ? low : high) = middle;
    }
    return low;
}

} // namespace trainyard
