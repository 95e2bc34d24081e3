#include "gui/explore/ranges.h"

#include "gui/explore/words.h"
#include "gui/model/choices.h"
#include "gui/model/form.h"
#include "sim/strategy/schedule.h"
#include "sim/study/inputs.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace trainyard::gui {

namespace {

using Values = std::vector<std::string>;

// Divisors of `number`, up to `most` (0: without limit).
Values divisors(std::int64_t number, std::int64_t most = 0)
{
    Values out;
    for (std::int64_t size = 1; size <= number && (most == 0 || size <= most); ++size)
        if (number % size == 0)
            out.push_back(std::to_string(size));
    return out;
}

// Those of the devices that divide `of` as well; powers of two where there are many.
Values group_sizes(const SweepFacts& facts, std::int64_t of, std::int64_t most)
{
    if (of == 0)
        return {}; // the model has none of it
    constexpr std::size_t many = 8;
    Values out = divisors(std::gcd<std::int64_t, std::int64_t>(facts.devices, of), most);
    if (out.size() > many)
        std::erase_if(out, [](const std::string& size) {
            const long value = std::stol(size);
            return (value & (value - 1)) != 0;
        });
    return out;
}

Values around(std::int64_t value)
{
    Values out;
    for (const std::int64_t one : {value / 4, value / 2, value, value * 2, value * 4})
        if (one > 0 && (out.empty() || out.back() != std::to_string(one)))
            out.push_back(std::to_string(one));
    return out;
}

Values replicas(const SweepFacts& facts)
{
    Values out = group_sizes(facts, facts.devices, 0);
    out.insert(out.begin(), "null");
    return out;
}

// Those of sentences: a list of layers has images or samples.
bool has_sequences(const SweepFacts& facts)
{
    return facts.layers > 0;
}

// Divisors of the batch up to a device's part of it, each at least twice the one before.
Values micro_batches(const SweepFacts& facts)
{
    constexpr std::int64_t least_most = 16; // of a replica that takes many devices
    const std::int64_t part = facts.global_batch / std::max(1, facts.devices);
    Values out;
    for (const std::string& size : divisors(facts.global_batch, std::max(least_most, part)))
        if (out.empty() || std::stoll(size) >= 2 * std::stoll(out.back()))
            out.push_back(size);
    return out;
}

// Stages that a device can hold: cutting finer than a layer is refused.
Values virtual_stages(const SweepFacts& facts)
{
    constexpr std::int64_t most = 10;
    return divisors(facts.layers, most);
}

constexpr std::string_view of_cluster = "topology.";

// A quarter to four times as much: "25 GB/s", "50 GB/s", ... of "50 GB/s".
Values scaled(const std::string& text)
{
    const auto unit = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
    const double number = QString::fromStdString(text.substr(0, unit)).toDouble();
    Values out;
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0})
        if (number > 0)
            out.push_back(QString::number(factor * number, 'g', 6).toStdString() +
                          text.substr(unit));
    return out;
}

// In whole racks, where NVLink spans several nodes.
Values node_counts(const ClusterDraft& cluster)
{
    const std::optional<double> nodes = number_in(cluster.text("nodes"));
    Values out;
    for (const std::int64_t count : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}) {
        const auto all = count * cluster.nodes_per_rack();
        constexpr double far = 9; // times as many or as few
        if (nodes && static_cast<double>(all) < far * *nodes &&
            static_cast<double>(all) * far > *nodes)
            out.push_back(std::to_string(all));
    }
    return out;
}

Values rates(const ClusterDraft& cluster, const std::string& field)
{
    const std::string given = cluster.text(field);
    return scaled(given.empty() ? cluster.usual_text(field) : given);
}

Values field_choices(const FormField* field)
{
    return field != nullptr ? field->choices : Values{};
}

struct Sweepable {
    const char* field;
    const char* name;
    std::function<Values(const SweepFacts&)> values; // null: those of the schema
    std::int64_t first = 0;                          // of numbers: chosen at first up to this
    bool parallel = false;                           // in that preset
    bool memory = false;
    std::function<Values(const ClusterDraft&)> of_cluster = nullptr; // of fields of the topology
    bool own_at_first = false; // words: no other is chosen by itself
    bool cluster = false;      // in that preset
};

Sweepable of_topology(const char* field, const char* name,
                      std::function<Values(const ClusterDraft&)> values, bool own_at_first = false)
{
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    return {field, name, nullptr, all, false, false, std::move(values), own_at_first, false};
}

