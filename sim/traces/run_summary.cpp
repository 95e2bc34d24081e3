#include "sim/traces/run_summary.h"

#include "sim/cost/collective_form.h"
#include "sim/traces/trace_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace trainyard {
namespace {

using TransferTimesOfRanks = std::vector<std::vector<TransferMoving>>;

RankSummary rank_summary(const JobTrace& job, const TransferTimesOfRanks& times, std::size_t r)
{
    const RankActivity& rank = job.ranks[r];
    RankSummary out;
    out.rank = rank.rank;
    out.file = rank.file;
    out.steps = rank.steps.size();
    const double share = 1 / static_cast<double>(rank.steps.size());
    const auto add = [&](Seconds& sum, TraceTime time) { sum += share * to_seconds(time); };
    for (const TraceStep& step : rank.steps) {
        const StepAccount account = step_account(job, times[r], r, step.span);
        add(out.step, account.step);
        add(out.gaps, account.gaps);
        add(out.untold, account.untold);
        add(out.compute_busy, account.compute_busy);
        add(out.communication_busy, account.communication_busy);
        for (std::size_t k = 0; k < time_kind_count; ++k)
            add(out.time[k], account.time[k]);
        for (std::size_t w = 0; w < device_work_count; ++w) {
            add(out.work[w], account.work[w]);
            out.ops[w] += share * static_cast<double>(account.ops[w]);
        }
    }
    std::set<std::uint32_t> streams;
    for (const TraceOp& op : rank.ops) {
        streams.insert(op.stream);
        out.left_over += op.left_over ? 1 : 0;
    }
    out.streams = streams.size();
    out.launches = share * static_cast<double>(rank.launches);
    for (const TraceSpan& wait : rank.host_waits)
        add(out.host_waiting, wait.length());
    out.clock_offset = to_seconds(job.clock_offsets[r]);
    out.offset_spread = to_seconds(job.offset_spreads[r]);
    return out;
}

// Of an execution trace: what there is to do, with what is stated of time.
RankSummary graph_summary(const RankActivity& rank)
{
    RankSummary out;
    out.rank = rank.rank;
    out.file = rank.file;
    out.steps = rank.steps.size();
    out.graph = rank.graph;
    const double share = 1 / static_cast<double>(rank.steps.size());
    for (const TraceOp& op : rank.ops) {
        if (!step_at(rank.steps, op.span.start))
            continue;
        const auto work = static_cast<std::size_t>(op.work);
        const Seconds time = share * to_seconds(op.span.length());
        out.ops[work] += share;
        out.flops[work] += share * op.flops;
        out.work[work] += time;
        PhaseWork& phase = out.phases[static_cast<std::size_t>(op.phase)];
        phase.ops += share;
        phase.flops += share * op.flops;
        phase.transfers += op.transfer == TraceOp::no_transfer ? 0 : share;
        phase.time += time;
    }
    return out;
}

// Nothing says when data began to move.
TransferTimesOfRanks kernels_as_transfers(const JobTrace& job)
{
    TransferTimesOfRanks out;
    for (const RankActivity& rank : job.ranks) {
        out.emplace_back(rank.transfers.size());
        for (const TraceOp& op : rank.ops)
            if (op.transfer != TraceOp::no_transfer)
                out.back()[op.transfer].moving_from = op.span.start;
    }
    return out;
}

double rank_steps(const JobTrace& job)
{
    std::size_t count = 0;
    for (const RankActivity& rank : job.ranks)
        count += rank.steps.size();
    return static_cast<double>(count);
}

Seconds middle_of_times(std::vector<Seconds>& times)
{
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

class TransferRows {
public:
    TransferRows(const JobTrace& job, const TransferTimesOfRanks& times) : job_(job)
    {
        for (std::size_t r = 0; r < job.ranks.size(); ++r)
            for (const TraceOp& op : job.ranks[r].ops)
                if (op.transfer != TraceOp::no_transfer &&
                    step_at(job.ranks[r].steps, op.span.start))
                    add(job.ranks[r].transfers[op.transfer], op, times[r][op.transfer]);
    }

    std::vector<TransferRow> rows()
    {
        std::vector<TransferRow> out;
        const double share = 1 / rank_steps(job_);
        for (auto& [key, sums] : sums_) {
            TransferRow row = sums.row;
            row.count = share * static_cast<double>(sums.kernel.size());
            row.kernel = middle_of_times(sums.kernel);
            row.moving = middle_of_times(sums.moving);
            row.quickest = *std::min_element(sums.moving.begin(), sums.moving.end());
            row.recorded = sums.moving.size();
            const auto slow =
                sums.moving.begin() + static_cast<std::ptrdiff_t>(row.recorded * 9 / 10);
            std::nth_element(sums.moving.begin(), slow, sums.moving.end());
            row.slow = *slow;
            if (row.kind && row.bytes > 0 && row.ranks > 0 && row.moving.value() > 0) {
                row.algorithm_bandwidth = Bytes(row.bytes) / row.moving;
                row.bus_bandwidth =
                    Bandwidth(row.algorithm_bandwidth.value() * bus_factor(*row.kind, row.ranks));
            }
            out.push_back(std::move(row));
        }
        std::stable_sort(out.begin(), out.end(), [](const TransferRow& a, const TransferRow& b) {
            return a.count * a.kernel.value() > b.count * b.kernel.value();
        });
        return out;
    }

private:
    struct Sums {
        TransferRow row;
        std::vector<Seconds> kernel;
        std::vector<Seconds> moving;
    };
    using RowKey = std::tuple<std::optional<CollectiveKind>, std::optional<GroupKind>, int,
                              std::uint64_t, std::string, std::string>;

    static TransferRow describe(const TraceTransfer& transfer, std::optional<GroupKind> role)
    {
        TransferRow row;
        row.kind = transfer.kind;
        row.group = transfer.group;
        row.role = role;
        row.ranks = transfer.ranks;
        row.bytes = transfer.bytes;
        row.dtype = transfer.dtype;
        row.source = MovingFrom::stated;
        return row;
    }

    void add(const TraceTransfer& transfer, const TraceOp& op, const TransferMoving& time)
    {
        const std::optional<GroupKind> role = job_.role_of(transfer);
        // Groups of one purpose and size are one row: each rank has its own.
        const std::string group = role ? "" : transfer.group;
        Sums& sums =
            sums_[{transfer.kind, role, transfer.ranks, transfer.bytes, transfer.dtype, group}];
        if (sums.kernel.empty())
            sums.row = describe(transfer, role);
        sums.row.source = std::max(sums.row.source, time.source);
        sums.kernel.push_back(to_seconds(op.span.length()));
        sums.moving.push_back(to_seconds(op.span.end - time.moving_from));
    }

    const JobTrace& job_;
    std::map<RowKey, Sums> sums_;
};

std::vector<StragglerRow> straggler_rows(const JobTrace& job, const TransferTimesOfRanks& times)
{
    std::map<int, StragglerRow> rows;
    const double share = static_cast<double>(job.ranks.size()) / rank_steps(job);
    bool any = false;
    for (const MatchedCollective& collective : job.collectives) {
        if (!collective.complete)
            continue;
        any = true;
        for (const auto& member : collective.members) {
            const TraceOp& op = job.ranks[member.rank].ops[member.op];
            const TransferMoving& time = times[member.rank][op.transfer];
            const Seconds waited = share * to_seconds(time.moving_from - op.span.start);
            const int rank = job.ranks[member.rank].rank;
            rows[rank].waited += waited;
            if (time.last_arriver == rank)
                rows[rank].last += share;
            else if (time.last_arriver >= 0)
                rows[time.last_arriver].kept += waited;
        }
    }
    std::vector<StragglerRow> out;
    for (auto& [rank, row] : rows) {
        row.rank = rank;
        if (any)
            out.push_back(row);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const StragglerRow& a, const StragglerRow& b) { return a.kept > b.kept; });
    return out;
}

struct KernelUse {
    double count = 0;
    Seconds time;
    double flops = 0;

