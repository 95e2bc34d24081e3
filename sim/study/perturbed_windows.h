#pragma once

// Conditions that hold for a time: "from" and "until" of an entry.

#include "sim/study/entry_problems.h"
#include "sim/study/perturbation.h"
#include "sim/topology/topology.h"

#include <map>
#include <string>

namespace trainyard {

// An entry whose window ends before it begins.
void check_window_order(const Perturbation& p, EntryProblems& problems);

// How long a transfer between nodes waits for a link to come back before it is given up, which ends
// the job.
//
// InfiniBand and RoCE: NCCL's queue pairs try 1 + NCCL_IB_RETRY_CNT = 8 times, 4.096 us x
// 2^NCCL_IB_TIMEOUT = 4.3 s apart (defaults 7 and 20 since 2.23: NVIDIA's page of environment
// variables): 34 s. EFA, of which nothing is published, is taken to do likewise. TCP: 924.6 s,
// Linux' default of tcp_retries2 = 15 (Documentation/networking/ip-sysctl).
Seconds longest_outage(Transport transport);

// A link that is dead for a time, `name`d like that: refused where no job outlives it.
void check_outage(const Perturbation& p, const Link& link, Transport transport,
                  const std::string& name, EntryProblems& problems);

// Windows of one subject. Time to add one: the logarithm of those before.
class Windows {
public:
    // False if it overlaps one before.
    bool add(const Perturbation& p);

private:
    std::map<double, double> ends_; // by begin
};

} // namespace trainyard
