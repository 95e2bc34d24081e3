#include "sim/program/binding.h"

#include <algorithm>

namespace trainyard {

std::vector<LinkUse> sum_of(const Ways& ways)
{
    std::vector<LinkUse> sum = ways.uses;
    std::ranges::sort(sum, {}, &LinkUse::link);
    std::size_t last = 0;
    for (std::size_t i = 1; i < sum.size(); ++i)
        if (sum[i].link == sum[last].link)
            sum[last].coefficient += sum[i].coefficient;
        else
            sum[++last] = sum[i];
    sum.resize(sum.empty() ? 0 : last + 1);
    return sum;
}

const std::vector<LinkUse>& Group::uses(TrafficPattern pattern) const
{
    switch (pattern) {
    case TrafficPattern::tree:
        return tree;
    case TrafficPattern::nvls:
        return nvls;
    case TrafficPattern::neighbours:
        return neighbours;
    case TrafficPattern::all_to_all:
        return all_to_all;
    case TrafficPattern::ring:
        break;
    }
    return ring;
}

} // namespace trainyard
