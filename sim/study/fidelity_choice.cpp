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
// spines, one core of an AMD EPYC): about a second.
constexpr double quick_ops = 4e6;

double ops_rank_by_rank(const Scenario& scenario, const Parts& parts)
{
    const Program& program = parts.plan->program;
    double ops = 0;
    for (const Role& role : program.roles)
        ops += static_cast<double>(op_count(program, role));
    return ops / static_cast<double>(program.roles.size()) * parts.job.world() * steps_of(scenario);
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
    FidelityChoice choice{given.value_or(Fidelity::alpha_beta), FidelityReason::given,
                          ops_rank_by_rank(scenario, parts) <= quick_ops};
    if (shares_links(choice.fidelity))
        return choice;
    if (has_link_windows(scenario.perturbations)) {
        choice.fidelity = Fidelity::bundle;
        choice.reason = FidelityReason::links_change;
        return choice;
    }
    choice.shared = fabric_demand(*parts.plan, parts.job, *parts.sound, *parts.cost);
    choice.pair_ratio = std::max(1.0, choice.shared ? choice.shared->pair_share : 1.0);
    if (choice.shared && !(choice.shared->share > 1.0))
        choice.shared.reset();
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
