#include "calibrate/import/settle.h"

#include "calibrate/import/settle_ranks.h"
#include "calibrate/import/sweep_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

std::string name_of(CollectiveKind kind)
{
    return std::string(to_name(kind));
}

// What the shape of the rows says when no line names the program.
CollectiveKind collective_of_rows(const RawSweep& raw, const Share& share)
{
    const bool reduces = !raw.reduction.empty() && raw.reduction != "none";
    if (share.value.value_or(1) > 1) {
        if (reduces)
            return CollectiveKind::reduce_scatter;
        // nccl-tests checks an all-to-all out of place only.
        const bool one_sided = std::any_of(raw.rows.begin(), raw.rows.end(), [](const auto& row) {
            return row.out_of_place && row.out_of_place->wrong && row.in_place &&
                   !row.in_place->wrong;
        });
        return one_sided ? CollectiveKind::all_to_all : CollectiveKind::all_gather;
    }
    if (raw.root >= 0)
        return reduces ? CollectiveKind::reduce : CollectiveKind::broadcast;
    return reduces ? CollectiveKind::all_reduce : CollectiveKind::send_receive;
}

// Whether the rows can be of that collective.
bool fits(CollectiveKind kind, const RawSweep& raw, const Share& share, const BusRatio& ratio)
{
    if (share.value && *share.value > 1 && !counts_one_share(kind))
        return false;
    if (share.value && *share.value == 1 && counts_one_share(kind))
        return false;
    if (ratio.rows > 0 && !ranks_within(kind, ratio.range))
        return false;
    const bool reduces = !raw.reduction.empty() && raw.reduction != "none";
    const bool must_not = kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all;
    return !(reduces && must_not);
}

