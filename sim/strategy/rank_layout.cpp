#include "sim/strategy/rank_layout.h"

#include "sim/strategy/stages.h"

#include <algorithm>
#include <cassert>

namespace trainyard {

namespace {

constexpr std::size_t tp_index = 0, cp_index = 1, dp_index = 2, pp_index = 3;
constexpr std::array<std::string_view, 4> dimension_names = {"tp", "cp", "dp", "pp"};

} // namespace

std::optional<std::array<int, 4>> parse_rank_order(std::string_view text)
{
    std::vector<int> order;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find('-'));
        const auto found = std::ranges::find(dimension_names, word);
        const int dimension = static_cast<int>(found - dimension_names.begin());
        if (found == dimension_names.end() || std::ranges::count(order, dimension) != 0)
            return std::nullopt;
        order.push_back(dimension);
        if (word.size() == text.size())
            break;
        text.remove_prefix(word.size() + 1);
        if (text.empty()) // a trailing dash
            return std::nullopt;
    }
    std::array<int, 4> all{};
    for (int dimension = 0; dimension < 4; ++dimension)
        if (std::ranges::count(order, dimension) == 0)
            order.push_back(dimension);
    std::ranges::copy(order, all.begin());
    return all;
}

RankLayout::RankLayout(const Job& job)
    : size_{job.strategy.tp, job.strategy.cp, job.dp(), job.strategy.pp},
      stride_{},
      a2a_(job.strategy.context.kind == ContextKind::hybrid ? job.strategy.context.a2a : 1),
      etp_(job.strategy.etp),
      ep_(job.strategy.ep),
      shard_(job.strategy.shard_group.value_or(
          job.strategy.fsdp.reshard_ranks.value_or(job.dp() * job.strategy.cp))),
      spread_(job.strategy.experts.placement == ExpertPlacement::spread),
      world_(job.world())
{
    const auto order = parse_rank_order(job.strategy.rank_order);
    assert(order);
    int stride = 1;
    for (const int dimension : *order) {
        const auto d = static_cast<std::size_t>(dimension);
        stride_[d] = stride;
        stride *= size_[d];
    }
    assert(stride == world_ && world_ / size_[pp_index] % (etp_ * ep_) == 0);
    const StagePlacement placement = placement_of(job);
    ends_ = apart_ends(placement);
    if (placement.pipes.size() > 1)
        twins_ = twins(placement);
}

RankPlace RankLayout::place(RankId rank) const
{
    const int r = static_cast<int>(rank.value);
    const auto at = [&](std::size_t d) { return r / stride_[d] % size_[d]; };
    return {at(tp_index), at(cp_index), at(dp_index), at(pp_index)};
}

RankId RankLayout::rank(const RankPlace& place) const
{
    return make_id<RankId>(
        static_cast<std::size_t>(place.tp * stride_[tp_index] + place.cp * stride_[cp_index] +
                                 place.dp * stride_[dp_index] + place.pp * stride_[pp_index]));
}

int RankLayout::group_size(GroupKind kind) const
{
    switch (kind) {
    case GroupKind::tp:
        return size_[tp_index];
    case GroupKind::cp:
        return size_[cp_index];
    case GroupKind::cp_a2a:
        return a2a_;
    case GroupKind::cp_ring:
        return size_[cp_index] / a2a_;
    case GroupKind::dp:
        return size_[dp_index] * size_[cp_index];
    case GroupKind::pp:
        return size_[pp_index];
    case GroupKind::embedding:
        return std::max(1, static_cast<int>(ends_.size()));
    case GroupKind::twin:
        return twins_.empty() ? 1 : static_cast<int>(twins_.front().size());
    case GroupKind::ep:
        return ep_;
    case GroupKind::etp:
        return etp_;
    case GroupKind::edp:
        return world_ / size_[pp_index] / (etp_ * ep_);
    case GroupKind::shard:
        return shard_;
    case GroupKind::replicate:
        return group_size(GroupKind::dp) / shard_;
    case GroupKind::world:
        return world_;
    default: // groups this layout does not form
        return 1;
    }
}

void RankLayout::append(std::vector<RankId>& out, int first, int count, int stride)
{
    for (int i = 0; i < count; ++i)
        out.push_back(make_id<RankId>(static_cast<std::size_t>(first + i * stride)));
}

std::vector<RankId> RankLayout::members(GroupKind kind, RankId rank) const
{
    const int r = static_cast<int>(rank.value);
    switch (kind) {
    case GroupKind::ep:
    case GroupKind::etp:
    case GroupKind::edp:
        return expert_members(kind, r);
    case GroupKind::shard:
    case GroupKind::replicate:
        return hybrid_members(kind, rank);
    default:
        return dense_members(kind, r);
    }
}

