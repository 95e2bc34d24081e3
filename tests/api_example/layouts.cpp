// Which ZeRO stage is quickest for a scenario?   layouts SCENARIO

#include "sim/api/trainyard.h"

#include <cstdio>

using namespace trainyard;

int main(int, char** argv)
{
    std::vector<ScenarioFile> asked;
    for (const char* stage : {"0", "1", "2", "3"}) {
        const std::vector<std::string> changes{std::string("strategy.zero=") + stage};
        const Checked<ScenarioFile> file = load_scenario(argv[1], changes);
        if (!file) {
            std::fputs(render(file.error(), "nothing was run.").c_str(), stderr);
            return 3;
        }
        asked.push_back(*file);
    }
    Session session;
    const std::vector<Evaluated> found = evaluate_scenarios(asked, session);
    for (std::size_t stage = 0; stage < found.size(); ++stage)
        if (found[stage].feasible())
            std::printf("ZeRO-%zu: %.3f s a step, %.1f GB\n", stage,
                        found[stage].step_time.value.value(),
                        static_cast<double>(found[stage].peak_memory.value()) / 1e9);
        else
            std::printf("ZeRO-%zu: %s\n", stage, found[stage].problems.front().message.c_str());
    return 0;
}
