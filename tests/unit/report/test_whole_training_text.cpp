#include "sim/base/fields.h"
#include "sim/report/training/training_text.h"
#include "tests/catch.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

TrainingReport small_training()
{
    WholeTrainingRequest request;
    request.tokens = 2e12;
    request.batch_tokens = 4e6;
    request.step_time = 2_s;
    request.gpus = 1024;
    request.parameters = 70e9;
    request.device = "H100-SXM5-80GB";
    request.failures.mtbf_per_gpu = Seconds(50'000 * 3600.0);
    request.prices.gpu_hour = 2.5;
    request.deadline = Seconds(12 * 86400.0);
    const auto training = whole_training(request);
    REQUIRE(training);
    return {*training, training_sensitivities(*training), std::nullopt};
}

} // namespace

TEST_CASE("a whole training says days, goodput, cost, energy and what matters most")
{
    const std::string text = training_text(small_training(), Paint(Colour::none));
    for (const char* part :
         {"The whole training (2.00 T tokens on 1024 GPUs, 500 k steps)", "Wall time", "Goodput",
          "one every 2.0 d", "chance to end within", "Where the time goes", "work lost",
          "What matters most", "step time", "price of a GPU hour", "spare nodes not given"})
        CHECK_THAT(text, ContainsSubstring(part));
    for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
        end = text.find('\n', at);
        CHECK(text.substr(at, end - at).size() <= 100);
    }
}

TEST_CASE(
    "the parts of a whole training's JSON add up to its wall time, and its request reads back")
{
    const TrainingReport report = small_training();
    const Json json = to_json(report);
    double sum = 0;
    for (const auto& [cause, seconds] : json.find("account_s")->members())
        sum += seconds.as_double();
    CHECK_THAT(sum, WithinRel(json.find("wall_s")->as_double(), 1e-12));
    Problems problems;
    WholeTrainingRequest again;
    fields_of<WholeTrainingRequest>().read(Reader(*json.find("request"), "", problems), again);
    CHECK(again == report.training.request);
}

TEST_CASE("wall times are told in the largest unit that counts two")
{
    CHECK(wall_text(Seconds(40)) == "40.0 s");
    CHECK(wall_text(Seconds(300)) == "5.0 min");
    CHECK(wall_text(Seconds(36 * 3600)) == "36.0 h");
    CHECK(wall_text(Seconds(123 * 86400)) == "123 d");
}