// The collective that a file's name speaks of: "h100_2x8_allreduce.txt".
std::optional<CollectiveKind> collective_in_name(const std::string& file)
{
    std::string plain;
    for (const char c : file.substr(file.find_last_of('/') + 1))
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const std::string_view word :
         {"allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "sendrecv", "reduce"})
        if (plain.find(word) != std::string::npos)
            return collective_named(word);
    return std::nullopt;
}

struct Chooser {
    const RawSweep& raw;
    const SweepHints& hints;
    const std::string& file;
    const Share& share;
    const BusRatio& ratio;
    ImportNotes& notes;

    tl::expected<CollectiveKind, std::string> choose() const
    {
        if (hints.collective)
            return fits(*hints.collective, raw, share, ratio)
                       ? tl::expected<CollectiveKind, std::string>(*hints.collective)
                       : tl::make_unexpected(fmt::format("its numbers are not those of {}",
                                                         name_of(*hints.collective)));
        const std::string& program = raw.context.program;
        const std::optional<CollectiveKind> named = collective_named(program);
        if (named && fits(*named, raw, share, ratio))
            return *named;
        if (!program.empty() && !named)
            return tl::make_unexpected(
                fmt::format("{} is no collective that is modelled here", program));
        return by_shape(named);
    }

    tl::expected<CollectiveKind, std::string> by_shape(std::optional<CollectiveKind> named) const
    {
        const CollectiveKind shape = collective_of_rows(raw, share);
        const std::optional<CollectiveKind> by_name = collective_in_name(file);
        const bool take_name = by_name && fits(*by_name, raw, share, ratio);
        const CollectiveKind kind = take_name ? *by_name : shape;
        if (!fits(kind, raw, share, ratio))
            return tl::make_unexpected(fmt::format(
                "bus over algorithm bandwidth ({:.4f} to {:.4f}) belongs to no collective",
                ratio.range.low, ratio.range.high));
        if (named)
            add_note(notes.flagged, fmt::format("{}: {} is named, but the numbers are of {}",
                                                raw.where, name_of(*named), name_of(kind)));
        else
            add_note(
                notes.assumed,
                fmt::format("{}: collective {}, from {}: no line names the program", raw.where,
                            name_of(kind),
                            take_name ? "the name of the file" : "its columns and bus factor"));
        return kind;
    }
};

// The name that most devices carry.
std::string device_name(const NcclContext& context, std::vector<std::string>& flags)
{
    std::map<std::string, int> names;
    for (const NcclDevice& device : context.devices)
        ++names[device.name];
    if (names.empty())
        return {};
    if (names.size() > 1)
        flags.push_back("the GPUs of the run differ");
    return std::max_element(names.begin(), names.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

std::string word_or(const std::map<std::string, std::string>& variables, const std::string& name)
{
    const auto found = variables.find(name);
    return found == variables.end() ? "auto" : found->second;
}

Sweep with_context(const RawSweep& raw, const std::string& file)
{
    const NcclContext& context = raw.context;
    Sweep sweep;
    sweep.source = file;
    sweep.flags = context.flags;
    sweep.device = device_name(context, sweep.flags);
    sweep.data_type = raw.data_type;
    sweep.reduction = raw.reduction == "none" ? "" : raw.reduction;
    sweep.root = raw.root;
    sweep.nccl_version = context.nccl_version;
    sweep.nccl_tests_version = context.tests_version;
    sweep.variables = context.variables;
    sweep.algorithm = word_or(context.variables, "NCCL_ALGO");
    sweep.protocol = word_or(context.variables, "NCCL_PROTO");
    if (raw.average_bus_bandwidth)
        sweep.average_bus_bandwidth = Bandwidth(*raw.average_bus_bandwidth);
    return sweep;
}

// Tests before 2020 gave the rate of one rank's share where the count is a share, and a bus factor
// of n - 1. Such rates are left out; bus bandwidth and time mean the same in both.
RawSweep in_todays_terms(const RawSweep& raw, ImportNotes& notes)
{
    const Share share = share_of(raw.rows, element_bytes(raw.data_type));
    const auto ranks = static_cast<std::uint64_t>(share.value.value_or(1));
    if (ranks < 2 || share.mixed)
        return raw;
    std::vector<SweepRow> of_shares = raw.rows;
    int today = 0;
    int before = 0;
    for (SweepRow& row : of_shares) {
        const Bytes size = row.size;
        row.size = Bytes(row.size.value() / ranks);
        for (const auto& timing : {row.out_of_place, row.in_place})
            if (timing && timing->algorithm_bandwidth.value() > 0.5e9) {
                today += rate_agrees(size, *timing) ? 1 : 0;
                before += rate_agrees(row.size, *timing) ? 1 : 0;
            }
    }
    const BusRatio ratio = bus_ratio(of_shares);
    const auto factor = static_cast<double>(ranks - 1);
    if (before <= today || ratio.range.low > factor * 1.001 || ratio.range.high < factor * 0.999)
        return raw;
    RawSweep out = raw;
    for (SweepRow& row : out.rows)
        for (std::optional<SweepTiming>* const timing : {&row.out_of_place, &row.in_place})
            if (*timing)
                (*timing)->algorithm_bandwidth = Bandwidth(0);
    add_note(notes.ignored,
             fmt::format("{}: algorithm bandwidths of one rank's share, as old tests "
                         "print them",
                         raw.where));
    return out;
}

tl::expected<Sweep, std::string> settle_rows(const RawSweep& raw, const SweepHints& hints,
                                             const std::string& file, ImportNotes& notes)
{
    Sweep sweep = with_context(raw, file);
    if (const auto refused = take_rows(raw, sweep, notes); !refused.empty())
        return tl::make_unexpected(refused);
    const Share share = share_of(sweep.rows, element_bytes(raw.data_type));
    const BusRatio ratio = bus_ratio(sweep.rows);
    if (share.mixed)
        return tl::make_unexpected(
            std::string("size and count of its rows do not belong together (runs are mixed)"));
    if (ratio.rows_disagree)
        return tl::make_unexpected(
            std::string("bus over algorithm bandwidth differs among its rows (runs are mixed)"));
    if (is_single_rank(raw, hints, ratio))
        return tl::make_unexpected(std::string("one rank communicates with nobody (n = 1)"));

    const auto collective = Chooser{raw, hints, file, share, ratio, notes}.choose();
    if (!collective)
        return tl::make_unexpected(collective.error());
    sweep.collective = *collective;
    const auto ranks = settle_ranks({raw, hints, file, *collective, share, ratio}, notes);
    if (!ranks)
        return tl::make_unexpected(ranks.error());
    sweep.ranks = *ranks;
    sweep.nodes = settle_nodes({raw, hints, file, *collective, share, ratio}, *ranks, notes);
    if (const auto refused = check_sweep(raw, sweep); !refused.empty())
        return tl::make_unexpected(refused);
    return sweep;
}

} // namespace

tl::expected<Sweep, std::string> settle(const RawSweep& raw, const SweepHints& hints,
                                        const std::string& file, ImportNotes& notes)
{
    return settle_rows(in_todays_terms(raw, notes), hints, file, notes);
}

} // namespace trainyard
