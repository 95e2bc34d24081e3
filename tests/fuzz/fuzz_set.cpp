#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/study/inputs.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

// A line per change, as --set takes them, of a shipped scenario.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::string path = data_dir() / "scenarios" / "llama3-8b-h100-8.json";
    static const Json base = read_json_file(path).value();
    std::vector<Override> changes;
    std::string_view text = fuzz::text_of(data, size);
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const Checked<Override> change = parse_override(line);
        fuzz::require(change || !change.error().empty(), "a refused change has a reason");
        if (change)
            changes.push_back(*change);
    }
    const Checked<ScenarioFile> scenario = scenario_from(base, path, changes);
    fuzz::require(scenario || !scenario.error().empty(), "a refused scenario has a reason");
    if (scenario) {
        const Checked<ScenarioFile> back = scenario_from(to_json(scenario->scenario), path);
        fuzz::require(back && back->scenario == scenario->scenario,
                      "a written scenario reads back as it was");
    }
    return 0;
}
