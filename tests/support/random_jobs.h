#pragma once

// Jobs drawn at random from every choice there is: most of them are refused, the rest must run.

#include "sim/base/random.h"
#include "sim/strategy/job.h"

#include <string>
#include <vector>

namespace trainyard::testing {

// Every shipped class of software.
std::vector<SoftwareClass> all_software();

// A small model over 1 to 64 devices.
JobRequest random_request(Random& random, const std::vector<SoftwareClass>& software);

// The same without what cuts traffic in ways of its own: adapters, offload, options of ZeRO.
JobRequest random_plain_request(Random& random, const std::vector<SoftwareClass>& software);

// What a failing test prints.
std::string describe(const JobRequest& request);

} // namespace trainyard::testing