    void add(const KernelUse& other)
    {
        count += other.count;
        time += other.time;
        flops += other.flops;
    }
};

std::vector<RecordedKernel> kernel_uses(const JobTrace& job)
{
    std::map<std::tuple<DeviceWork, std::string, std::string>, KernelUse> uses;
    const double share = 1 / rank_steps(job);
    for (const RankActivity& rank : job.ranks) {
        // Names differ from rank to rank in their numbers alone.
        std::map<std::tuple<DeviceWork, TraceNameId, TraceNameId>, KernelUse> own;
        for (const TraceOp& op : rank.ops)
            if (op.transfer == TraceOp::no_transfer && step_at(rank.steps, op.span.start)) {
                const bool product = op.work == DeviceWork::gemm ||
                                     op.work == DeviceWork::attention ||
                                     op.work == DeviceWork::convolution;
                own[{op.work, op.name, product ? op.shapes : TraceNameId::none()}].add(
                    {share, share * to_seconds(op.span.length()), share * op.flops});
            }
        for (const auto& [key, use] : own)
            uses[{std::get<0>(key), rank.text(std::get<1>(key)), rank.text(std::get<2>(key))}].add(
                use);
    }
    std::vector<RecordedKernel> out;
    for (const auto& [key, use] : uses)
        out.push_back(
            {std::get<0>(key), std::get<1>(key), std::get<2>(key), use.count, use.time, use.flops});
    std::stable_sort(out.begin(), out.end(), [](const RecordedKernel& a, const RecordedKernel& b) {
        return std::tie(a.time, a.flops) > std::tie(b.time, b.flops);
    });
    return out;
}

// Where transfers name no group, each that the job describes may carry them.
void find_sizes(const JobTrace& job, RunSummary& out)
{
    for (const JobTraceGroup& group : job.groups) {
        const bool used =
            std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankActivity& rank) {
                return std::any_of(rank.transfers.begin(), rank.transfers.end(),
                                   [&](const TraceTransfer& transfer) {
                                       return transfer.group == group.name ||
                                              (transfer.group.empty() && group.role_stated);
                                   });
            });
        if (!used || group.name.empty())
            continue;
        out.groups.push_back(group);
        if (group.role && group.ranks > 1) {
            std::optional<int>& size = out.sizes[static_cast<std::size_t>(*group.role)];
            size = std::max(size.value_or(1), group.ranks);
        }
    }
}

} // namespace

