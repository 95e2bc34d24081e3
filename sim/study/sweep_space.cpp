#include "sim/study/sweep_space.h"

#include "sim/base/random.h"
#include "sim/study/inputs.h"
#include "sim/study/placement.h"
#include "sim/study/problems.h"
#include "sim/topology/read_topology.h"
#include "sim/topology/used_devices.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

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
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

} // namespace

Checked<SweepFacts> sweep_facts(const ScenarioFile& file)
{
    const Checked<Input> topology = find_input(file.scenario.topology, InputKind::topology, file);
    const Checked<Input> model = find_input(file.scenario.model, InputKind::model, file);
    Problems problems;
    const Checked<Topology> cluster =
        topology ? read_topology(topology->json, topology->file) : tl::unexpected(topology.error());
    const Checked<Model> read =
        model ? read_model(model->json, model->file) : tl::unexpected(model.error());
    if (!cluster)
        append(problems, cluster.error());
    if (!read)
        append(problems, read.error());
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    SweepFacts facts;
    const auto used = used_part(std::make_shared<const Topology>(*cluster), file.scenario.strategy);
    facts.devices = used->device_count();
    facts.devices_per_node = largest_domain(*used);
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

SizeRule::SizeRule(const SweepGrid& grid, const ScenarioFile& base, int devices) : devices_(devices)
{
    std::size_t stride = grid.points();
    std::vector<std::size_t> strides;
    for (const SweepAxis& axis : grid.axes) {
        counts_.push_back(axis.values.size());
        stride /= axis.values.size();
        strides.push_back(stride);
    }
    const std::array<std::int64_t, size_count> own = sizes_of(base.scenario);
    for (std::size_t size = 0; size < size_count; ++size) {
        sizes_.push_back({std::nullopt, {own[size]}, 1});
        for (std::size_t a = 0; a < grid.axes.size(); ++a)
            if (grid.axes[a].field == size_fields[size]) {
                sizes_[size] = {a, {}, strides[a]};
                for (const std::string& value : grid.axes[a].values)
                    sizes_[size].values.push_back(size_from(value));
            }
    }
}

std::int64_t SizeRule::value_of(std::size_t size, std::size_t index) const
{
    const Size& known = sizes_[size];
    return known.values[index / known.stride % known.values.size()];
}

bool SizeRule::allows(std::size_t index) const
{
    // A double holds the product of any three ints well enough to compare it.
    const double replica = 1.0 * static_cast<double>(value_of(tp, index)) *
                           static_cast<double>(value_of(cp, index)) *
                           static_cast<double>(value_of(pp, index));
    if (replica < 1 || replica > static_cast<double>(devices_))
        return false;
    const auto ranks = static_cast<std::int64_t>(replica);
    std::int64_t replicas = value_of(dp, index);
    if (replicas == 0) {
        if (devices_ % ranks != 0)
            return false;
        replicas = devices_ / ranks;
    }
    if (replicas > devices_ / ranks)
        return false;
    const std::int64_t samples = value_of(micro_batch, index) * replicas;
    return samples > 0 && value_of(global_batch, index) % samples == 0;
}

std::size_t SizeRule::count() const
{
    std::vector<std::size_t> choice(sizes_.size(), 0);
    std::size_t allowed = 0;
    for (bool more = true; more;) {
        std::size_t index = 0;
        for (std::size_t s = 0; s < sizes_.size(); ++s)
            index += choice[s] * (sizes_[s].axis ? sizes_[s].stride : 0);
        allowed += allows(index) ? 1 : 0;
        more = false;
        for (std::size_t s = 0; s < sizes_.size() && !more; ++s) {
            choice[s] = (choice[s] + 1) % sizes_[s].values.size();
            more = choice[s] != 0;
        }
    }
    for (std::size_t a = 0; a < counts_.size(); ++a)
        if (std::ranges::none_of(sizes_, [&](const Size& size) { return size.axis == a; }))
            allowed *= counts_[a];
    return allowed;
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
