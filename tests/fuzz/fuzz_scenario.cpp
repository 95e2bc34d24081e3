#include "sim/study/inputs.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

// The scenario itself; the files that it names are not followed.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    auto json = fuzz::json_of(data, size);
    if (!json)
        return 0;
    const Checked<ScenarioFile> scenario = scenario_from(std::move(*json), "fuzz.json");
    fuzz::require(scenario || !scenario.error().empty(), "a refused scenario has a reason");
    if (scenario) {
        const Checked<ScenarioFile> back = scenario_from(to_json(scenario->scenario), "fuzz.json");
        fuzz::require(back.has_value(), "a written scenario can be read");
    }
    return 0;
}