RunSummary run_summary(const JobTrace& job)
{
    const bool timeline = job.ranks.front().times == TimesStated::timeline;
    const TransferTimesOfRanks times = timeline ? transfer_times(job) : kernels_as_transfers(job);
    RunSummary out;
    for (const RankActivity& rank : job.ranks)
        out.times = std::max(out.times, rank.times);
    for (const RankActivity& rank : job.ranks)
        out.on_host = out.on_host || rank.on_host || (rank.graph && rank.graph->on_host);
    out.world = job.world;
    out.backend = job.backend;
    out.device = job.device;
    out.doubts = job.doubts;
    out.assumed = job.assumed;
    out.step_source = job.ranks.front().step_source;
    for (const TraceStep& step : job.ranks.front().steps)
        out.step_numbers.push_back(step.number);
    Seconds device;
    Seconds unknown;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
        out.ranks.push_back(timeline ? rank_summary(job, times, r) : graph_summary(job.ranks[r]));
        out.step += (1 / static_cast<double>(job.ranks.size())) * out.ranks.back().step;
        for (const Seconds work : out.ranks.back().work)
            device += work;
        unknown += out.ranks.back().work[static_cast<std::size_t>(DeviceWork::other)];
        if (!job.ranks[r].other_devices.empty())
            out.assumed.push_back(fmt::format("{}: device {} of {} alone is looked at",
                                              job.ranks[r].file, job.ranks[r].device,
                                              job.ranks[r].other_devices.size() + 1));
    }
    out.not_recognised = device.value() > 0 ? unknown / device : 0;
    out.transfers = TransferRows(job, times).rows();
    if (timeline)
        out.stragglers = straggler_rows(job, times);
    out.kernels = kernel_uses(job);
    find_sizes(job, out);
    return out;
}

} // namespace trainyard
