#include "sim/study/sweep_space.h"

#include "sim/base/random.h"
#include "sim/base/words.h"
#include "sim/study/inputs.h"
#include "sim/study/placement.h"
#include "sim/study/problems.h"
#include "sim/topology/read_topology.h"
#include "sim/topology/used_devices.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

enum : std::size_t { tp, cp, pp, dp, micro_batch, global_batch, size_count };

constexpr std::array<std::string_view, size_count> size_fields{
    "strategy.tp", "strategy.cp",          "strategy.pp",
    "strategy.dp", "training.micro_batch", "training.global_batch"};

std::array<std::int64_t, size_count> sizes_of(const Scenario& scenario)
{
    const Strategy& s = scenario.strategy;
    return {s.tp,
            s.cp,
            s.pp,
            s.dp.value_or(0),
            scenario.training.micro_batch,
            scenario.training.global_batch};
}

// "null" and what is no whole number: left to the rest.
std::int64_t size_from(const std::string& text)
{
    return to_number<std::int64_t>(text).value_or(0);
}

} // namespace

namespace {

// Of the cluster, as far as the strategy uses it.
Checked<std::shared_ptr<const Topology>> used_cluster(const ScenarioFile& file)
{
    const Checked<Input> topology = find_input(file.scenario.topology, InputKind::topology, file);
    if (!topology)
        return tl::unexpected(topology.error());
    Checked<Topology> cluster = read_topology(topology->json, topology->file);
    if (!cluster)
        return tl::unexpected(std::move(cluster.error()));
    return used_part(std::make_shared<const Topology>(std::move(*cluster)), file.scenario.strategy);
}

Checked<int> used_devices(const ScenarioFile& file)
{
    return used_cluster(file).map([](const auto& used) { return used->device_count(); });
}

} // namespace

Checked<SweepFacts> sweep_facts(const ScenarioFile& file)
{
    const Checked<std::shared_ptr<const Topology>> cluster = used_cluster(file);
    const Checked<Input> model = find_input(file.scenario.model, InputKind::model, file);
    Problems problems;
    const Checked<Model> read =
        model ? read_model(model->json, model->file) : tl::unexpected(model.error());
    if (!cluster)
        append(problems, cluster.error());
    if (!read)
        append(problems, read.error());
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    SweepFacts facts;
    facts.devices = (*cluster)->device_count();
    facts.devices_per_node = largest_domain(**cluster);
    if (const auto* const transformer = std::get_if<Transformer>(&read->architecture)) {
        facts.layers = transformer->layers;
        facts.heads = transformer->heads;
        if (transformer->moe) {
            facts.experts = transformer->moe->experts;
            facts.leading_dense_layers = transformer->moe->leading_dense_layers;
        }
    }
    facts.sequence_length = file.scenario.training.sequence_length;
    facts.global_batch = file.scenario.training.global_batch;
    return facts;
}

bool decides_devices(std::string_view field)
{
    constexpr std::string_view fields =
        "topology topology.nodes topology.node topology.node.preset topology.node.gpus "
        "strategy.gpus_per_domain";
    return has_word(fields, field);
}

SizeRule::SizeRule(const SweepGrid& grid, const ScenarioFile& base, int devices) : devices_{devices}
{
    std::size_t stride = grid.points();
    for (std::size_t a = 0; a < grid.axes.size(); ++a) {
        counts_.push_back(grid.axes[a].values.size());
        stride /= grid.axes[a].values.size();
        strides_.push_back(stride);
        if (decides_devices(grid.axes[a].field))
            device_axes_.push_back(a);
    }
    const std::array<std::int64_t, size_count> own = sizes_of(base.scenario);
    for (std::size_t size = 0; size < size_count; ++size) {
        sizes_.push_back({std::nullopt, {own[size]}, 1});
        for (std::size_t a = 0; a < grid.axes.size(); ++a)
            if (grid.axes[a].field == size_fields[size]) {
                sizes_[size] = {a, {}, strides_[a]};
                for (const std::string& value : grid.axes[a].values)
                    sizes_[size].values.push_back(size_from(value));
            }
    }
    if (!device_axes_.empty())
        count_devices(grid, base);
}

void SizeRule::count_devices(const SweepGrid& grid, const ScenarioFile& base)
{
    SweepGrid clusters;
    for (const std::size_t axis : device_axes_)
        clusters.axes.push_back(grid.axes[axis]);
    devices_.assign(std::min(clusters.points(), most_clusters), 0);
    if (clusters.points() > most_clusters)
        return;
    for (std::size_t i = 0; i < devices_.size(); ++i)
        if (const Checked<ScenarioFile> file =
                scenario_from(base.json, base.file, clusters.point(i)))
            if (const Checked<int> devices = used_devices(*file))
                devices_[i] = *devices;
}

std::int64_t SizeRule::devices_at(std::size_t index) const
{
    std::size_t cluster = 0;
    for (const std::size_t axis : device_axes_)
        cluster = cluster * counts_[axis] + index / strides_[axis] % counts_[axis];
    return cluster < devices_.size() ? devices_[cluster] : 0;
}

std::int64_t SizeRule::value_of(std::size_t size, std::size_t index) const
{
    const Size& known = sizes_[size];
    return known.values[index / known.stride % known.values.size()];
}

bool SizeRule::allows(std::size_t index) const
{
    const std::int64_t devices = devices_at(index);
    if (devices == 0)
        return true;
    // A double holds the product of any three ints well enough to compare it.
    const double replica = 1.0 * static_cast<double>(value_of(tp, index)) *
                           static_cast<double>(value_of(cp, index)) *
                           static_cast<double>(value_of(pp, index));
    if (replica < 1 || replica > static_cast<double>(devices))
        return false;
    const auto ranks = static_cast<std::int64_t>(replica);
    std::int64_t replicas = value_of(dp, index);
    if (replicas == 0) {
        if (devices % ranks != 0)
            return false;
        replicas = devices / ranks;
    }
    if (replicas > devices / ranks)
        return false;
    const std::int64_t samples = value_of(micro_batch, index) * replicas;
    return samples > 0 && value_of(global_batch, index) % samples == 0;
}

std::size_t SizeRule::count() const
{
    std::vector<std::size_t> axes = device_axes_; // that the rule looks at
    for (const Size& size : sizes_)
        if (size.axis)
            axes.push_back(*size.axis);
    std::size_t combinations = 1;
    std::size_t others = 1;
    for (std::size_t a = 0; a < counts_.size(); ++a)
        (std::ranges::find(axes, a) != axes.end() ? combinations : others) *= counts_[a];
    std::size_t allowed = 0;
    for (std::size_t i = 0; i < combinations; ++i) {
        std::size_t index = 0;
        std::size_t rest = i;
        for (const std::size_t axis : axes) {
            index += rest % counts_[axis] * strides_[axis];
            rest /= counts_[axis];
        }
        allowed += allows(index) ? 1 : 0;
    }
    return allowed * others;
}

std::vector<std::size_t> SizeRule::points() const
{
    std::size_t all = 1;
    for (const std::size_t count : counts_)
        all *= count;
    std::vector<std::size_t> out;
    for (std::size_t index = 0; index < all; ++index)
        if (allows(index))
            out.push_back(index);
    Random random(1);
    for (std::size_t i = out.size(); i > 1; --i)
        std::swap(out[i - 1], out[random.bits() % i]);
    return out;
}

} // namespace trainyard
