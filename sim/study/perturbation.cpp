#include "sim/study/perturbation.h"

#include "sim/base/fields.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

// Seconds; a little less than the clock counts to.
constexpr double longest_delay = 26 * 86400.0;
static_assert(longest_delay < to_seconds(longest_sim_time).value());

} // namespace

std::string FieldValue<DeviceChoice>::type_name()
{
    return "number, list of numbers, or \"all\"";
}

bool FieldValue<DeviceChoice>::read(const Reader& reader, DeviceChoice& out)
{
    const Json& node = reader.node();
    if (node.is_string()) {
        if (node.as_string() != "all") {
            reader.error(fmt::format("there are no devices \"{}\"", node.as_string()),
                         "a number, a list of numbers, or \"all\"; a whole node is \"node\": 3");
            return false;
        }
        out = {};
        out.all = true;
        return true;
    }
    out = {};
    const bool read = node.is_array() ? FieldValue<std::vector<int>>::read(reader, out.numbers)
                                      : FieldValue<int>::read(reader, out.numbers.emplace_back());
    if (read && out.numbers.empty()) {
        reader.error("an empty list of devices", "name one, or remove the entry");
        return false;
    }
    return read;
}

Json FieldValue<DeviceChoice>::write(const DeviceChoice& value)
{
    if (value.all)
        return Json("all");
    if (value.numbers.size() == 1)
        return FieldValue<int>::write(value.numbers.front());
    return value.numbers.empty() ? Json() : FieldValue<std::vector<int>>::write(value.numbers);
}

Json FieldValue<DeviceChoice>::schema()
{
    Json out = Json::object();
    Json all = Json::object();
    all["const"] = "all";
    out["anyOf"].push_back(FieldValue<int>::schema());
    out["anyOf"].push_back(FieldValue<std::vector<int>>::schema());
    out["anyOf"].push_back(std::move(all));
    return out;
}

template <>
const FieldTable<KernelJitter>& fields_of<KernelJitter>()
{
    static const auto table =
        FieldTable<KernelJitter>("jitter", "Random durations of kernels, drawn from run.seed.")
            .field("distribution", &KernelJitter::distribution,
                   {.help = "of the factor: normal 1 + s z, lognormal exp(s z), exponential 1 + s "
                            "x (only slower), uniform within 1 - s and 1 + s"})
            .field("scale", &KernelJitter::scale,
                   {.help = "s: how wide, relative to the duration",
                    .min = 0,
                    .max = 10,
                    .required = true})
            .field("chance", &KernelJitter::chance,
                   {.help = "of a kernel to be disturbed at all", .min = 0, .max = 1});
    return table;
}

template <>
const FieldTable<LateArrival>& fields_of<LateArrival>()
{
    static const auto table =
        FieldTable<LateArrival>("late", "Steps that begin late, or whose data comes late.")
            .field("time", &LateArrival::time,
                   {.help = "how late", .min = 0, .max = longest_delay, .required = true})
            .field("chance", &LateArrival::chance,
                   {.help = "of a step to be late, drawn from run.seed", .min = 0, .max = 1})
            .field("part", &LateArrival::part,
                   {.help = "step: its host begins late; loader: the first batch comes late, which "
                            "prefetching may hide"});
    return table;
}

template <>
const FieldTable<Perturbation>& fields_of<Perturbation>()
{
    static const auto table =
        FieldTable<Perturbation>("perturbation", "A condition of some devices or links.")
            .field("device", &Perturbation::device,
                   {.help = "which: a number, a list of numbers, or \"all\""})
            .field("slowdown", &Perturbation::slowdown,
                   {.help = "compute takes this many times as long", .min = 0.01, .max = 1000})
            .field("node", &Perturbation::node, {.help = "all devices of this node", .min = 0})
            .field("from", &Perturbation::from,
                   {.help = "the slowdown or the state of the link begins so long after the "
                            "measured step has begun",
                    .min = 0,
                    .max = longest_delay})
            .field("until", &Perturbation::until,
                   {.help = "the slowdown or the state of the link ends so long after the measured "
                            "step has begun",
                    .min = 0,
                    .max = longest_delay})
            .field("jitter", &Perturbation::jitter, {.help = "random durations of kernels"})
            .field("late", &Perturbation::late, {.help = "steps that begin late"})
            .field("start", &Perturbation::start,
                   {.help = "its first step begins so late", .min = 0, .max = longest_delay})
            .field("hangs", &Perturbation::hangs,
                   {.help = "its host issues nothing more, so long after the measured step began",
                    .min = 0,
                    .max = longest_delay})
            .field("dies", &Perturbation::dies,
                   {.help = "its process is gone, so long after the measured step began",
                    .min = 0,
                    .max = longest_delay})
            .field("link", &Perturbation::link,
                   {.help = "links instead, as `trainyard topo` names them: \"node3/nic2\", "
                            "\"leaf0/uplink3 up\", \"node3/nic*\"; \"fabric\": all between "
                            "switches"})
            .field(
                "bandwidth", &Perturbation::bandwidth,
                {.help = "share of its line rate that the link has left", .min = 0.001, .max = 1})
            .field("latency", &Perturbation::latency,
                   {.help = "more per traversal of the link", .min = 0, .max = longest_delay})
            .field("background", &Perturbation::background,
                   {.help = "share of the link that other jobs take", .min = 0, .max = 0.999})
            .field("dead", &Perturbation::dead,
                   {.help = "the link carries nothing; traffic takes what is left"})
            .field("ecmp", &Perturbation::ecmp,
                   {.help = "each flow keeps to one of equal uplinks, drawn from run.seed, so that "
                            "some collide"});
    return table;
}

bool is_random(const std::vector<Perturbation>& perturbations)
{
    return std::ranges::any_of(perturbations, [](const Perturbation& p) {
        const bool late = p.late && p.late->chance > 0 && p.late->chance < 1;
        return late || p.ecmp || (p.jitter && p.jitter->scale > 0 && p.jitter->chance > 0);
    });
}

bool has_windows(const std::vector<Perturbation>& perturbations)
{
    return std::ranges::any_of(perturbations,
                               [](const Perturbation& p) { return p.has_window() || p.stops(); });
}

bool has_link_windows(const std::vector<Perturbation>& perturbations)
{
    return std::ranges::any_of(perturbations, &Perturbation::changes_links_for_a_time);
}

bool has_stops(const std::vector<Perturbation>& perturbations)
{
    return std::ranges::any_of(perturbations, [](const Perturbation& p) { return p.stops(); });
}

} // namespace trainyard
