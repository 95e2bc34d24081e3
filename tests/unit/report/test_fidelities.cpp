// The fidelities of the network beside each other, on the shipped scenarios.

#include "tests/support/fidelity_law.h"

#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Some seconds each, send by send: test_large_fidelities.cpp. With a lane for each of 16,384 ranks
// it would be minutes.
const std::set<std::string> large{"llama3-70b-h100-64.json", "llama3-405b-gb200-nvl72.json",
                                  "llama3-405b-h100-16k.json"};

} // namespace

TEST_CASE("network fidelities agree where transfers do not meet, and say where they do")
{
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(data_dir() / "scenarios")) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() != ".json" || large.contains(name))
            continue;
        check_fidelities(name);
        ++seen;
    }
    CHECK(seen > 25);
}

TEST_CASE("reducing gradients beside the backward pass pays in every fidelity")
{
    for (const char* const fidelity : {"alpha-beta", "bundle", "flow", "chunk"}) {
        INFO(fidelity);
        CHECK(step_seconds("ddp-overlap.json", fidelity) <
              0.9 * step_seconds("ddp-no-overlap.json", fidelity));
    }
}
