#include "sim/workload/split_backward.h"

#include <algorithm>

namespace trainyard {

namespace {

enum class Part { input, weights };

WorkList only(Part part, const WorkList& items)
{
    const auto kept = [&](const WorkItem& item) {
        const bool weights = std::visit([](const auto& what) { return what.for_weights; }, item);
        return weights == (part == Part::weights);
    };
    WorkList out;
    for (auto item = items.begin(); item != items.end(); ++item) {
        if (!kept(*item))
            continue;
        WorkItem& copy = out.emplace_back(*item);
        if (auto* communication = std::get_if<Communication>(&copy)) {
            const auto left = items.end() - item - 1;
            const auto beside = std::min<std::ptrdiff_t>(communication->needed_after, left);
            communication->needed_after =
                static_cast<int>(std::count_if(item + 1, item + 1 + beside, kept));
        }
    }
    return out;
}

} // namespace

WorkList input_part(const WorkList& backward)
{
    return only(Part::input, backward);
}

WorkList weight_part(const WorkList& backward)
{
    return only(Part::weights, backward);
}

} // namespace trainyard
