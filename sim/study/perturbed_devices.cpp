// Perturbations of devices: what contradicts, and what they become.

#include "sim/base/random.h"
#include "sim/base/units.h"
#include "sim/study/entry_problems.h"
#include "sim/study/perturbation.h"
#include "sim/study/perturbed_links.h"
#include "sim/study/perturbed_windows.h"
#include "sim/study/problems.h"
#include "sim/topology/topology.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

std::vector<DeviceId> devices_of(const Perturbation& p, const Topology& topology, int world)
{
    std::vector<DeviceId> devices;
    if (p.node && *p.node < topology.node_count())
        devices = topology.devices_of(make_id<NodeId>(static_cast<std::size_t>(*p.node)));
    for (const int number : p.device.numbers)
        devices.push_back(make_id<DeviceId>(static_cast<std::size_t>(number)));
    if (p.device.all)
        for (int number = 0; number < world; ++number)
            devices.push_back(make_id<DeviceId>(static_cast<std::size_t>(number)));
    std::erase_if(devices, [&](DeviceId device) {
        return device.value >= static_cast<std::uint32_t>(world);
    });
    return devices;
}

class DeviceChecker {
public:
    DeviceChecker(const std::vector<Perturbation>& all, const Job& job, const Topology& topology,
                  int steps)
        : all_(all), job_(job), topology_(topology), steps_(steps)
    {}

    Problems check() &&
    {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const Perturbation& p = all_[i];
            if (p.of_network())
                continue;
            problems_.enter(i);
            check_subject(p);
            check_window(p);
            check_effect(p);
            if (!problems_.any_wrong())
                check_twice(p);
        }
        return std::move(problems_).take();
    }

private:
    void check_subject(const Perturbation& p)
    {
        const int world = job_.world();
        const std::string hint = fmt::format("devices are numbered 0 to {}", world - 1);
        for (const int number : p.device.numbers)
            if (number < 0 || number >= world)
                problems_.error("/device", fmt::format("there is no device {} in this job", number),
                                hint);
        if (p.node && *p.node >= topology_.node_count())
            problems_.error("/node", fmt::format("there is no node {} in this cluster", *p.node),
                            fmt::format("nodes are numbered 0 to {}", topology_.node_count() - 1));
        else if (p.node && devices_of(p, topology_, world).empty())
            problems_.error("/node", fmt::format("no rank of this job runs on node {}", *p.node),
                            hint);
        if (p.device.given() && p.node)
            problems_.error("/node", "devices and a node in one entry", "write two entries");
        if (p.changes_links())
            problems_.error("", "no \"link\" says which one is perturbed",
                            "\"link\": \"node0/nic0\"; `trainyard topo` names them");
        else if (!p.device.given() && !p.node)
            problems_.error("", "neither \"device\", \"node\" nor \"link\" says what is perturbed",
                            hint);
    }

    void check_window(const Perturbation& p)
    {
        check_window_order(p, problems_);
        if (p.has_window() && p.slowdown == 1.0)
            problems_.error(p.from ? "/from" : "/until", "a window without \"slowdown\"",
                            "\"slowdown\": 1.5 beside it");
        if (p.has_window() && p.slowdown < 1.0)
            problems_.error("/slowdown", "a window can slow a device, not speed it up",
                            "1 or more; without \"from\" and \"until\" also less");
    }

    void check_effect(const Perturbation& p)
    {
        const bool nothing = p.slowdown == 1.0 && !p.jitter && !p.late && !p.start && !p.stops();
        if (nothing && !problems_.wrong())
            problems_.warn(
                "", "this entry changes nothing",
                "\"slowdown\", \"jitter\", \"late\", \"start\", \"hangs\" or \"dies\" say what is "
                "wrong");
        if (p.hangs && p.dies)
            problems_.error("/dies", "a process that both hangs and dies", "keep what comes first");
        if (p.jitter && (p.jitter->scale == 0 || p.jitter->chance == 0))
            problems_.warn("/jitter", "a jitter of nothing has no effect");
        if (p.late && (p.late->time.value() == 0 || p.late->chance == 0))
            problems_.warn("/late", "late by nothing, or never: no effect");
        if (p.late && p.late->part == LatePart::loader &&
            (!job_.data || job_.data->loading.workers == 0))
            problems_.error("/late/part", "no loader runs beside this job's training processes",
                            "\"part\": \"step\", or \"data\" with workers");
        if (p.start && steps_ > 1 && p.start->value() > 0)
            problems_.warn(
                "/start",
                "the measured step is not the first one, and whoever waits for each other is in "
                "step by then",
                "--set run.steps=1 measures the first; \"late\" delays every step");
    }

    // One factor, one jitter and one start per device, no two windows at once. A window slows what
    // the factor leaves.
    void check_twice(const Perturbation& p)
    {
        for (const DeviceId device : devices_of(p, topology_, job_.world())) {
            Seen& seen = seen_[device];
            const auto once = [&](bool has, bool& before, const char* field, const char* what,
                                  const char* hint) {
                if (has && std::exchange(before, true))
                    problems_.error(field, fmt::format("device {} {} twice", device.value, what),
                                    hint);
            };
            const char* const subject = p.node ? "/node" : "/device";
            once(p.slowdown != 1.0 && !p.has_window(), seen.slowed, subject, "is slowed",
                 "write one entry with the product of the slowdowns");
            once(p.jitter.has_value(), seen.jittered, "/jitter", "jitters",
                 "write one entry with the wider one");
            once(p.start.has_value(), seen.started, "/start", "starts", "keep one of them");
            once(p.stops(), seen.stopped, p.hangs ? "/hangs" : "/dies", "stops",
                 "keep what comes first");
            if (!p.has_window())
                continue;
            const double from = p.from.value_or(Seconds(0)).value();
            const double until =
                p.until ? p.until->value() : std::numeric_limits<double>::infinity();
            const auto next = seen.windows.lower_bound(from);
            if ((next != seen.windows.end() && next->first < until) ||
                (next != seen.windows.begin() && std::prev(next)->second > from))
                problems_.error(subject,
                                fmt::format("two windows of device {} overlap", device.value),
                                "end one where the other begins");
            seen.windows.emplace(from, until);
        }
    }

    struct Seen {
        bool slowed = false;
        bool jittered = false;
        bool started = false;
        bool stopped = false;
        std::map<double, double> windows; // begin to end; none overlap
    };

    const std::vector<Perturbation>& all_;
    const Job& job_;
    const Topology& topology_;
    int steps_;
    std::map<DeviceId, Seen> seen_;
    EntryProblems problems_;
};

