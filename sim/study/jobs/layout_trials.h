#pragma once

// Layouts weighed and simulated, one by one, as far as the time for it goes.

#include "sim/study/jobs/starting_point.h"

namespace trainyard {

// A layout that fits, and its step.
struct LayoutTrial {
    Layout layout;
    Scenario scenario;
    MemoryEstimate memory;
    Seconds step_time;
};

struct WeighedScenario {
    Scenario scenario;
    MemoryEstimate memory;
};

class LayoutTrials {
public:
    // `base` has all that layouts leave open.
    LayoutTrials(const StartRequest& request, Session& session, const LayoutFacts& facts,
                 Scenario base);

    // The part of a device's memory that layouts may take from now on.
    void allow(double share) { share_ = share; }

    Scenario scenario_of(const Layout& layout) const;

    // Its memory where that is within the allowed share.
    std::optional<MemoryEstimate> fitting(const Layout& layout);
    std::optional<MemoryEstimate> fitting(const Scenario& scenario);
    // How often that was asked of layouts.
    int memory_checks() const { return memory_checks_; }

    // Whether there is time left to simulate it.
    bool affords(const Layout& layout) const;
    // The time of its step; nothing where it is refused.
    std::optional<Seconds> simulate(const Layout& layout, MemoryEstimate memory);
    std::optional<Seconds> step_time(const Scenario& scenario);

    const std::vector<LayoutTrial>& all() const { return trials_; }
    // Requires one or more.
    const LayoutTrial& best() const;
    // Of all whose memory was asked for, that which takes the least.
    const std::optional<WeighedScenario>& leanest() const { return leanest_; }
    // Of the first that is refused for another reason.
    const Problems& problems() const { return problems_; }

private:
    ScenarioFile file_of(const Scenario& scenario) const;
    bool within_share(const MemoryEstimate& memory) const;
    std::int64_t passes_of(const Layout& layout) const;

    const StartRequest& request_;
    Session& session_;
    const LayoutFacts& facts_;
    Scenario base_;
    std::vector<LayoutTrial> trials_;
    std::optional<WeighedScenario> leanest_;
    Problems problems_;
    double share_ = 1;
    int memory_checks_ = 0;
    std::int64_t passes_ = 0;
};

} // namespace trainyard
