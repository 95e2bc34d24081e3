#include "calibrate/import/settle_ranks.h"

#include "calibrate/import/log_text.h"
#include "sim/cost/device_catalogue.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace trainyard {
namespace {

std::int64_t ranks_per_process(const NcclContext& context)
{
    const std::int64_t threads = std::clamp<std::int64_t>(context.threads.value_or(1), 1, 1024);
    const std::int64_t gpus = std::clamp<std::int64_t>(context.gpus.value_or(1), 1, 1024);
    return threads * gpus;
}

// Ranks of the launch command; 0 when it does not say.
int launched_ranks(const NcclContext& context)
{
    if (!context.processes)
        return context.threads && context.gpus ? static_cast<int>(ranks_per_process(context)) : 0;
    const std::int64_t processes = std::clamp<std::int64_t>(*context.processes, 0, most_ranks);
    const std::int64_t ranks = processes * ranks_per_process(context);
    return ranks <= most_ranks ? static_cast<int>(ranks) : 0;
}

// The number of the range that most powers of two divide: clusters come in such sizes.
int roundest(int low, int high)
{
    for (int step = 1 << 19; step > 1; step /= 2)
        if (const int candidate = (low + step - 1) / step * step; candidate <= high)
            return candidate;
    return low;
}

// Numbers in a name: "gpu_16x8" gives 16, 8.
std::vector<int> numbers_in(const std::string& name)
{
    std::vector<int> out;
    for (std::size_t i = 0; i < name.size();) {
        if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
            ++i;
            continue;
        }
        int value = 0;
        const auto result = std::from_chars(name.data() + i, name.data() + name.size(), value);
        if (result.ec == std::errc{})
            out.push_back(value);
        i = static_cast<std::size_t>(result.ptr - name.data());
    }
    return out;
}

// Every pair "NxM" of a name.
std::vector<std::pair<int, int>> pairs_in(const std::string& name)
{
    std::vector<std::pair<int, int>> out;
    for (std::size_t x = name.find('x'); x != std::string::npos; x = name.find('x', x + 1)) {
        std::size_t start = x;
        while (start > 0 && std::isdigit(static_cast<unsigned char>(name[start - 1])) != 0)
            --start;
        const std::vector<int> before = numbers_in(name.substr(start, x - start));
        const bool digit =
            x + 1 < name.size() && std::isdigit(static_cast<unsigned char>(name[x + 1])) != 0;
        const std::vector<int> after = digit ? numbers_in(name.substr(x + 1)) : std::vector<int>{};
        if (before.size() == 1 && !after.empty() && before[0] > 0 && after[0] > 0 &&
            before[0] <= 100'000 && after[0] <= 1024)
            out.emplace_back(before[0], after[0]);
    }
    return out;
}

std::string base_name(const std::string& file)
{
    return file.substr(file.find_last_of('/') + 1);
}

// Of the device that the log or the name of its file names.
int usual_gpus_per_node(const RankEvidence& evidence)
{
    std::string words = base_name(evidence.file);
    if (!evidence.raw.context.devices.empty())
        words += " " + evidence.raw.context.devices.front().name;
    const KnownDevice* const known = shipped_devices().named_in(words);
    return known != nullptr ? known->device.usual_node.gpus : UsualNode{}.gpus;
}

struct Candidates {
    int low = 2;
    int high = most_ranks;
    bool contains(int ranks) const { return ranks >= low && ranks <= high; }
};

// Which of what was said lies in the range; 0: none. Says so where it is only a name.
int stated_within(const RankEvidence& evidence, Candidates range, ImportNotes& notes)
{
    const NcclContext& context = evidence.raw.context;
    if (const int listed = listed_ranks(context); listed > 0 && range.contains(listed))
        return listed;
    const std::int64_t communicator = context.communicator_ranks.value_or(0);
    if (communicator > 1 && communicator <= most_ranks &&
        range.contains(static_cast<int>(communicator)))
        return static_cast<int>(communicator);
    if (const int launched = launched_ranks(context); launched > 1 && range.contains(launched))
        return launched;
    if (range.low == range.high)
        return range.low;
    const auto assume = [&](int ranks) {
        add_note(notes.assumed,
                 fmt::format("{}: {} ranks, from the name of the file", evidence.raw.where, ranks));
        return ranks;
    };
    const std::string name = base_name(evidence.file);
    for (const auto& [nodes, each] : pairs_in(name))
        if (nodes * each > 1 && range.contains(nodes * each))
            return assume(nodes * each);
    if (name.find("gpu") != std::string::npos && range.high < most_ranks)
        for (const int number : numbers_in(name))
            if (range.contains(number))
                return assume(number);
    return 0;
}

// The list or the launch said something else than the numbers do.
void note_contradiction(const RankEvidence& evidence, int ranks, ImportNotes& notes)
{
    const int listed = listed_ranks(evidence.raw.context);
    if (listed > 0 && listed != ranks)
        add_note(notes.assumed,
                 fmt::format("{}: {} ranks, from its bandwidths; the list of devices goes to {}",
                             evidence.raw.where, ranks, listed));
}

} // namespace

