#include "sim/program/repetition.h"

namespace trainyard {

namespace {

class Search {
public:
    explicit Search(const Role& role)
        : order_(role.order), size_(static_cast<std::uint32_t>(role.order.size()))
    {}

    // Of the periods that come twice from the middle on, the shortest that holds for half of the
    // step; else the one that holds the longest.
    Repetition run()
    {
        std::uint32_t middle = size_ / 2;
        while (middle < size_ && order_[middle].micro_batch == BlockUse::no_index)
            ++middle;
        Repetition best;
        for (std::uint32_t period = 1; middle + 2 * period <= size_ && period <= size_ / 4;
             ++period) {
            if (!starts_period(middle, period) || !holds(middle, middle + period))
                continue;
            const Repetition found = extended(middle);
            if (found.uses() > best.uses())
                best = found;
            if (best.uses() > size_ / 2)
                break;
        }
        return best;
    }

private:
    bool starts_period(std::uint32_t at, std::uint32_t period)
    {
        const BlockUse& here = order_[at];
        const BlockUse& there = order_[at + period];
        if (here.block != there.block || here.layer != there.layer ||
            here.micro_batch == BlockUse::no_index || there.micro_batch <= here.micro_batch ||
            there.micro_batch == BlockUse::no_index)
            return false;
        period_ = period;
        step_ = static_cast<std::uint32_t>(there.micro_batch - here.micro_batch);
        return true;
    }

    bool matches(std::uint32_t at) const
    {
        const BlockUse& here = order_[at];
        const BlockUse& there = order_[at + period_];
        const bool counted = here.micro_batch != BlockUse::no_index;
        return here.block == there.block && here.layer == there.layer &&
               there.micro_batch == (counted ? here.micro_batch + step_ : BlockUse::no_index);
    }

    bool holds(std::uint32_t begin, std::uint32_t end) const
    {
        for (std::uint32_t i = begin; i < end; ++i)
            if (!matches(i))
                return false;
        return true;
    }

    Repetition extended(std::uint32_t middle) const
    {
        std::uint32_t first = middle;
        while (first > 0 && matches(first - 1))
            --first;
        std::uint32_t last = middle + period_;
        while (last + period_ < size_ && matches(last))
            ++last;
        return {first, period_, (last + period_ - first) / period_, step_};
    }

    const std::vector<BlockUse>& order_;
    std::uint32_t size_;
    std::uint32_t period_ = 0;
    std::uint32_t step_ = 0;
};

} // namespace

Repetition find_repetition(const Role& role)
{
    return Search(role).run();
}

} // namespace trainyard
