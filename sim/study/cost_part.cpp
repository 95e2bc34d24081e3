#include "sim/study/cost_part.h"

#include "sim/base/fields.h"
#include "sim/base/files.h"
#include "sim/base/random.h"
#include "sim/cost/profile_library.h"
#include "sim/cost/software_choice.h"
#include "sim/study/environment.h"
#include "sim/study/problems.h"

#include <fmt/core.h>

namespace trainyard {
namespace fs = std::filesystem;

namespace {

// The class of the scenario's framework, with the scenario's own choice of attention. `known` is
// that of a profile, whose constants hold where it is the same class; null: none.
Checked<SoftwareClass> choose_software(const SoftwareChoice& choice, const SoftwareClass* known,
                                       Problems& warnings)
{
    const ClassChoice chosen = software_class_for(choice.framework, choice.version);
    if (!chosen.note.empty())
        warnings.push_back({"", 0, "/software/framework", chosen.note, "", Severity::warning});
    Checked<SoftwareClass> software = known != nullptr && known->name == chosen.name
                                          ? Checked<SoftwareClass>(*known)
                                          : load_software(chosen.name);
    if (!software)
        return software;
    if (chosen.attention)
        software->kernels.attention = *chosen.attention;
    if (chosen.loss)
        software->kernels.loss = *chosen.loss;
    KernelStyle& kernels = software->kernels;
    kernels.attention = choice.attention.value_or(kernels.attention);
    kernels.fused_elementwise = choice.fused_elementwise.value_or(kernels.fused_elementwise);
    if (choice.cuda_graphs)
        kernels.graphed = choice.graphed_parts;
    kernels.fused_experts = choice.fused_experts;
    if (choice.loss) {
        kernels.loss = *choice.loss;
        kernels.loss_in_place = false;
    } else if (choice.fused_loss) {
        kernels.loss_in_place = *choice.fused_loss;
    }
    return software;
}

// A measured profile holds for the environment it was measured in.
Problems environment_differences(const Profile& profile, const Scenario& scenario)
{
    const Environment& measured = profile.installation.environment;
    Problems out;
    if (measured == Environment{})
        return out;
    Environment used;
    used.variables = scenario.environment;
    for (const std::string& difference : differences(measured, used))
        out.push_back(
            {"", 0, "/environment",
             fmt::format("profile \"{}\" was measured elsewise: {}", profile.name, difference),
             "measure again, or set the variables alike", Severity::warning});
    return out;
}

// The profile's constants with the software class of the scenario, where it states one.
Checked<Profile> choose_profile(const ScenarioFile& file, const Topology& topology,
                                std::uint64_t topology_hash, Memo<Profile>& assembled,
                                Problems& warnings)
{
    const Scenario& scenario = file.scenario;
    const bool states_software = file.json.find("software") != nullptr;
    const DeviceId first = make_id<DeviceId>(0);
    if (scenario.profile.empty() && file.constants == nullptr) {
        Checked<SoftwareClass> software = choose_software(scenario.software, nullptr, warnings);
        if (!software)
            return tl::unexpected(software.error());
        Problems problems;
        const auto known = assembled.find_or_make(
            hash_key(topology_hash, content_hash(software->name)), [&]() -> std::optional<Profile> {
                Checked<Profile> made =
                    assemble({topology.device(first).model, "",
                              topology.network(topology.device(first).node), software->name});
                if (made)
                    return std::move(*made);
                problems = placed(made.error(), "/topology");
                return std::nullopt;
            });
        if (!known)
            return tl::unexpected(std::move(problems));
        Profile profile = *known;
        profile.software = std::move(*software);
        return profile;
    }
    Checked<ProfileFile> loaded = file.constants != nullptr
                                      ? Checked<ProfileFile>({*file.constants, {}})
                                      : load_profile(profile_path(file));
    if (!loaded)
        return tl::unexpected(placed(loaded.error(), "/profile"));
    append(warnings, loaded->warnings);
    const Problems disagreements = mismatches(loaded->profile, topology);
    if (has_errors(disagreements))
        return tl::unexpected(disagreements);
    append(warnings, disagreements);
    append(warnings, environment_differences(loaded->profile, scenario));
    if (states_software) {
        Checked<SoftwareClass> software =
            choose_software(scenario.software, &loaded->profile.software, warnings);
        if (!software)
            return tl::unexpected(software.error());
        loaded->profile.software = std::move(*software);
    }
    return std::move(loaded->profile);
}

std::uint64_t hash_of(const Profile& profile)
{
    return json_hash(to_json(profile));
}

std::uint64_t hash_of(const std::map<std::string, std::string>& environment)
{
    std::string text;
    for (const auto& [name, value] : environment)
        text += name + "=" + value + "\n";
    return content_hash(text);
}

// Nothing without a profile, with the problems added. Refused variables are among the warnings, as
// errors, so that the job's own problems come to light beside them.
std::optional<CostPart> make_cost(const ScenarioFile& file, const Topology& topology,
                                  std::uint64_t topology_hash, CostMemos& memos, Problems& problems)
{
    const Scenario& scenario = file.scenario;
    CostPart part;
    Checked<Profile> profile =
        choose_profile(file, topology, topology_hash, memos.assembled, part.warnings);
    const Problems refused = check_environment(scenario.environment);
    if (has_errors(refused))
        append(part.warnings, refused);
    if (take(profile, part.warnings) == nullptr) {
        append(problems, part.warnings);
        return std::nullopt;
    }
    if (!has_errors(refused)) {
        const DeviceAttachment device = topology.device(make_id<DeviceId>(0));
        part.effects =
            effects_of(scenario.environment, {*profile, device, topology.network(device.node),
                                              scenario.software.attention.has_value()});
        append(part.warnings, part.effects.notes);
        append(part.warnings, check_environment(scenario.environment, part.effects.followed));
    }
    if (part.effects.attention)
        profile->software.kernels.attention = *part.effects.attention;
    part.hash = hash_key(hash_of(*profile), hash_of(scenario.environment));
    part.cost = memos.models.find_or_make(part.hash, [&] {
        return std::optional<CostModel>(std::in_place, std::move(*profile), part.effects.nccl);
    });
    return part;
}

} // namespace

std::string profile_path(const ScenarioFile& file)
{
    const fs::path beside = file.base / file.scenario.profile;
    std::error_code ignored;
    return fs::is_regular_file(beside, ignored) ? beside.string() : file.scenario.profile;
}

// The shipped data do not change while a session lives; a profile that the scenario names is read
// again.
std::shared_ptr<const CostPart> build_cost(const ScenarioFile& file, const Topology& topology,
                                           std::uint64_t topology_hash, CostMemos& memos,
                                           Problems& problems)
{
    const Scenario& scenario = file.scenario;
    const auto make = [&] { return make_cost(file, topology, topology_hash, memos, problems); };
    if (!scenario.profile.empty() || file.constants != nullptr) {
        std::optional<CostPart> made = make();
        return made ? std::make_shared<const CostPart>(std::move(*made)) : nullptr;
    }
    const Json software = fields_of<SoftwareChoice>().write(scenario.software);
    return memos.parts.find_or_make(
        hash_key(topology_hash, json_hash(software), hash_of(scenario.environment)), make);
}

Checked<Profile> stated_constants(const ScenarioFile& file, const Profile& timed)
{
    if (!file.scenario.profile.empty()) {
        Checked<ProfileFile> read = load_profile(profile_path(file));
        if (!read)
            return tl::unexpected(read.error());
        return std::move(read->profile);
    }
    Profile profile = timed;
    Checked<SoftwareClass> software = load_software(profile.software.name);
    if (!software)
        return tl::unexpected(software.error());
    profile.software = std::move(*software);
    if (profile.name.empty())
        profile.name = fmt::format("shipped constants of {} and {}", profile.hardware.device.name,
                                   profile.hardware.network.name);
    return profile;
}

} // namespace trainyard
