#include "calibrate/measure/run/sound_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace trainyard {
namespace {

constexpr Bytes largest_size{std::uint64_t{1} << 60};
constexpr std::int64_t longest_side = 1'000'000'000; // of a product

bool is_among(int rank, std::size_t ranks)
{
    return rank >= 0 && static_cast<std::size_t>(rank) < ranks;
}

// Seconds per op; 0 is a clock too coarse. Beyond a week or below a picosecond there is no op.
bool are_times(const std::vector<double>& times)
{
    return std::all_of(times.begin(), times.end(),
                       [](double time) { return time == 0 || (time >= 1e-12 && time <= 1e6); });
}

std::string wrong_size(Bytes size)
{
    return size > largest_size ? "no rank has buffers as large as its size" : "";
}

std::string wrong_in(const CollectiveWork& work, std::size_t members)
{
    return is_among(work.root, members) ? wrong_size(work.size)
                                        : "its root is no rank of the group";
}

std::string wrong_in(const ExchangeWork& work, std::size_t members)
{
    const auto is_pair = [members](const PairMessage& message) {
        return is_among(message.from, members) && is_among(message.to, members);
    };
    return !work.messages.empty() &&
                   std::all_of(work.messages.begin(), work.messages.end(), is_pair)
               ? wrong_size(work.size)
               : "its messages are not between ranks of the group";
}

std::string wrong_in(const PingPongWork& work, std::size_t members)
{
    return is_among(work.first, members) && is_among(work.second, members)
               ? wrong_size(work.size)
               : "its message is not between ranks of the group";
}

bool has_sides(LocalKind kind)
{
    return kind == LocalKind::gemm || kind == LocalKind::attention_forward ||
           kind == LocalKind::attention_backward;
}

// What has sides has all of them: a size of 0 is what a line that lacks it reads as.
std::string wrong_in(const LocalWork& work, std::size_t /*members*/)
{
    const std::array sides{work.m, work.n, work.k, work.batch};
    const std::int64_t shortest = has_sides(work.kind) ? 1 : 0;
    return std::all_of(
               sides.begin(), sides.end(),
               [shortest](std::int64_t side) { return side >= shortest && side <= longest_side; })
               ? wrong_size(work.size)
               : "no kernel has such sides";
}

std::string wrong_in(const BesideWork& work, std::size_t members)
{
    const std::string one = wrong_in(work.collective, members);
    return one.empty() ? wrong_in(work.local, members) : one;
}

// Every parent is a switch, or there are none; above each is a root.
bool is_tree(const NodeMap& map)
{
    const std::size_t switches = map.switches.size();
    const auto has_place = [&](const auto& piece) {
        return switches == 0 ? piece.parent == -1 : is_among(piece.parent, switches);
    };
    if (!std::all_of(map.gpus.begin(), map.gpus.end(), has_place) ||
        !std::all_of(map.nics.begin(), map.nics.end(), has_place))
        return false;
    for (int at = 0; is_among(at, switches); ++at) {
        int above = at;
        for (std::size_t steps = 0; above != -1; ++steps) {
            if (steps > switches || !is_among(above, switches))
                return false;
            above = map.switches[static_cast<std::size_t>(above)].parent;
        }
    }
    return true;
}

} // namespace

std::string unsound(const RankReply& reply)
{
    // Of a batch, which holds many ops.
    const auto is_time = [](double time) { return time >= 0 && time <= 1e6; };
    if (!std::all_of(reply.seconds.begin(), reply.seconds.end(), is_time))
        return "its times are no seconds";
    return reply.wrong && *reply.wrong < 0 ? "it counts wrong elements below 0" : "";
}

std::string unsound(const NodeReport& node)
{
    const std::size_t devices = node.map.gpus.size();
    if (devices == 0)
        return "it has no devices";
    if (!is_tree(node.map))
        return "its switches are no tree with devices below them";
    if (std::any_of(node.map.nvlinks.begin(), node.map.nvlinks.end(), [&](const auto& nvlink) {
            return !is_among(nvlink.from, devices) ||
                   (nvlink.to != -1 && !is_among(nvlink.to, devices));
        }))
        return "its NVLinks are not between its devices";
    if (node.classes.size() != devices ||
        std::any_of(node.classes.begin(), node.classes.end(),
                    [&](const auto& row) { return row.size() != devices; }))
        return "its classes are not those of its devices";
    return "";
}

std::string unsound(const GroupSpec& group, std::size_t ranks)
{
    const std::set<int> members(group.members.begin(), group.members.end());
    if (members.empty())
        return "its group has no members";
    if (members.size() < group.members.size() || !is_among(*members.begin(), ranks) ||
        !is_among(*members.rbegin(), ranks))
        return fmt::format("its group is not of some of the run's {} ranks", ranks);
    return "";
}

std::string unsound(const MeasuredPoint& point, std::size_t ranks)
{
    if (const std::string wrong = unsound(point.point.group, ranks); !wrong.empty())
        return wrong;
    const std::size_t members = point.point.group.members.size();
    if (const std::string wrong = std::visit(
            [members](const auto& work) { return wrong_in(work, members); }, point.point.work);
        !wrong.empty())
        return wrong;
    if (point.batches.empty())
        return "it has no batches";
    if (!are_times(point.batches) || !are_times(point.isolated) || !are_times(point.by_rank))
        return "its times are no seconds of one op";
    if (point.ops_per_batch < 1 || point.point.launch < 0)
        return "ops_per_batch is from 1 on, launch from 0 on";
    if (!is_among(point.slowest_rank, members) || point.by_rank.size() > members)
        return "it tells of more ranks than its group has";
    return "";
}

std::string unsound(const MeasuredRun& run)
{
    constexpr std::array<std::string_view, 3> backends{"nccl", "mpi", "gloo"};
    if (std::find(backends.begin(), backends.end(), run.backend) == backends.end())
        return "its backend is not nccl, mpi or gloo";
    if (run.ranks.empty())
        return "it has no ranks";
    for (const RankFacts& rank : run.ranks)
        if (!is_place_among(rank.place, run.ranks.size()))
            return fmt::format("the place of a rank on {} is not among its {} ranks", rank.host,
                               run.ranks.size());
    return "";
}

} // namespace trainyard
