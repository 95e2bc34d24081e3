#include "calibrate/fit/shipped_knots.h"

#include "sim/base/fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard {

template <>
const FieldTable<KnotMachine>& fields_of<KnotMachine>()
{
    using M = KnotMachine;
    static const auto table =
        FieldTable<M>("machine", "Sweeps inside one NVLink domain.")
            .field("knots", &M::knots, {.help = "file to make", .required = true})
            .field("description", &M::description, {.help = "of the file"})
            .field("hardware", &M::hardware,
                   {.help = "how the words of its sweeps begin", .required = true})
            .field("nvlink", &M::nvlink, {.help = "line rate", .required = true})
            .field("ranks", &M::ranks, {.help = "group sizes", .required = true})
            .field("rack", &M::rack, {.help = "ranks of a domain larger than a node", .min = 0});
    return table;
}

template <>
const FieldTable<KnotAcross>& fields_of<KnotAcross>()
{
    using A = KnotAcross;
    static const auto table =
        FieldTable<A>("across", "A sweep across domains.")
            .field("knots", &A::knots, {.help = "file to add to", .required = true})
            .field("source", &A::source, {.help = "the sweep", .required = true})
            .field("network", &A::network, {.help = "its class", .required = true})
            .field("nics_per_domain", &A::nics_per_domain, {.help = "NICs", .min = 1})
            .field("nic_rate", &A::nic_rate, {.help = "line rate of one", .min = 0});
    return table;
}

template <>
const FieldTable<KnotFromSize>& fields_of<KnotFromSize>()
{
    using F = KnotFromSize;
    static const auto table = FieldTable<F>("from_size", "Sweeps that count from a size on.")
                                  .field("source", &F::source, {.help = "part of their names"})
                                  .field("size", &F::size, {.help = "the smallest that counts"});
    return table;
}

template <>
const FieldTable<FabricRule>& fields_of<FabricRule>()
{
    using R = FabricRule;
    static const auto table =
        FieldTable<R>("fabric_rule", "Which sweeps a fabric class is fitted to.")
            .field("fabric", &R::fabric, {.help = "its file", .required = true})
            .field("hardware", &R::hardware,
                   {.help = "how the words of its sweeps begin", .required = true})
            .field("line_rate", &R::line_rate, {.help = "of a device", .required = true})
            .field("in_switch", &R::in_switch, {.help = "switches reduce"})
            .field("most_ranks", &R::most_ranks, {.help = "0: any", .min = 0});
    return table;
}

template <>
const FieldTable<NetworkRun>& fields_of<NetworkRun>()
{
    using R = NetworkRun;
    static const auto table =
        FieldTable<R>("network_run", "A run that a network class is fitted to.")
            .field("source", &R::source, {.help = "the sweep", .required = true})
            .field("device", &R::device, {.help = "its model", .required = true})
            .field("rack", &R::rack, {.help = "ranks of a domain larger than a node", .min = 0})
            .field("nics", &R::nics, {.help = "of a node", .min = 1, .required = true})
            .field("nic_rate", &R::nic_rate, {.help = "line rate of one", .required = true})
            .field("transport", &R::transport, {.help = "of the NICs"})
            .field("reduces", &R::reduces, {.help = "the network's switches reduce"})
            .field("ring", &R::ring, {.help = "forced"})
            .field("from", &R::from, {.help = "smaller sizes do not count"});
    return table;
}

template <>
const FieldTable<NetworkRule>& fields_of<NetworkRule>()
{
    using R = NetworkRule;
    static const auto table =
        FieldTable<R>("network_rule", "What a network class is fitted to.")
            .field("network", &R::network, {.help = "its file", .required = true})
            .field("latency", &R::latency, {.help = "prior", .required = true})
            .field("efficiency", &R::efficiency, {.help = "prior", .max = 1, .required = true})
            .field("max_per_communicator", &R::max_per_communicator,
                   {.help = "prior; 0: not fitted"})
            .field("runs", &R::runs, {.help = "across domains", .required = true});
    return table;
}

template <>
const FieldTable<KnotPlan>& fields_of<KnotPlan>()
{
    using P = KnotPlan;
    static const auto table =
        FieldTable<P>("knot_plan", "Which sweeps feed which shipped file.")
            .field("machines", &P::machines, {.help = "inside one domain"})
            .field("fabrics", &P::fabrics, {.help = "constants of fabric classes"})
            .field("from_size", &P::from_size, {.help = "sweeps that count in part"})
            .field("across", &P::across, {.help = "across domains"})
            .field("networks", &P::networks, {.help = "constants of network classes"});
    return table;
}

namespace {

constexpr Bytes smallest{512};

// Of a median of published times there is no need for more than five digits; rounding keeps order.
Seconds rounded(Seconds time)
{
    const double us = time.value() * 1e6;
    if (!(us > 0))
        return time;
    const double unit = std::pow(10.0, std::floor(std::log10(us)) - 4);
    return Seconds(std::round(us / unit) * unit * 1e-6);
}

class Knots {
public:
    Knots(const KnotPlan& plan, std::span<const Sweep> sweeps) : plan_(plan), sweeps_(sweeps) {}

