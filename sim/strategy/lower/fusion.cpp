// Collectives fused with their GEMMs (user buffers, decomposed TP, ring attention, chunked expert
// exchange): part of the transfer stays exposed, the rest runs beside the product that uses or
// makes the data. How much stays exposed is a constant of the software class.

#include "sim/strategy/lower/item_lowering.h"
#include "sim/strategy/lower/parts.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

namespace {

double exposed_share(const Job& job, const Communication& communication)
{
    switch (communication.group) {
    case GroupKind::tp:
        if (communication.needed_after > 0)
            return communication.kind == CollectiveKind::all_gather
                       ? job.software.regather_exposed_share
                       : 1.0;
        return *job.strategy.overlap.tp ? job.software.tp_exposed_share : 1.0;
    case GroupKind::ep:
        return communication.needed_after > 0 ? 1.0 : job.software.ep_exposed_share;
    case GroupKind::cp: // the share stands for rings that are not written step by step
        return communication.kind == CollectiveKind::all_gather ||
                       communication.kind == CollectiveKind::reduce_scatter
                   ? job.software.cp_exposed_share
                   : 1.0;
    default:
        return 1.0;
    }
}

// Is a heavy kernel issued after item `index` and before the next communication?
bool heavy_follows(const WorkList& items, std::size_t index)
{
    for (std::size_t i = index + 1; i < items.size(); ++i) {
        const auto* kernel = std::get_if<Kernel>(&items[i]);
        if (kernel == nullptr)
            return false;
        if (is_heavy(*kernel))
            return true;
    }
    return false;
}

} // namespace

std::optional<ItemLowering::Fusion> ItemLowering::fusion_of(const Communication& communication,
                                                            const WorkList& items,
                                                            std::size_t index) const
{
    const double exposed = exposed_share(job_, communication);
    const bool whole = communication.group == GroupKind::ep && exchange_ == ExpertExchange::whole;
    if (whole || exposed >= 1.0)
        return std::nullopt;
    const bool gathers = communication.kind == CollectiveKind::all_gather ||
                         communication.kind == CollectiveKind::all_to_all;
    if (gathers && heavy_follows(items, index))
        return Fusion{exposed, true};
    const bool heavy_precedes = std::ranges::any_of(run_, is_heavy);
    return heavy_precedes ? std::optional(Fusion{exposed, false}) : std::nullopt;
}

void ItemLowering::add_fused(const Communication& communication, const Fusion& fusion)
{
    const double hidden_share = 1.0 - fusion.exposed;
    if (fusion.beside_next) {
        flush();
        const std::size_t exposed = add_transfer(communication, fusion.exposed, Interference::full);
        const std::size_t hidden = add_transfer(communication, hidden_share, Interference::none);
        pending_.push_back({exposed, item_ + 1});
        pending_.push_back({.op = hidden, .due = item_ + 1, .until_heavy = true});
        return;
    }
    std::vector<Kernel> beside = take_from_last_heavy();
    flush();
    add_transfer(communication, hidden_share, Interference::none);
    run_ = std::move(beside);
    part_ = part_of(run_.front());
    flush();
    const std::size_t exposed = add_transfer(communication, fusion.exposed, Interference::full);
    pending_.push_back({exposed, item_ + 1});
}

std::vector<Kernel> ItemLowering::take_from_last_heavy()
{
    const auto last = std::find_if(run_.rbegin(), run_.rend(), is_heavy);
    const auto from = std::prev(last.base());
    std::vector<Kernel> taken(from, run_.end());
    run_.erase(from, run_.end());
    return taken;
}

} // namespace trainyard
