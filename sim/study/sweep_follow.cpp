#include "sim/study/sweep_follow.h"

#include "sim/study/inputs.h"
#include "sim/study/uneven_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>

namespace trainyard {
namespace {

constexpr std::string_view layers_field = "strategy.stage_layers";

bool sweeps(const SweepGrid& grid, std::string_view field)
{
    return std::ranges::find(grid.axes, field, &SweepAxis::field) != grid.axes.end();
}

bool sweeps_any(const SweepGrid& grid, std::span<const std::string_view> fields)
{
    return std::ranges::any_of(fields, [&](std::string_view field) { return sweeps(grid, field); });
}

constexpr std::array<std::string_view, 3> cut_sizes{"strategy.tp", "strategy.cp", "strategy.pp"};
constexpr std::array<std::string_view, 2> stage_counts{"strategy.pp", "strategy.vpp"};

bool any_cut_is_auto(const SweepGrid& grid)
{
    return std::ranges::any_of(grid.axes, [](const SweepAxis& axis) {
        return std::ranges::find(cut_sizes, axis.field) != cut_sizes.end() &&
               std::ranges::find(axis.values, auto_size) != axis.values.end();
    });
}

bool is_auto(const Override& change)
{
    return change.value == auto_size && may_be_auto(change.field);
}

Problems problem(std::string pointer, std::string message, std::string hint)
{
    return {{"", 0, std::move(pointer), std::move(message), std::move(hint), Severity::error}};
}

std::string list_text(const std::vector<int>& numbers)
{
    return fmt::format("[{}]", fmt::join(numbers, ","));
}

// The parallel sizes of a point while they are decided.
class SweptSizes {
public:
    SweptSizes(const Strategy& strategy, const SweepFacts& facts)
        : strategy_(strategy), facts_(facts)
    {}

    // Gives the size of `field` what the others leave, and says what. Requires may_be_auto(field).
    Checked<std::int64_t> follow(std::string_view field)
    {
        if (field == "strategy.ep")
            return most_expert_ranks();
        strategy_.dp = field == "strategy.dp" ? 1 : strategy_.dp.value_or(1);
        int& size = field == "strategy.tp"   ? strategy_.tp
                    : field == "strategy.cp" ? strategy_.cp
                    : field == "strategy.pp" ? strategy_.pp
                                             : *strategy_.dp;
        size = 1;
        const std::int64_t others = ranks(*strategy_.dp);
        if (others < 1 || facts_.devices % others != 0)
            return tl::unexpected(problem(
                fmt::format("/strategy/{}", field.substr(field.rfind('.') + 1)),
                fmt::format("auto: the other sizes, tp x cp x pp x dp = {} x {} x {} x {}, do not "
                            "divide the {} devices",
                            strategy_.tp, strategy_.cp, strategy_.pp, *strategy_.dp,
                            facts_.devices),
                "sizes whose product divides the devices"));
        size = static_cast<int>(facts_.devices / others);
        return size;
    }

    std::int64_t stages() const { return std::int64_t{strategy_.pp} * strategy_.vpp; }

    // The layers of each stage, as --set takes them: "null" where they are even, or cannot be.
    std::string stage_layers() const
    {
        const std::int64_t stages = this->stages();
        if (stages < 2 || stages > facts_.layers || facts_.layers % stages == 0)
            return "null";
        return list_text(
            uneven_stages(facts_.layers, static_cast<int>(stages), facts_.leading_dense_layers));
    }

    // Replicas, or nothing where the sizes leave no whole number.
    std::optional<std::int64_t> replicas() const
    {
        if (strategy_.dp)
            return *strategy_.dp;
        const std::int64_t others = ranks(1);
        return others >= 1 && facts_.devices % others == 0 ? std::optional(facts_.devices / others)
                                                           : std::nullopt;
    }

private:
    // Of dp replicas. More than there are devices: one more than those.
    std::int64_t ranks(int dp) const
    {
        std::int64_t product = 1;
        for (const int size : {strategy_.tp, strategy_.cp, strategy_.pp, dp})
            product = std::min<std::int64_t>(product * size, std::int64_t{facts_.devices} + 1);
        return product;
    }

    // The largest number of ranks that the experts spread over evenly: it divides them, and with
    // etp the ranks of a stage (tp x cp x dp).
    Checked<std::int64_t> most_expert_ranks() const
    {
        const std::optional<std::int64_t> dp = replicas();
        if (!dp || facts_.experts == 0)
            return 1;
        const std::int64_t stage = std::int64_t{strategy_.tp} * strategy_.cp * *dp;
        return stage % strategy_.etp == 0
                   ? std::gcd(std::int64_t{facts_.experts}, stage / strategy_.etp)
                   : 1;
    }

