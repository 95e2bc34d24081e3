#include "calibrate/import/sweep_checks.h"

#include "calibrate/import/bus_ratio.h"
#include "sim/cost/device_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace trainyard {
namespace {

constexpr Seconds shortest_collective(1e-6); // a kernel launch alone takes longer

// Why a row cannot be used; nothing when it can.
std::string_view fault_of(const SweepRow& row)
{
    for (const auto& timing : {row.out_of_place, row.in_place}) {
        if (!timing)
            continue;
        if (!(timing->time > Seconds(0)))
            return "took no time";
        const bool has_rate = timing->algorithm_bandwidth.value() > 0;
        if (has_rate && !rate_agrees(row.size, *timing))
            return "contradict their own size and time";
    }
    return {};
}

bool is_repeated(const std::vector<SweepRow>& rows, const SweepRow& row)
{
    return !rows.empty() && rows.back() == row;
}

// The mean of all bus bandwidths printed, as the closing line of nccl-tests has it.
double mean_bus_bandwidth(const std::vector<SweepRow>& rows)
{
    double sum = 0;
    int count = 0;
    for (const SweepRow& row : rows)
        for (const auto& timing : {row.out_of_place, row.in_place})
            if (timing) {
                sum += timing->bus_bandwidth.value();
                ++count;
            }
    return count > 0 ? sum / count : 0;
}

void check_average(const RawSweep& raw, Sweep& sweep)
{
    if (!raw.average_bus_bandwidth)
        return;
    const double mean = mean_bus_bandwidth(raw.rows);
    const double printed = *raw.average_bus_bandwidth;
    if (std::abs(mean - printed) > 0.01 * printed + 0.01e9)
        sweep.flags.push_back(fmt::format(
            "the printed average of {:.4g} GB/s is not that of the rows ({:.4g}): rows are missing",
            printed / 1e9, mean / 1e9));
}

void check_extent(const RawSweep& raw, Sweep& sweep)
{
    if (raw.lost_rows > 0)
        sweep.flags.push_back(fmt::format("{} row{} cut or unreadable", raw.lost_rows,
                                          raw.lost_rows == 1 ? " is" : "s are"));
    const auto largest =
        std::max_element(sweep.rows.begin(), sweep.rows.end(),
                         [](const SweepRow& a, const SweepRow& b) { return a.size < b.size; });
    const auto wanted = raw.context.max_bytes.value_or(0);
    if (wanted <= 0 || largest == sweep.rows.end())
        return;
    const auto last = static_cast<double>(largest->size.value());
    const auto most = static_cast<double>(wanted);
    if (!raw.ended && last * 2 <= most)
        sweep.flags.push_back(fmt::format("cut: it ends at {} bytes of {}", last, most));
    else if (last > most * 1.01 + 4096)
        sweep.flags.push_back(
            fmt::format("goes to {} bytes where the run was to end at {}", last, most));
}

// Rows of two runs that were written to one file at once stand in pairs of one size.
void check_repeats(Sweep& sweep)
{
    constexpr double noticed = 1.1;
    std::map<Bytes, std::pair<Seconds, Seconds>> extremes;
    for (const SweepRow& row : sweep.rows)
        if (row.out_of_place) {
            const Seconds time = row.out_of_place->time;
            auto& [least, most] = extremes.try_emplace(row.size, time, time).first->second;
            least = std::min(least, time);
            most = std::max(most, time);
        }
    int apart = 0;
    double worst = 1;
    for (const auto& [size, times] : extremes) {
        apart += times.second > noticed * times.first ? 1 : 0;
        worst = std::max(worst, times.second / times.first);
    }
    if (apart > 0)
        sweep.flags.push_back(fmt::format("{} size{} timed more than once, up to {:.0f} % apart: "
                                          "runs may be mixed",
                                          apart, apart == 1 ? "" : "s", 100 * (worst - 1)));
}

void check_results(const RawSweep& raw, Sweep& sweep)
{
    int wrong = 0;
    for (const SweepRow& row : sweep.rows)
        for (const auto& timing : {row.out_of_place, row.in_place})
            wrong += timing && timing->wrong.value_or(0) > 0 ? 1 : 0;
    if (wrong > 0)
        sweep.flags.push_back(
            fmt::format("wrong results in {} timing{}", wrong, wrong == 1 ? "" : "s"));
    else if (raw.out_of_bounds.value_or(0) > 0)
        sweep.flags.push_back(
            fmt::format("{} values out of bounds: the run failed its check", *raw.out_of_bounds));
    if (raw.host_time)
        sweep.flags.push_back("times are the host's (cputime), not the collective's");
}

void check_placement(const RawSweep& raw, Sweep& sweep)
{
    std::set<std::tuple<std::string, std::string, int>> places;
    for (const NcclDevice& device : raw.context.devices)
        if (device.group == raw.context.devices.front().group &&
            !places.emplace(device.host, device.bus, device.device).second)
        {
            sweep.flags.push_back("two ranks name the same GPU");
            return;
        }
}

void check_versions(const RawSweep& raw, Sweep& sweep)
{
    const NcclContext& context = raw.context;
    if (!context.header_version.empty() && !context.nccl_version.empty() &&
        context.header_version != context.nccl_version)
        sweep.flags.push_back(fmt::format("compiled for NCCL {}, run with {}",
                                          context.header_version, context.nccl_version));
}

// The fastest that data crossed one GPU's link. An all-reduce in the network sends each byte once.
double link_rate(const Sweep& sweep, const SweepTiming& timing)
{
    return sweep.collective == CollectiveKind::all_reduce ? timing.algorithm_bandwidth.value()
                                                          : timing.bus_bandwidth.value();
}

// All NVLinks, those of a bridge too, or the card's PCIe both ways; 0: its file says neither.
Bandwidth fastest_link(const Device& device)
{
    return std::max({device.nvlink, device.nvlink_rate * device.nvlinks, device.pcie * 2});
}

} // namespace

