#pragma once

// A store in front of whoever finds points out.

#include "sim/study/store/plan_store.h"
#include "sim/study/store/question.h"

namespace trainyard {

class StoredPoints final : public Points {
public:
    // `stores` are asked in this order; what none of them has comes from `source` and goes to
    // `keeps`, where that is not null.
    StoredPoints(const SearchBase& base, std::vector<PlanStore*> stores, PlanStore* keeps,
                 Points& source)
        : base_(base), questions_(base), stores_(std::move(stores)), keeps_(keeps), source_(source)
    {}

    int at_once() const override { return source_.at_once(); }
    PointFacts facts(const LayoutChoice& choice, const PointLimits& limits,
                     const std::optional<PointFacts>& known = {}) override;

private:
    std::optional<PointFacts> find(const std::string& point) const;

    const SearchBase& base_;
    Questions questions_;
    std::vector<PlanStore*> stores_;
    PlanStore* keeps_;
    Points& source_;
};

} // namespace trainyard