// The DP x CP group of the rank, cut into runs of neighbours.
std::vector<RankId> RankLayout::hybrid_members(GroupKind kind, RankId rank) const
{
    const std::vector<RankId> all = members(GroupKind::dp, rank);
    const auto shard = static_cast<std::size_t>(shard_);
    const auto place = static_cast<std::size_t>(std::ranges::find(all, rank) - all.begin());
    std::vector<RankId> out;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (kind == GroupKind::shard ? i / shard == place / shard : i % shard == place % shard)
            out.push_back(all[i]);
    return out;
}

std::vector<RankId> RankLayout::dense_members(GroupKind kind, int rank) const
{
    const auto along = [&](std::size_t d) { return rank / stride_[d] % size_[d]; };
    const auto line = [&](std::size_t d) {
        std::vector<RankId> out;
        append(out, rank - along(d) * stride_[d], size_[d], stride_[d]);
        return out;
    };
    switch (kind) {
    case GroupKind::tp:
        return line(tp_index);
    case GroupKind::cp:
        return line(cp_index);
    case GroupKind::cp_a2a:
    case GroupKind::cp_ring: {
        const bool ring = kind == GroupKind::cp_ring;
        const int before = ring ? along(cp_index) / a2a_ * a2a_ : along(cp_index) % a2a_;
        std::vector<RankId> out;
        append(out, rank - before * stride_[cp_index], group_size(kind),
               stride_[cp_index] * (ring ? a2a_ : 1));
        return out;
    }
    case GroupKind::pp:
        return line(pp_index);
    case GroupKind::dp: {
        const auto [near, far] = std::minmax(cp_index, dp_index, [&](std::size_t a, std::size_t b) {
            return stride_[a] < stride_[b];
        });
        const int first =
            rank - along(cp_index) * stride_[cp_index] - along(dp_index) * stride_[dp_index];
        std::vector<RankId> out;
        for (int i = 0; i < size_[far]; ++i)
            append(out, first + i * stride_[far], size_[near], stride_[near]);
        return out;
    }
    case GroupKind::embedding:
        return across_stages(ends_, rank);
    case GroupKind::twin: {
        const auto stage = static_cast<std::size_t>(along(pp_index));
        return across_stages(twins_.empty() ? std::vector<int>{} : twins_[stage], rank);
    }
    default: {
        std::vector<RankId> out;
        append(out, 0, world_, 1);
        return out;
    }
    }
}

std::vector<RankId> RankLayout::across_stages(const std::vector<int>& stages, int rank) const
{
    const int stride = stride_[pp_index];
    const int stage = rank / stride % size_[pp_index];
    std::vector<RankId> out;
    if (std::ranges::find(stages, stage) == stages.end()) {
        append(out, rank, 1, 1);
        return out;
    }
    for (const int other : stages)
        append(out, rank + (other - stage) * stride, 1, 1);
    return out;
}

// Ranks of a stage in ascending order, numbered from 0, are the grid etp x ep x edp, or etp x edp x
// ep when experts are spread.
int RankLayout::number_in_stage(int rank) const
{
    const int below = stride_[pp_index];       // ranks of the stage side by side
    const int block = below * size_[pp_index]; // ranks until the stage comes again
    return rank / block * below + rank % below;
}

int RankLayout::expert_stride(GroupKind kind) const
{
    if (kind == GroupKind::etp)
        return 1;
    const bool inner = (kind == GroupKind::ep) != spread_;
    return inner ? etp_ : etp_ * group_size(spread_ ? GroupKind::edp : GroupKind::ep);
}

int RankLayout::expert_rank(RankId rank) const
{
    return number_in_stage(static_cast<int>(rank.value)) / expert_stride(GroupKind::ep) % ep_;
}

std::vector<RankId> RankLayout::expert_members(GroupKind kind, int rank) const
{
    const int below = stride_[pp_index];
    const int block = below * size_[pp_index];
    const int stage_first = rank % block - rank % below; // of the stage's first rank
    const int number = number_in_stage(rank);

    const int stride = expert_stride(kind);
    const int count = group_size(kind);
    const int first = number - number / stride % count * stride;
    std::vector<RankId> out;
    for (int i = 0; i < count; ++i) {
        const int n = first + i * stride;
        append(out, n / below * block + stage_first + n % below, 1, 1);
    }
    return out;
}

} // namespace trainyard