// Fields of a generated cluster.
std::vector<Sweepable> cluster_sweepables()
{
    using C = const ClusterDraft&;
    std::vector<Sweepable> out{
        of_topology("topology.nodes", "nodes", node_counts),
        of_topology("topology.node.nic_rate", "NIC rate",
                    [](C c) { return rates(c, "node.nic_rate"); }),
        of_topology("topology.fabric.oversubscription", "oversubscription",
                    [](C) {
                        return Values{"1", "2", "4", "8"};
                    }),
        of_topology(
            "topology.node", "kind of node", [](C c) { return c.node_presets(); }, true),
        of_topology("topology.node.nics", "NICs a node",
                    [](C) {
                        return Values{"1", "2", "4", "8"};
                    }),
        of_topology("topology.fabric.kind", "fabric",
                    [](C) { return field_choices(find_field(cluster_form(), "fabric.kind")); }),
        of_topology(
            "topology.fabric.network", "network", [](C c) { return c.network_presets(); }, true),
    };
    constexpr std::size_t decide_most = 3;
    for (std::size_t i = 0; i < decide_most; ++i)
        out[i].cluster = true;
    return out;
}

// In the order in which they are shown.
const std::vector<Sweepable>& sweepables()
{
    using F = const SweepFacts&;
    constexpr std::int64_t most_cp = 32;
    static const std::vector<Sweepable> all{
        {"strategy.tp", "tp", [](F f) { return group_sizes(f, f.heads, 4LL * f.devices_per_node); },
         8, true, true},
        {"strategy.pp", "pp", [](F f) { return group_sizes(f, f.layers, 0); }, 16, true, true},
        {"strategy.cp", "cp",
         [](F f) { return group_sizes(f, has_sequences(f) ? f.sequence_length : 0, most_cp); }, 8,
         true},
        {"strategy.ep", "ep", [](F f) { return group_sizes(f, f.experts, 0); }, 64, true},
        {"strategy.dp", "dp", replicas, 0},
        {"training.micro_batch", "micro_batch", micro_batches, 8, true, true},
        {"training.recompute", "recompute", nullptr, 0, false, true},
        {"strategy.zero", "zero",
         [](F) {
             return Values{"0", "1", "2", "3"};
         },
         3, false, true},
        {"strategy.vpp", "vpp", virtual_stages, 5},
        {"strategy.schedule", "schedule", [](F) { return schedule_names(); }},
        {"strategy.sequence_parallel", "sequence parallel", nullptr},
        {"strategy.overlap.dp", "overlap dp", nullptr},
        {"strategy.overlap.tp", "overlap tp", nullptr},
        {"strategy.bucket_cap", "bucket",
         [](F) {
             return Values{"1 MiB", "5 MiB", "25 MiB", "100 MiB", "400 MiB"};
         }},
        {"training.global_batch", "global batch", [](F f) { return around(f.global_batch); }},
        {"training.sequence_length", "sequence",
         [](F f) { return has_sequences(f) ? around(f.sequence_length) : Values{}; }},
        {"training.precision", "precision", nullptr},
        {"software.cuda_graphs", "CUDA graphs", nullptr},
    };
    static const std::vector<Sweepable> with_cluster = [] {
        std::vector<Sweepable> out = all;
        for (Sweepable& one : cluster_sweepables())
            out.push_back(std::move(one));
        return out;
    }();
    return with_cluster;
}

Values values_of(const FormField& field)
{
    if (field.kind == FieldKind::boolean)
        return {"false", "true"};
    return field.choices;
}

// Numbers stay in order, however they are written; what is left to the program comes first.
std::size_t include(Values& values, const std::string& own)
{
    const std::optional<double> number = number_in(own);
    auto at = std::ranges::find_if(values, [&](const std::string& value) {
        return value == own || (number && number_in(value) == number);
    });
    if (at == values.end()) {
        const std::size_t place = number ? place_among(values, own) : 0;
        at = values.insert(values.begin() + static_cast<std::ptrdiff_t>(place), own);
    }
    return static_cast<std::size_t>(at - values.begin());
}

const Sweepable& sweepable(const AxisRange& range)
{
    return *std::ranges::find_if(sweepables(),
                                 [&](const Sweepable& one) { return range.field == one.field; });
}

// Images are small: all their micro-batches are worth trying.
bool at_first(const AxisRange& range, std::size_t value, const SweepFacts& facts)
{
    if (range.field == "training.micro_batch" && !has_sequences(facts))
        return true;
    const std::optional<double> number = number_in(range.values[value]);
    if (sweepable(range).own_at_first)
        return value == range.own;
    return value == range.own || !number || *number <= static_cast<double>(sweepable(range).first);
}

// The first fields in the order shown are those that decide most.
QStringList leave_out(std::vector<AxisRange>& ranges)
{
    QStringList names;
    std::size_t points = 1;
    for (AxisRange& range : ranges) {
        if (!range.swept)
            continue;
        const auto values = static_cast<std::size_t>(std::ranges::count(range.chosen, true));
        range.swept = points * values <= most_points;
        if (range.swept)
            points *= values;
        else
            names << range.name;
    }
    return names;
}

} // namespace

std::vector<std::string> AxisRange::chosen_values() const
{
    std::vector<std::string> out;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (chosen[i])
            out.push_back(values[i]);
    return out;
}

