#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

namespace {

ScenarioFile sound()
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = {"a100-2x8-hdr", {}};
    s.training.sequence_length = 2048;
    s.training.global_batch = 16;
    s.strategy.tp = 8;
    s.strategy.dp = 2;
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "fuzz");
}

} // namespace

// The list of a scenario's perturbations: read, checked, and put on its cluster. Nothing is run.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Session session;
    static const ScenarioFile base = sound();
    const auto json = fuzz::json_of(data, size);
    if (!json)
        return 0;
    Problems problems;
    ScenarioFile file = base;
    if (!FieldValue<std::vector<Perturbation>>::read(Reader(*json, "fuzz.json", problems),
                                                     file.scenario.perturbations) ||
        has_errors(problems))
    {
        fuzz::require(!problems.empty(), "refused perturbations have a reason");
        return 0;
    }
    render(session.check(file), "nothing was run.");
    return 0;
}
