#pragma once

#include "sim/study/training/failure_process.h"

namespace trainyard {

inline constexpr double z_of_95 = 1.6448536269514722; // of the normal distribution

// The wall time of a training, as its distribution has it.
struct ExpectedTime {
    WallAccount account; // means
    Seconds deviation;   // standard deviation of the sum
    Seconds low, high;   // 90 % of trainings lie between
    double failures = 0; // with those that hit a restart
    double interruptions = 0;

    Seconds mean() const { return account.total(); }
};

// Expected wall time of a training with failures (renewal theory).
//
// Checkpoints that are written at once (Daly 2006, equation 13, with detection and waits): n
// segments of work w and checkpoint c take, with rate l of failures, restart R and downtime D,
//     T = n * (e^(l (w + c)) - 1) * e^(l R) * (1/l + D).
// Written behind the steps for another p: after a restart a checkpoint is written w + c + p later,
// else w + c after the one before, so the first segment takes a = w + c + p, the others b = w + c,
// and there are (e^(l a) - 1) + (n - 1) (1 - e^(-l b)) e^(l a) failures in work.
// Warned interruptions stretch work: each run of length t has l' t of them.
//
// The variance is that of independent segments. The interval is that of a gamma distribution above
// the time without failures. Infinite where no progress is possible.
//
// With spares, failures meet the stationary number of nodes in repair: too many at the start of a
// training that is not much longer than a repair. Without, exact.
ExpectedTime expected_time(const FailureProcess& process);

// The share of trainings that end within `wall`, of that gamma distribution.
double share_within(const FailureProcess& process, const ExpectedTime& time, Seconds wall);

// Daly's estimate of the best work between checkpoints (2006, equation 37):
//     sqrt(2 c M) * (1 + sqrt(c / 2M) / 3 + c / 18M) - c, for c < 2M; else M.
// Its first term is Young's (1974). Requires a rate above zero.
Seconds daly_interval(const FailureProcess& process);

// The number of segments with the least expected time, found on the formula above.
FailureProcess with_best_interval(FailureProcess process);

} // namespace trainyard