std::string take_rows(const RawSweep& raw, Sweep& sweep, ImportNotes& notes)
{
    int empty = 0;
    int repeated = 0;
    std::map<std::string_view, int> faults;
    for (const SweepRow& row : raw.rows) {
        if (row.size.value() == 0)
            ++empty;
        else if (is_repeated(sweep.rows, row))
            ++repeated;
        else if (const std::string_view fault = fault_of(row); !fault.empty())
            ++faults[fault];
        else
            sweep.rows.push_back(row);
    }
    if (empty > 0)
        add_note(notes.ignored, fmt::format("{}: {} rows of no bytes", raw.where, empty));
    if (repeated > 0)
        add_note(notes.ignored,
                 fmt::format("{}: {} rows that repeat the one before", raw.where, repeated));
    std::size_t bad = 0;
    for (const auto& [fault, count] : faults) {
        sweep.flags.push_back(fmt::format("left out: {} rows that {}", count, fault));
        bad += static_cast<std::size_t>(count);
    }
    if (sweep.rows.empty())
        return bad > 0 ? "its rows " + std::string(faults.begin()->first) : "it has no rows";
    if (bad * 4 > sweep.rows.size())
        return fmt::format("{} of its {} rows {}", bad, bad + sweep.rows.size(),
                           faults.begin()->first);
    return {};
}

std::string check_sweep(const RawSweep& raw, Sweep& sweep)
{
    const Bandwidth limit = fastest_link(sweep.device);
    bool short_time = false;
    for (const SweepRow& row : sweep.rows)
        for (const auto& timing : {row.out_of_place, row.in_place}) {
            if (!timing)
                continue;
            if (link_rate(sweep, *timing) > limit.value() * 1.05)
                return fmt::format("{:.4g} GB/s at {} bytes is impossible: a link of {} has {:.4g}",
                                   link_rate(sweep, *timing) / 1e9, row.size.value(),
                                   sweep.device.empty() ? "any GPU" : sweep.device,
                                   limit.value() / 1e9);
            short_time = short_time || timing->time < shortest_collective;
        }
    if (short_time)
        sweep.flags.push_back("times below 1 us: nothing was communicated");
    check_average(raw, sweep);
    check_repeats(sweep);
    check_extent(raw, sweep);
    check_results(raw, sweep);
    check_placement(raw, sweep);
    check_versions(raw, sweep);
    return {};
}

Bandwidth fastest_link(std::string_view device)
{
    const DeviceCatalogue& devices = shipped_devices();
    if (const KnownDevice* const known = devices.named_in(device))
        if (const Bandwidth rate = fastest_link(known->device); rate.value() > 0)
            return rate;
    Bandwidth fastest;
    for (const KnownDevice& one : devices.all())
        fastest = std::max(fastest, one.device.nvlink);
    return 2 * fastest;
}

std::vector<std::string> disagreements(std::span<const Sweep> sweeps)
{
    std::set<std::string> versions;
    std::set<std::string> devices;
    for (const Sweep& sweep : sweeps) {
        if (!sweep.nccl_version.empty())
            versions.insert(sweep.nccl_version);
        if (!sweep.device.empty())
            devices.insert(sweep.device);
    }
    std::vector<std::string> out;
    if (versions.size() > 1)
        out.push_back(fmt::format("measured with {} versions of NCCL: {}", versions.size(),
                                  fmt::join(versions, ", ")));
    if (devices.size() > 1)
        out.push_back(fmt::format("measured on {} kinds of GPU: {}", devices.size(),
                                  fmt::join(devices, ", ")));
    return out;
}

} // namespace trainyard
