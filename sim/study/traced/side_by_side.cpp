#include "sim/study/traced/side_by_side.h"

#include "sim/cost/device_catalogue.h"
#include "sim/engine/totals.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

// Nothing: no kernel that computes.
std::optional<ComparedWork> compared(DeviceWork work)
{
    switch (work) {
    case DeviceWork::gemm:
    case DeviceWork::convolution:
        return ComparedWork::products;
    case DeviceWork::attention:
        return ComparedWork::attention;
    case DeviceWork::optimizer:
        return ComparedWork::updates;
    case DeviceWork::communication:
        return std::nullopt;
    case DeviceWork::norm:
    case DeviceWork::loss:
    case DeviceWork::embedding:
    case DeviceWork::moe:
    case DeviceWork::quantise:
    case DeviceWork::elementwise:
    case DeviceWork::reduction:
    case DeviceWork::index:
    case DeviceWork::copy:
    case DeviceWork::other:
        break;
    }
    return ComparedWork::memory_bound;
}

class PairOfSteps {
public:
    PairOfSteps(const RunSummary& recorded, const Outcome& simulated)
        : recorded_(recorded), simulated_(simulated)
    {
        for (const Lane& lane : simulated.binding->lanes)
            ranks_ += lane.multiplicity;
        add_recorded();
        add_simulated();
    }

    SideBySide take() &&
    {
        for (auto& [key, pair] : transfers_)
            out_.transfers.push_back(pair);
        std::stable_sort(out_.transfers.begin(), out_.transfers.end(),
                         [](const TransferPair& a, const TransferPair& b) {
                             return std::max(a.recorded, a.simulated) >
                                    std::max(b.recorded, b.simulated);
                         });
        return std::move(out_);
    }

private:
    TransferPair& transfer(CollectiveKind kind, GroupKind group)
    {
        const TimeKind purpose = engine::exposed_kind(group);
        TransferPair& pair = transfers_[{kind, purpose}];
        pair.collective = kind;
        pair.purpose = purpose;
        return pair;
    }

    void add_recorded()
    {
        out_.recorded = recorded_.step;
        const double share = 1 / static_cast<double>(recorded_.ranks.size());
        for (const RankSummary& rank : recorded_.ranks) {
            for (std::size_t k = 0; k < time_kind_count; ++k)
                out_.recorded_time[k] += share * rank.time[k];
            out_.recorded_gaps += share * rank.gaps;
            out_.recorded_untold += share * rank.untold;
            out_.recorded_launches += share * rank.launches;
            for (std::size_t w = 0; w < device_work_count; ++w)
                if (const auto work = compared(static_cast<DeviceWork>(w))) {
                    WorkPair& pair = out_.work[static_cast<std::size_t>(*work)];
                    pair.recorded += share * rank.work[w];
                    pair.recorded_ops += share * rank.ops[w];
                }
        }
        for (const TransferRow& row : recorded_.transfers) {
            if (!row.kind || !row.role)
                continue;
            TransferPair& pair = transfer(*row.kind, *row.role);
            pair.recorded_count += row.count;
            pair.recorded_bytes += row.count * static_cast<double>(row.bytes);
            pair.recorded += row.count * row.moving;
        }
    }

    void add_simulated()
    {
        const StepResult& result = *simulated_.result;
        out_.simulated = to_seconds(result.step_time);
        for (std::size_t l = 0; l < result.lanes.size(); ++l) {
            const double share = simulated_.binding->lanes[l].multiplicity / ranks_;
            for (std::size_t k = 0; k < time_kind_count; ++k)
                out_.simulated_time[k] += share * to_seconds(result.lanes[l].time[k]);
            for_each_kernel(simulated_, make_id<LaneId>(l), [&](const KernelUses& uses) {
                WorkPair& pair = out_.work[static_cast<std::size_t>(compared_work(uses))];
                const double launches = uses.kernel == nullptr ? 0
                                                               : static_cast<double>(uses.count) *
                                                                     uses.kernel->launches;
                pair.simulated += share * uses.time;
                pair.simulated_ops += share * launches;
                out_.simulated_launches += share * launches;
            });
        }
        for (const TransferTotals& totals : result.transfers) {
            TransferPair& pair = transfer(totals.collective, totals.group);
            pair.simulated_count += static_cast<double>(totals.count) / ranks_;
            pair.simulated_bytes += totals.bytes / ranks_;
            pair.simulated += Seconds(totals.transfer_seconds / ranks_);
        }
    }

    const RunSummary& recorded_;
    const Outcome& simulated_;
    double ranks_ = 0;
    std::map<std::pair<CollectiveKind, TimeKind>, TransferPair> transfers_;
    SideBySide out_;
};

} // namespace

std::string_view title_of(ComparedWork work)
{
    static constexpr std::array<std::string_view, compared_work_count> titles{
        "products", "attention", "memory-bound kernels", "updates"};
    return titles[static_cast<std::size_t>(work)];
}

std::string_view key_of(ComparedWork work)
{
    static constexpr std::array<std::string_view, compared_work_count> keys{
        "products", "attention", "memory_bound", "updates"};
    return keys[static_cast<std::size_t>(work)];
}

ComparedWork compared_work(const KernelUses& uses)
{
    if (uses.phase == Phase::optimizer)
        return ComparedWork::updates;
    if (uses.kernel == nullptr)
        return ComparedWork::memory_bound;
    switch (uses.kernel->kind) {
    case KernelKind::gemm:
        return ComparedWork::products;
    case KernelKind::attention:
        return ComparedWork::attention;
    case KernelKind::memory_bound:
        break;
    }
    return ComparedWork::memory_bound;
}

SideBySide side_by_side(const RunSummary& recorded, const Outcome& simulated)
{
    return PairOfSteps(recorded, simulated).take();
}

std::optional<std::string> mismatch_of(const RunSummary& recorded, const Outcome& simulated)
{
    if (recorded.world && *recorded.world != simulated.engine.ranks)
        return fmt::format("was recorded on {} ranks, and the scenario has {}", *recorded.world,
                           simulated.engine.ranks);
    const std::string known = shipped_devices().name_in(recorded.device);
    const std::string& device = simulated.cost->profile().hardware.device.name;
    if (!known.empty() && known != device)
        return fmt::format("was recorded on {}, and the scenario's devices are {}", recorded.device,
                           device);
    return std::nullopt;
}

} // namespace trainyard