    Strategy strategy_;
    const SweepFacts& facts_;
};

// What a form takes where the size is not known yet.
std::vector<Override> without_auto(std::vector<Override> changes)
{
    for (Override& change : changes)
        if (is_auto(change))
            change.value =
                change.field == "strategy.dp" || change.field == layers_field ? "null" : "1";
    return changes;
}

// Sizes over the devices before those of the experts, and stages last: what follows from them.
int turn_of(const Override& change)
{
    return change.field == layers_field ? 2 : change.field == "strategy.ep" ? 1 : 0;
}

Problems decide_sizes(std::vector<Override>& changes, SweptSizes& sizes)
{
    std::vector<Override*> open;
    for (Override& change : changes)
        if (is_auto(change))
            open.push_back(&change);
    std::ranges::stable_sort(open, {}, [](const Override* change) { return turn_of(*change); });
    for (Override* const change : open) {
        if (change->field == layers_field) {
            change->value = sizes.stage_layers();
            continue;
        }
        const Checked<std::int64_t> size = sizes.follow(change->field);
        if (!size)
            return size.error();
        change->value = std::to_string(*size);
    }
    return {};
}

std::optional<MovedBatch> moved_batch(const Training& training, const SweptSizes& sizes)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
    const std::optional<std::int64_t> dp = sizes.replicas();
    if (!dp || *dp < 1 || training.micro_batch < 1 || training.micro_batch > most / *dp ||
        training.global_batch < 1 || training.global_batch > most)
        return std::nullopt; // refused by the simulation
    const std::int64_t taken = nearest_batch(training.global_batch, training.micro_batch * *dp);
    return taken == training.global_batch ? std::nullopt
                                          : std::optional(MovedBatch{training.global_batch, taken});
}

} // namespace

std::vector<FollowingField> following_fields(const SweepGrid& grid, const Scenario& scenario)
{
    const Strategy& own = scenario.strategy;
    std::vector<FollowingField> out;
    const bool devices =
        sweeps_any(grid, cut_sizes) || std::ranges::any_of(grid.axes, [](const auto& axis) {
            return decides_devices(axis.field);
        });
    if (devices && own.dp && !sweeps(grid, "strategy.dp") && !any_cut_is_auto(grid))
        out.push_back({{"strategy.dp", "null"}, std::to_string(*own.dp)});
    if (!sweeps_any(grid, stage_counts))
        return out;
    if (own.schedule == "interleaved-1f1b" && !sweeps(grid, "strategy.schedule"))
        out.push_back({{"strategy.schedule", "1f1b"}, own.schedule});
    if (!own.stage_layers.empty() && !sweeps(grid, "strategy.stage_layers"))
        out.push_back({{"strategy.stage_layers", "null"}, list_text(own.stage_layers)});
    return out;
}

Checked<ScenarioFile> let_follow(const ScenarioFile& base, std::span<const FollowingField> fields,
                                 SweepGrid& grid)
{
    if (fields.empty())
        return base;
    std::vector<Override> changes;
    for (const FollowingField& field : fields) {
        changes.push_back(field.freed);
        if (field.freed.field != layers_field)
            continue;
        grid.layers = LayerRule::spread;
        grid.own_layers = base.scenario.strategy.stage_layers;
    }
    return scenario_from(base.json, base.file, changes);
}

std::int64_t nearest_batch(std::int64_t batch, std::int64_t pass)
{
    const std::int64_t below = batch / pass * pass;
    return below > 0 && 2 * (batch - below) < pass ? below : below + pass;
}

Checked<SweepFacts> PointSettler::facts(const ScenarioFile& file)
{
    std::string key;
    for (const std::string_view part : {"model", "topology"})
        if (const Json* named = file.json.find(part))
            key += to_text(*named, JsonStyle::compact) + "\n";
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = facts_.find(key); known != facts_.end())
            return known->second;
    }
    Checked<SweepFacts> found = sweep_facts(file);
    const std::lock_guard lock(mutex_);
    return facts_.emplace(std::move(key), std::move(found)).first->second;
}

Checked<SettledPoint> PointSettler::at(std::size_t index)
{
    std::vector<Override> changes = grid_.point(index);
    const bool open = std::ranges::any_of(changes, is_auto);
    Checked<ScenarioFile> file = scenario_from(base_.json, base_.file, without_auto(changes));
    if (!file)
        return tl::unexpected(file.error());
    if (!open && grid_.batch == BatchRule::as_asked && grid_.layers == LayerRule::as_given)
        return SettledPoint{std::move(*file), std::move(changes), {}, std::nullopt};
    const Checked<SweepFacts> known = facts(*file);
    if (!known)
        return tl::unexpected(known.error());
    SweptSizes sizes(file->scenario.strategy, *known);
    if (Problems problems = decide_sizes(changes, sizes); !problems.empty())
        return tl::unexpected(std::move(problems));
    SettledPoint out;
    const bool own = sizes.stages() == std::ssize(grid_.own_layers);
    if (grid_.layers == LayerRule::spread)
        if (std::string layers = own ? list_text(grid_.own_layers) : sizes.stage_layers();
            layers != "null")
            out.beside.push_back({std::string(layers_field), std::move(layers)});
    if (grid_.batch == BatchRule::nearest)
        out.moved = moved_batch(file->scenario.training, sizes);
    if (out.moved)
        out.beside.push_back({std::string(batch_field), std::to_string(out.moved->taken)});
    std::vector<Override> all = changes;
    all.insert(all.end(), out.beside.begin(), out.beside.end());
    file = scenario_from(base_.json, base_.file, all);
    if (!file)
        return tl::unexpected(file.error());
    out.file = std::move(*file);
    out.changes = std::move(changes);
    return out;
}

Checked<ScenarioFile> scenario_at(const SweepGrid& grid, std::size_t index,
                                  const ScenarioFile& base)
{
    Checked<SettledPoint> point = PointSettler(base, grid).at(index);
    if (!point)
        return tl::unexpected(point.error());
    return std::move(point->file);
}

} // namespace trainyard