// From and until when an entry holds, by the simulated clock.
template <class Span>
Span span_of(const Perturbation& p, SimTime measured_from)
{
    Span span;
    span.from = measured_from + to_sim_time(p.from.value_or(Seconds(0)));
    if (p.until)
        span.until = measured_from + to_sim_time(*p.until);
    return span;
}

void add_link_spans(const std::vector<Perturbation>& perturbations, const Topology& topology,
                    SimTime measured_from, Conditions& out)
{
    if (!has_link_windows(perturbations))
        return;
    const std::vector<std::vector<LinkId>> links = links_by_entry(perturbations, topology);
    for (std::size_t i = 0; i < perturbations.size(); ++i) {
        const Perturbation& p = perturbations[i];
        if (!p.changes_links_for_a_time())
            continue;
        LinkSpan span = span_of<LinkSpan>(p, measured_from);
        span.share = p.share_left();
        if (span.from < span.until && span.share < 1.0)
            for (const LinkId link : links[i])
                out.links.emplace_back(link, span);
    }
}

} // namespace

Problems perturbation_problems(const std::vector<Perturbation>& perturbations, const Job& job,
                               const Topology& topology, int steps)
{
    if (perturbations.size() > most_perturbations)
        return {{"", 0, "/perturbations",
                 fmt::format("{} entries; at most {} are simulated", perturbations.size(),
                             most_perturbations),
                 "devices of one condition are one entry, \"device\": [0, 1, 2]; links too, "
                 "\"link\": \"node*/nic2\"",
                 Severity::error}};
    Problems problems = DeviceChecker(perturbations, job, topology, steps).check();
    append(problems, link_problems(perturbations, topology));
    return problems;
}

Conditions conditions_of(const std::vector<Perturbation>& perturbations, const Topology& topology,
                         int world, const PerturbedRun& run)
{
    Conditions out;
    out.steps = run.steps;
    add_link_spans(perturbations, topology, run.measured_from, out);
    for (std::size_t i = 0; i < perturbations.size(); ++i) {
        const Perturbation& p = perturbations[i];
        if (p.of_network())
            continue;
        const std::uint64_t seed = hash_key(run.seed, i);
        for (const DeviceId device : devices_of(p, topology, world)) {
            if (p.has_window()) {
                SlowSpan span = span_of<SlowSpan>(p, run.measured_from);
                span.slowdown = p.slowdown;
                if (span.from < span.until) // else shorter than the clock tells apart
                    out.spans.emplace_back(device, span);
            } else if (p.slowdown != 1.0)
                out.slowdown.emplace_back(device, p.slowdown);
            if (p.jitter && p.jitter->scale > 0 && p.jitter->chance > 0)
                out.jitter.emplace_back(device, SeededJitter{*p.jitter, seed});
            if (p.late && p.late->time.value() > 0)
                out.late.emplace_back(device, Lateness{to_sim_time(p.late->time), p.late->chance,
                                                       p.late->part, mix_bits(seed)});
            if (p.hangs)
                out.stop.emplace_back(
                    device, Stop{run.measured_from + to_sim_time(*p.hangs), StopKind::hangs});
            if (p.dies)
                out.stop.emplace_back(
                    device, Stop{run.measured_from + to_sim_time(*p.dies), StopKind::dies});
            if (p.start)
                out.start.emplace_back(device, to_sim_time(*p.start));
        }
    }
    return out;
}

} // namespace trainyard