std::string own_value(const Document& document, const std::string& field,
                      const ClusterDraft* cluster)
{
    if (field.starts_with(of_cluster) && cluster != nullptr) {
        const std::string inside = field.substr(of_cluster.size());
        if (inside == "node" && !cluster->node().empty())
            return cluster->node();
        if (inside == "fabric.network" && !cluster->network().empty())
            return cluster->network();
        const std::string given = cluster->text(inside);
        const std::string text = given.empty() ? cluster->usual_text(inside) : given;
        return text.empty() ? "null" : text;
    }
    const Json* const given = document.find(field);
    if (given != nullptr && !given->is_null())
        return edit_text(*given);
    const FormField* const known = find_field(scenario_form(), field);
    const std::string text = known != nullptr ? known->default_text() : std::string();
    return text.empty() ? "null" : text;
}

std::optional<ClusterDraft> cluster_of(const ScenarioFile& file)
{
    const Checked<Input> topology = find_input(file.scenario.topology, InputKind::topology, file);
    Checked<ClusterChoices> choices = cluster_choices();
    if (!topology || !choices || !ClusterDraft::generated(topology->json))
        return {};
    return ClusterDraft(std::make_shared<const ClusterChoices>(std::move(*choices)),
                        topology->json);
}

QString value_text(const std::string& value)
{
    return value == "null" ? QStringLiteral("auto") : QString::fromStdString(value);
}

QString title_of(Preset preset)
{
    switch (preset) {
    case Preset::parallel:
        return words("Parallel dimensions");
    case Preset::memory:
        return words("Memory savers");
    case Preset::cluster:
        return words("Cluster");
    case Preset::everything:
        break;
    }
    return words("Everything");
}

std::vector<AxisRange> ranges_of(const SweepFacts& facts, const Document& document,
                                 const ClusterDraft* cluster)
{
    std::vector<AxisRange> out;
    const auto add = [&](const Sweepable& one, const FormField* field, Values values) {
        if (field == nullptr)
            return;
        AxisRange range;
        range.field = one.field;
        range.name = words(one.name);
        range.help = QString::fromStdString(field->help);
        range.values = std::move(values);
        range.own = include(range.values, own_value(document, one.field, cluster));
        if (range.values.size() < 2)
            return;
        for (std::size_t i = 0; i < range.values.size(); ++i)
            range.chosen.push_back(at_first(range, i, facts));
        out.push_back(std::move(range));
    };
    for (const Sweepable& one : sweepables())
        if (!one.of_cluster) {
            const FormField* const field = find_field(scenario_form(), one.field);
            add(one, field,
                one.values         ? one.values(facts)
                : field != nullptr ? values_of(*field)
                                   : Values{});
        } else if (cluster != nullptr) {
            const std::string inside(std::string_view(one.field).substr(of_cluster.size()));
            add(one, find_field(cluster_form(), inside), one.of_cluster(*cluster));
        }
    return out;
}

QStringList choose(std::vector<AxisRange>& ranges, Preset preset, const SweepFacts& facts)
{
    for (AxisRange& range : ranges) {
        const Sweepable& known = sweepable(range);
        range.swept = (preset == Preset::everything && !known.of_cluster) ||
                      (preset == Preset::cluster && known.cluster) ||
                      (preset == Preset::parallel && known.parallel) ||
                      (preset == Preset::memory && known.memory);
        // Stages that are held in several pieces need a pipeline: without one the point is refused.
        if (preset == Preset::parallel && range.field == "strategy.vpp")
            range.swept = range.values[range.own] != "1";
        for (std::size_t i = 0; i < range.values.size(); ++i)
            range.chosen[i] = at_first(range, i, facts);
        if (preset == Preset::parallel && range.field == "strategy.vpp")
            for (std::size_t i = 0; i < range.values.size(); ++i)
                range.chosen[i] = i == range.own || range.values[i] == "1";
        if (range.field == "strategy.tp")
            for (std::size_t i = 0; i < range.values.size(); ++i)
                range.chosen[i] =
                    i == range.own || number_in(range.values[i]) <= facts.devices_per_node;
    }
    return leave_out(ranges);
}

std::vector<SweptField> swept_fields(const std::vector<AxisRange>& ranges)
{
    std::vector<SweptField> out;
    for (const AxisRange& range : ranges)
        if (range.swept)
            out.push_back({range.field, range.chosen_values()});
    return out;
}

void choose_as(std::vector<AxisRange>& ranges, const std::vector<SweptField>& wanted)
{
    for (AxisRange& range : ranges) {
        const auto one = std::ranges::find(wanted, range.field, &SweptField::field);
        range.swept = one != wanted.end();
        if (!range.swept)
            continue;
        for (std::size_t i = 0; i < range.values.size(); ++i)
            range.chosen[i] = std::ranges::find(one->values, range.values[i]) != one->values.end();
    }
}

} // namespace trainyard::gui
