#pragma once

// What a shipped scenario comes to.

#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <string>
#include <vector>

namespace trainyard::test {

inline Outcome outcome_of(const std::string& scenario, const std::vector<Override>& changes = {})
{
    const Checked<ScenarioFile> file =
        read_scenario_file((data_dir() / "scenarios" / scenario).string(), changes);
    REQUIRE(file);
    Session session;
    Checked<Outcome> outcome = session.simulate(*file);
    if (!outcome)
        FAIL(render(outcome.error(), ""));
    return std::move(*outcome);
}

} // namespace trainyard::test
