#include "sim/study/store/question.h"

#include "sim/base/build_info.h"
#include "sim/base/fields.h"
#include "sim/base/files.h"
#include "sim/base/random.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace trainyard {

namespace {

namespace fs = std::filesystem;

std::string hex(std::uint64_t hash)
{
    return fmt::format("{:016x}", hash);
}

std::uint64_t hash_of(const Json& json)
{
    return content_hash(to_text(json, JsonStyle::compact));
}

// The nodes and networks that topologies name.
std::uint64_t preset_hash()
{
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(data_dir() / "topologies" / "presets", ignored))
        if (entry.is_regular_file(ignored))
            files.push_back(entry.path());
    std::ranges::sort(files);
    std::uint64_t hash = 0;
    for (const fs::path& file : files)
        hash = hash_key(hash, content_hash(read_file(file)));
    return hash;
}

} // namespace

std::string program_name()
{
    static const std::string name = [] {
        std::error_code none;
        const fs::path self = fs::read_symlink("/proc/self/exe", none);
        return none ? std::string(version())
                    : fmt::format("{} {}", version(), hex(content_hash(read_file(self))));
    }();
    return name;
}

Questions::Questions(const SearchBase& base)
    : base_(base),
      surroundings_(hash_key(hash_key(base.parts.model_hash, base.parts.topology_hash,
                                      base.parts.cost_hash, preset_hash()),
                             base.parts.job_hash))
{
    std::visit(
        [&]<class Architecture>(const Architecture& architecture) {
            surroundings_ =
                hash_key(surroundings_, hash_of(fields_of<Architecture>().write(architecture)));
        },
        base.facts.model.architecture);
}

std::string Questions::plan(const SearchRequest& request) const
{
    return hex(hash_key(hash_key(surroundings_, hash_of(to_json(base_.file.scenario))),
                        hash_of(to_json(request.space)),
                        std::bit_cast<std::uint64_t>(request.headroom)));
}

std::string Questions::point(const LayoutChoice& choice) const
{
    Scenario scenario = base_.file.scenario;
    apply(choice, base_.facts, scenario);
    scenario.description.clear();
    return hex(hash_key(surroundings_, hash_of(to_json(scenario))));
}

Json to_json(const SearchSpace& space)
{
    Json schedules = Json::array();
    for (const PipelineSchedule* schedule : space.schedules)
        schedules.push_back(Json(schedule->name()));
    Json recompute = Json::array();
    for (const RecomputeChoice& choice : space.recompute) {
        const std::string kind(to_name(choice.kind));
        recompute.push_back(
            Json(choice.layers ? fmt::format("{}:{}", kind, *choice.layers) : kind));
    }
    return Json::Object{{"strategy.tp", space.tp},
                        {"strategy.cp", space.cp},
                        {"strategy.pp", space.pp},
                        {"strategy.vpp", space.vpp},
                        {"strategy.ep", space.ep},
                        {"strategy.etp", space.etp},
                        {"strategy.zero", space.zero},
                        {"zero_with_stages", space.zero_with_stages},
                        {"zero_with_experts", space.zero_with_experts},
                        {"strategy.schedule", std::move(schedules)},
                        {"training.global_batch", space.global_batches},
                        {"training.micro_batch", space.micro_batches},
                        {"training.recompute", std::move(recompute)}};
}

} // namespace trainyard