int listed_ranks(const NcclContext& context)
{
    if (context.devices.empty())
        return 0;
    const int group = context.devices.front().group;
    int in_group = 0;
    int last = 0;
    for (const NcclDevice& device : context.devices) {
        last = std::max(last, device.rank);
        in_group += device.group == group ? 1 : 0;
    }
    const auto all = static_cast<int>(context.devices.size());
    if (in_group < all)
        return in_group;
    // The JSON output lists the first device of each process.
    const auto each = static_cast<int>(std::min<std::int64_t>(ranks_per_process(context), 1024));
    const bool first_of_each = last == (all - 1) * each;
    return std::max(first_of_each ? last + each : last + 1, each);
}

bool is_single_rank(const RawSweep& raw, const SweepHints& hints, const BusRatio& ratio)
{
    if (ratio.rows > 0 && ratio.range.high < 0.1)
        return true;
    if (hints.ranks == 1)
        return true;
    const bool told = ratio.rows > 0 && ratio.range.high < 0.999;
    return !told && listed_ranks(raw.context) == 1 && launched_ranks(raw.context) <= 1;
}

tl::expected<int, std::string> settle_ranks(const RankEvidence& evidence, ImportNotes& notes)
{
    Candidates range;
    if (evidence.ratio.rows > 0)
        if (const auto within = ranks_within(evidence.collective, evidence.ratio.range))
            range = {within->first, within->second};
    if (counts_one_share(evidence.collective) && evidence.share.value) {
        const auto share =
            static_cast<int>(std::min<std::int64_t>(*evidence.share.value, most_ranks));
        if (!range.contains(share))
            return tl::make_unexpected(
                fmt::format("size and count speak of {} ranks, its bus bandwidth does not", share));
        range = {share, share};
    }
    if (evidence.hints.ranks) {
        if (!range.contains(*evidence.hints.ranks))
            return tl::make_unexpected(
                fmt::format("its bandwidths are not those of {} ranks (between {} and {})",
                            *evidence.hints.ranks, range.low, range.high));
        return *evidence.hints.ranks;
    }
    if (const int stated = stated_within(evidence, range, notes); stated > 0) {
        note_contradiction(evidence, stated, notes);
        return stated;
    }
    if (range.high >= most_ranks)
        return tl::make_unexpected(std::string("how many ranks took part is not said"));
    const int ranks = roundest(range.low, range.high);
    add_note(notes.assumed, fmt::format("{}: {} ranks: its bandwidths say {} to {}",
                                        evidence.raw.where, ranks, range.low, range.high));
    note_contradiction(evidence, ranks, notes);
    return ranks;
}

int settle_nodes(const RankEvidence& evidence, int ranks, ImportNotes& notes)
{
    const NcclContext& context = evidence.raw.context;
    if (evidence.hints.nodes)
        return *evidence.hints.nodes;
    if (listed_ranks(context) == ranks) {
        std::set<std::string> hosts;
        for (const NcclDevice& device : context.devices)
            hosts.insert(device.host);
        return static_cast<int>(hosts.size());
    }
    if (context.threads && context.gpus && ranks_per_process(context) == ranks)
        return 1; // all of them in one process
    const auto assume = [&](int nodes, std::string_view why) {
        add_note(notes.assumed, fmt::format("{}: {} node{}, {}", evidence.raw.where, nodes,
                                            nodes == 1 ? "" : "s", why));
        return nodes;
    };
    const std::int64_t each =
        std::clamp<std::int64_t>(context.processes_per_node.value_or(0), 0, 1024) *
        ranks_per_process(context);
    if (const auto pair = nodes_by_ranks_in_name(evidence.file, ranks))
        return assume(pair->first, "from the name of the file");
    if (each > 0 && ranks % each == 0)
        return assume(static_cast<int>(ranks / each), "from the launch command");
    if (const std::int64_t nodes = context.nodes.value_or(0); nodes > 0 && nodes <= ranks)
        return assume(static_cast<int>(nodes), "from the launch command");
    const auto hosts = static_cast<int>(context.hosts.size());
    if (hosts > 1 && ranks % hosts == 0)
        return assume(hosts, "the hosts that NCCL's lines come from");
    const int gpus = usual_gpus_per_node(evidence);
    return assume((ranks + gpus - 1) / gpus,
                  fmt::format("{} GPUs each: no line says where the ranks sat", gpus));
}

std::optional<std::pair<int, int>> nodes_by_ranks_in_name(const std::string& file, int ranks)
{
    for (const auto& pair : pairs_in(base_name(file)))
        if (pair.first * pair.second == ranks)
            return pair;
    return std::nullopt;
}

} // namespace trainyard
