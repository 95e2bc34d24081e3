#include "sim/study/fidelity_choice.h"

#include "sim/base/fields.h"
#include "sim/study/run_setup.h"
#include "sim/study/stages.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

// The engine shares the links of some 3 million ops per second (64 to 256 ranks on oversubscribed
// spines, one core of an AMD EPYC): about a second. To see which of a rank's links are alike
// another's takes as long as 80 ops.
constexpr double quick_ops = 4e6;
constexpr double ops_to_fold = 80;

double ops_of_roles(const Scenario& scenario, const Program& program,
                    const std::vector<double>& lanes)
{
    double ops = 0;
    for (std::size_t r = 0; r < program.roles.size(); ++r)
        ops += lanes[r] * static_cast<double>(op_count(program, program.roles[r]));
    return ops * steps_of(scenario);
}

// One lane per rank.
double ops_rank_by_rank(const Scenario& scenario, const Parts& parts)
{
    const Program& program = parts.plan->program;
    return ops_of_roles(
        scenario, program,
        std::vector<double>(program.roles.size(),
                            parts.job.world() / static_cast<double>(program.roles.size())));
}

// With links shared by those ranks alone that no other stands for.
double ops_folded(const Scenario& scenario, const Parts& parts)
{
    Scenario shared = scenario;
    shared.run.fidelity = Fidelity::bundle;
    shared.run.fold = true;
    const Binding binding = bind(*parts.plan, parts.job, *parts.topology, *parts.cost,
                                 bind_options(shared, parts, SimTime(0)));
    std::vector<double> lanes(parts.plan->program.roles.size());
    for (const Lane& lane : binding.lanes)
        ++lanes[lane.role.value];
    return ops_of_roles(scenario, parts.plan->program, lanes);
}

// Where nothing is shared, as if each role of a job without perturbations took one lane: that is
// nearly always so, and to know takes longer than to simulate the job without links.
bool is_quick(const Scenario& scenario, const Parts& parts, bool shared)
{
    if (ops_rank_by_rank(scenario, parts) <= quick_ops)
        return true;
    const Program& program = parts.plan->program;
    const double left = quick_ops - ops_to_fold * parts.job.world();
    const std::vector<double> once(program.roles.size(), 1.0);
    if (ops_of_roles(scenario, program, once) > left)
        return false;
    return shared ? ops_folded(scenario, parts) <= left : scenario.perturbations.empty();
}

} // namespace

template <>
std::vector<EnumName<FidelityReason>> enum_names<FidelityReason>()
{
    return {{FidelityReason::given, "given"},
            {FidelityReason::links_change, "links_change"},
            {FidelityReason::nothing_shared, "nothing_shared"},
            {FidelityReason::links_shared, "links_shared"},
            {FidelityReason::too_many_ops, "too_many_ops"}};
}

FidelityChoice choose_fidelity(const Scenario& scenario, const Parts& parts)
{
    const std::optional<Fidelity> given = scenario.run.fidelity;
    FidelityChoice choice{given.value_or(Fidelity::alpha_beta), FidelityReason::given};
    if (shares_links(choice.fidelity)) {
        choice.quick = is_quick(scenario, parts, false);
        return choice;
    }
    if (has_link_windows(scenario.perturbations)) {
        choice.fidelity = Fidelity::bundle;
        choice.reason = FidelityReason::links_change;
        choice.quick = is_quick(scenario, parts, false);
        return choice;
    }
    choice.shared = fabric_demand(*parts.plan, parts.job, *parts.sound, *parts.cost);
    choice.pair_ratio = std::max(1.0, choice.shared ? choice.shared->pair_share : 1.0);
    if (choice.shared && !(choice.shared->share > 1.0))
        choice.shared.reset();
    choice.quick = is_quick(scenario, parts, !given && choice.shared);
    if (given)
        return choice;
    choice.reason = !choice.shared ? FidelityReason::nothing_shared
                    : choice.quick ? FidelityReason::links_shared
                                   : FidelityReason::too_many_ops;
    if (choice.reason == FidelityReason::links_shared)
        choice.fidelity = Fidelity::bundle;
    return choice;
}

Fidelity common_fidelity(std::span<const FidelityChoice> choices)
{
    const auto is_given = [](const FidelityChoice& choice) {
        return choice.reason == FidelityReason::given;
    };
    const bool any_given = std::ranges::any_of(choices, is_given);
    std::set<Fidelity> wanted;
    for (const FidelityChoice& choice : choices)
        if (!any_given || is_given(choice))
            wanted.insert(choice.fidelity);
    if (wanted.size() == 1)
        return *wanted.begin();
    const bool share =
        !any_given && !choices.empty() && std::ranges::all_of(choices, &FidelityChoice::quick);
    return share ? Fidelity::bundle : Fidelity::alpha_beta;
}

Problems fidelity_notes(const Scenario& scenario)
{
    const std::vector<Perturbation>& all = scenario.perturbations;
    const auto found = std::ranges::find_if(all, &Perturbation::changes_links_for_a_time);
    if (found == all.end() || (scenario.run.fidelity && shares_links(*scenario.run.fidelity)))
        return {};
    return {{"", 0, fmt::format("/perturbations/{}/link", found - all.begin()),
             "a link changes within the run: simulated in fidelity bundle", "", Severity::warning}};
}

Json without_fidelity(Json scenario)
{
    const auto take_out = [](Json& object, std::string_view key) {
        std::erase_if(object.members(), [&](const Json::Member& m) { return m.first == key; });
    };
    if (Json* const run = scenario.find("run"); run != nullptr && run->is_object()) {
        take_out(*run, "fidelity");
        if (run->members().empty())
            take_out(scenario, "run");
    }
    return scenario;
}

ScenarioFile in_fidelity(ScenarioFile file, Fidelity fidelity)
{
    file.scenario.run.fidelity = fidelity;
    if (file.json.find("run") == nullptr)
        file.json["run"] = Json::object();
    file.json["run"]["fidelity"] = to_name(fidelity);
    return file;
}

} // namespace trainyard
