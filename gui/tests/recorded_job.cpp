#include "gui/tests/recorded_job.h"

#include "tests/catch.h"

namespace trainyard::gui::test {

std::shared_ptr<const Outcome> recorded_job(std::optional<int> slow_rank)
{
    std::vector<Override> overrides{{"run.fold", "false"}, {"run.steps", "2"}};
    if (slow_rank)
        overrides.push_back({"perturbations", "[{\"device\": " + std::to_string(*slow_rank) +
                                                  ", \"slowdown\": 1.3}]"});
    const auto file = read_scenario_file("scenarios/llama2-7b-tp2-pp2-dp2.json", overrides);
    REQUIRE(file.has_value());
    Session session;
    SimulateRequest request;
    request.record = RecordRequest{[](LaneId) { return true; }, 1};
    auto outcome = session.simulate(*file, request);
    INFO((outcome ? std::string() : render(outcome.error(), "")));
    REQUIRE(outcome.has_value());
    return std::make_shared<const Outcome>(std::move(*outcome));
}

} // namespace trainyard::gui::test
