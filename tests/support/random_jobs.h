#pragma once

// Jobs drawn at random from every choice there is: most of them are refused, the rest must run.

#include "sim/base/random.h"
#include "sim/strategy/job.h"
#include "sim/topology/topology.h"

#include <functional>
#include <string>
#include <vector>

namespace trainyard::testing {

// Every shipped class of software.
std::vector<SoftwareClass> all_software();

// A small model over 1 to 256 devices.
JobRequest random_request(Random& random, const std::vector<SoftwareClass>& software);

// The same without what cuts traffic in ways of its own: adapters, offload, options of ZeRO.
JobRequest random_plain_request(Random& random, const std::vector<SoftwareClass>& software);

// Devices for the largest of them.
Topology cluster_for_random_jobs();

// What a failing test prints.
std::string describe(const JobRequest& request);

struct Draws {
    std::uint64_t seed = 1;
    int jobs = 100;
};

// Shows `check` the first `draws.jobs` requests that resolve; what fails in it prints the request.
void each_job(const Draws& draws,
              const std::function<JobRequest(Random&, const std::vector<SoftwareClass>&)>& request,
              const std::function<void(const JobRequest&, const Job&)>& check);

} // namespace trainyard::testing
