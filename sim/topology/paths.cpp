#include "sim/topology/paths.h"

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/topology/names.h"
#include "sim/topology/topology_model.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// Counts through all sequences of choices, as an odometer whose wheels have as many digits as the
// route offers.
class Odometer final : public PathChoice {
public:
    std::size_t choose(std::size_t, std::size_t choices) override
    {
        if (at_ == digits_.size()) {
            digits_.push_back(0);
            sizes_.push_back(choices);
        }
        sizes_[at_] = choices;
        return digits_[at_++];
    }

    // To the next sequence; false after the last.
    bool advance()
    {
        at_ = 0;
        while (!digits_.empty()) {
            if (++digits_.back() < sizes_.back())
                return true;
            digits_.pop_back();
            sizes_.pop_back();
        }
        return false;
    }

private:
    std::size_t at_ = 0;
    std::vector<std::size_t> digits_;
    std::vector<std::size_t> sizes_;
};

Paths all_shortest(const Topology& topology, DeviceId from, DeviceId to, std::size_t limit)
{
    Paths out;
    Odometer odometer;
    do {
        if (out.paths.size() == limit) {
            out.complete = false;
            break;
        }
        out.paths.push_back(topology.model().route(from, to, odometer));
    } while (odometer.advance());
    return out;
}

// Requires nodes of equal size; the surplus of the larger one has no rail of its own.
Paths over_rails(const Topology& topology, DeviceId from, DeviceId to, std::size_t limit)
{
    const std::vector<DeviceId> senders = topology.devices_of(topology.device(from).node);
    const std::vector<DeviceId> receivers = topology.devices_of(topology.device(to).node);
    const std::size_t rails = std::min(senders.size(), receivers.size());
    Paths out;
    for (std::size_t rail = 0; rail < rails && out.paths.size() < limit; ++rail) {
        std::vector<LinkId> path;
        const auto append = [&](DeviceId a, DeviceId b) {
            const std::vector<LinkId> part = topology.path(a, b);
            path.insert(path.end(), part.begin(), part.end());
        };
        append(from, senders[rail]);
        append(senders[rail], receivers[rail]);
        append(receivers[rail], to);
        out.paths.push_back(std::move(path));
    }
    out.complete = out.paths.size() == rails;
    return out;
}

} // namespace

Paths find_paths(const Topology& topology, DeviceId from, DeviceId to, PathSet set,
                 std::size_t limit)
{
    switch (set) {
    case PathSet::ecmp:
        return all_shortest(topology, from, to, limit);
    case PathSet::rails:
        if (topology.device(from).node != topology.device(to).node)
            return over_rails(topology, from, to, limit);
        break;
    case PathSet::shortest:
        break;
    }
    return {{topology.path(from, to)}, true};
}

PathDescription describe_path(const Topology& topology, DeviceId from, DeviceId to,
                              const std::vector<LinkId>& path)
{
    PathDescription out;
    out.from = topology.model().device_name(from);
    out.to = topology.model().device_name(to);
    for (const LinkId id : path) {
        const Link link = topology.link(id);
        out.hops.push_back(
            {topology.link_name(id), std::string(to_name(link.kind)), link.capacity, link.latency});
        out.latency += link.latency;
        out.capacity = out.hops.size() == 1 ? link.capacity : std::min(out.capacity, link.capacity);
    }
    return out;
}

std::string describe(const PathDescription& path)
{
    std::string out = fmt::format("{} to {}\n", path.from, path.to);
    if (path.hops.empty())
        return out + "the same device\n";
    std::size_t width = 4;
    for (const PathDescription::Hop& hop : path.hops)
        width = std::max(width, hop.link.size());
    out +=
        fmt::format("  {:<{}}  {:<10}  {:>10}  {:>9}\n", "link", width, "kind", "rate", "latency");
    for (const PathDescription::Hop& hop : path.hops)
        out += fmt::format("  {:<{}}  {:<10}  {:>10}  {:>9}\n", hop.link, width, hop.kind,
                           to_display(hop.capacity), to_display(hop.latency));
    out += fmt::format("  {:<{}}  {:<10}  {:>10}  {:>9}\n", "together", width, "",
                       to_display(path.capacity), to_display(path.latency));
    return out;
}

Json to_json(const PathDescription& path)
{
    Json out = Json::object();
    out["from"] = path.from;
    out["to"] = path.to;
    out["latency_s"] = path.latency.value();
    out["bytes_per_s"] = path.capacity.value();
    out["links"] = Json::array();
    for (const PathDescription::Hop& hop : path.hops) {
        Json item = Json::object();
        item["name"] = hop.link;
        item["kind"] = hop.kind;
        item["bytes_per_s"] = hop.capacity.value();
        item["latency_s"] = hop.latency.value();
        out["links"].push_back(std::move(item));
    }
    return out;
}

Checked<DeviceId> find_device(const Topology& topology, std::string_view text)
{
    const TopologyModel& model = topology.model();
    const auto count = static_cast<std::size_t>(model.device_count());
    if (const auto number = to_number<std::size_t>(text); number && *number < count)
        return make_id<DeviceId>(*number);
    for (std::size_t i = 0; i < count; ++i)
        if (model.device_name(make_id<DeviceId>(i)) == text)
            return make_id<DeviceId>(i);
    Diagnostic problem;
    problem.message = fmt::format("no device is called \"{}\"", text);
    problem.hint = fmt::format("a number from 0 to {}, or a name such as \"{}\"", count - 1,
                               model.device_name(make_id<DeviceId>(count - 1)));
    return tl::unexpected(Problems{problem});
}

} // namespace trainyard
