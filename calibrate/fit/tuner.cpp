#include "calibrate/fit/tuner.h"

#include "sim/base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

namespace trainyard {
namespace {

constexpr double least_gain = 1.03;

struct Shape {
    CollectiveKind collective{};
    int ranks_per_domain = 0;
    int domains = 0;
    std::string data_type;
    std::string nccl;

    auto operator<=>(const Shape&) const = default;
};

std::string_view tuner_name(CollectiveKind kind)
{
    switch (kind) {
    case CollectiveKind::all_reduce:
        return "allreduce";
    case CollectiveKind::all_gather:
        return "allgather";
    case CollectiveKind::reduce_scatter:
        return "reducescatter";
    case CollectiveKind::broadcast:
        return "broadcast";
    case CollectiveKind::reduce:
        return "reduce";
    case CollectiveKind::all_to_all:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive:
        break;
    }
    return {}; // NCCL has no choice to make
}

// Sizes that were measured: knots with a sample.
std::map<Bytes, Knot> measured_knots(const KnotTable& table)
{
    std::set<Bytes> timed;
    for (const RawSample& sample : table.raw.samples)
        timed.insert(sample.size);
    std::map<Bytes, Knot> out;
    for (const Knot& knot : table.samples.knots)
        if (timed.empty() || timed.count(knot.size))
            out.emplace(knot.size, knot);
    return out;
}

// The forced table that is clearly faster than `chosen` at that size, if any.
const KnotTable* winner(const std::vector<const KnotTable*>& forced, const Knot& chosen)
{
    const KnotTable* best = nullptr;
    Seconds least = chosen.time / least_gain;
    for (const KnotTable* table : forced) {
        const auto knots = measured_knots(*table);
        const auto knot = knots.find(chosen.size);
        if (knot == knots.end() || knot->second.high >= chosen.low || knot->second.time >= least)
            continue;
        least = knot->second.time;
        best = table;
    }
    return best;
}

void add_lines(const KnotTable& chosen, const std::vector<const KnotTable*>& forced,
               std::vector<TunerLine>& out)
{
    const KnotTable* before = nullptr;
    int sizes = 0;
    for (const auto& [size, knot] : measured_knots(chosen)) {
        const KnotTable* best = winner(forced, knot);
        if (best != nullptr && best != before) {
            out.push_back({chosen.collective, size, size, lower_case(best->algorithm),
                           lower_case(best->protocol), chosen.domains,
                           chosen.ranks_per_domain * chosen.domains, 1});
            sizes = 0;
        }
        if (best != nullptr) {
            TunerLine& line = out.back();
            line.max_size = size;
            const double gain = knot.time / time_at(best->samples, size);
            line.gain = std::exp((std::log(line.gain) * sizes + std::log(gain)) / (sizes + 1));
            ++sizes;
        }
        before = best;
    }
}

} // namespace

TunerAdvice tuner_advice(std::span<const KnotTable> tables)
{
    struct Measured {
        const KnotTable* chosen = nullptr;
        std::vector<const KnotTable*> forced;
    };
    TunerAdvice out;
    std::map<Shape, Measured> shapes;
    for (const KnotTable& table : tables) {
        if (table.in_place || table.grade != Grade::measured ||
            tuner_name(table.collective).empty())
            continue;
        Measured& measured = shapes[{table.collective, table.ranks_per_domain, table.domains,
                                     table.data_type, table.environment.nccl}];
        const bool auto_algorithm = table.algorithm == "auto";
        const bool auto_protocol = table.protocol == "auto";
        if (auto_algorithm && auto_protocol) {
            measured.chosen = measured.chosen == nullptr ? &table : measured.chosen;
        } else if (auto_algorithm || auto_protocol) {
            out.notes.push_back(
                fmt::format("{}: a tuner line needs algorithm and protocol, only the {} was forced",
                            table.source, auto_algorithm ? "protocol" : "algorithm"));
        } else {
            measured.forced.push_back(&table);
        }
    }
    for (const auto& [shape, measured] : shapes) {
        if (measured.forced.empty())
            continue;
        if (measured.chosen == nullptr)
            out.notes.push_back(fmt::format("{} among {} ranks: NCCL's own choice was not measured",
                                            to_name(shape.collective),
                                            shape.ranks_per_domain * shape.domains));
        else
            add_lines(*measured.chosen, measured.forced, out.lines);
    }
    return out;
}

std::string tuner_csv(std::span<const TunerLine> lines)
{
    std::string out = "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,"
                      "numPipeOps,regBuff\n";
    for (const TunerLine& line : lines)
        out += fmt::format("{},{},{},{},{},-1,{},{},-1,-1\n", tuner_name(line.collective),
                           line.min_size.value(), line.max_size.value(), line.algorithm,
                           line.protocol, line.nodes, line.ranks);
    return out;
}

} // namespace trainyard