    Checked<std::map<std::string, Json>> files()
    {
        for (const KnotMachine& machine : plan_.machines)
            inside(machine);
        for (const KnotAcross& across : plan_.across)
            one(across);
        if (!problems_.empty())
            return tl::unexpected(problems_);
        std::map<std::string, Json> out;
        for (const KnotMachine& machine : plan_.machines) {
            Json& file = out[machine.knots];
            file["format"] = knots_format;
            file["description"] = machine.description;
            file["tables"] = FieldValue<std::vector<KnotTable>>::write(tables_[machine.knots]);
        }
        return out;
    }

private:
    bool counts(const Sweep& sweep, const KnotMachine& machine, int ranks,
                CollectiveKind kind) const
    {
        const auto split = split_of(sweep.ranks, sweep.nodes, machine.rack);
        const bool integer =
            sweep.data_type.starts_with("int") || sweep.data_type.starts_with("uint");
        return sweep.hardware.starts_with(machine.hardware) && sweep.ranks == ranks &&
               sweep.collective == kind && split && split->domains == 1 &&
               !(integer && reduces(kind)) && sweep.algorithm == "auto" && sweep.protocol == "auto";
    }

    // The sweep from the size on from which it counts.
    Sweep cut(Sweep sweep) const
    {
        Bytes from = smallest;
        for (const KnotFromSize& rule : plan_.from_size)
            if (sweep.source.find(rule.source) != std::string::npos)
                from = std::max(from, rule.size);
        std::erase_if(sweep.rows, [&](const SweepRow& row) { return row.size < from; });
        return sweep;
    }

    void inside(const KnotMachine& machine)
    {
        MeasuredOn on;
        on.rack_domain = machine.rack;
        on.nvlink = machine.nvlink;
        for (const int ranks : machine.ranks)
            for (const auto& entry : enum_names<CollectiveKind>()) {
                std::vector<Sweep> chosen;
                for (const Sweep& sweep : sweeps_)
                    if (counts(sweep, machine, ranks, entry.value))
                        chosen.push_back(cut(sweep));
                add(machine.knots, chosen, on);
            }
    }

    void one(const KnotAcross& across)
    {
        const auto sweep = std::find_if(sweeps_.begin(), sweeps_.end(),
                                        [&](const Sweep& s) { return s.source == across.source; });
        const auto machine =
            std::find_if(plan_.machines.begin(), plan_.machines.end(),
                         [&](const KnotMachine& m) { return m.knots == across.knots; });
        if (sweep == sweeps_.end() || machine == plan_.machines.end()) {
            problems_.push_back({"", 0, "", "no sweep or no machine for " + across.source,
                                 "the plan names a sweep by its id", Severity::error});
            return;
        }
        MeasuredOn on;
        on.rack_domain = machine->rack;
        on.nvlink = machine->nvlink;
        on.network = across.network;
        on.nics_per_domain = across.nics_per_domain;
        on.nic_rate = across.nic_rate;
        add(across.knots, {cut(*sweep)}, on);
    }

    void add(const std::string& file, const std::vector<Sweep>& sweeps, MeasuredOn on)
    {
        if (sweeps.empty())
            return;
        on.grade = Grade::published;
        Launches launches{configuration_of(sweeps.front()), {}};
        for (const Sweep& sweep : sweeps)
            launches.sweeps.push_back(&sweep);
        std::optional<KnotTable> table = table_of(launches, Buffers::out_of_place, on);
        if (!table)
            return;
        table->environment = {};
        table->raw = {};
        std::set<std::string> types;
        for (const Sweep& sweep : sweeps)
            types.insert(sweep.data_type);
        if (types.size() > 1)
            table->data_type.clear();
        for (Knot& knot : table->samples.knots)
            knot = {knot.size, rounded(knot.time), rounded(knot.low), rounded(knot.high)};
        for (AlphaBetaLine& line : table->lines)
            line = {rounded(line.alpha), Bandwidth(std::round(line.rate.value() * 1e-6) * 1e6)};
        tables_[file].push_back(std::move(*table));
    }

    const KnotPlan& plan_;
    std::span<const Sweep> sweeps_;
    std::map<std::string, std::vector<KnotTable>> tables_;
    Problems problems_;
};

} // namespace

Checked<KnotPlan> read_knot_plan(const std::string& path)
{
    const Checked<Json> json = read_json_file(path);
    if (!json)
        return tl::unexpected(json.error());
    Json plain = *json;
    if (plain.is_object())
        std::erase_if(plain.members(), [](const Json::Member& m) { return m.first == "format"; });
    Problems problems;
    KnotPlan out;
    fields_of<KnotPlan>().read(Reader(plain, path, problems), out);
    if (has_errors(problems))
        return tl::unexpected(problems);
    return out;
}

Checked<std::map<std::string, Json>> shipped_knots(const KnotPlan& plan,
                                                   std::span<const Sweep> sweeps)
{
    return Knots(plan, sweeps).files();
}

} // namespace trainyard
