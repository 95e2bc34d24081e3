#pragma once

// The rates that somebody's own measured steps solve, as constants of a profile.
//
// A rate is known by its logarithm against the one that a profile states: 0 as stated, above 0
// faster. What a rate moves are efficiencies, times and tables in the profile's JSON, each in its
// own sense: a latency falls when its rate grows.

#include "sim/base/json.h"

#include <span>
#include <string>
#include <vector>

namespace trainyard {

struct RatePlace {
    const char* path; // dotted, in a profile: "hardware.device.hbm_bandwidth"
    double sense = 1; // d log constant / d log rate: 1 of an efficiency, -1 of a time
};

// Measured tables that a rate moves besides.
enum class RateTables : std::uint8_t {
    none,
    products, // GEMM times in fp32 of a host's cores
    inside,   // collectives between ranks of one host, over libraries of hosts
    across    // the same between hosts
};

struct OwnRate {
    const char* name;  // "gemm_16"
    const char* title; // "GEMM rate, 16 bit"
    std::vector<RatePlace> places;
    // Standard deviation of the logarithm, at least: how far one installation, with its kernels
    // and settings, lies from the mean of many, which is what the profile's intervals are of.
    double least_spread;
    double most_slow;      // times, that a fault makes it: more is no explanation of a step
    const char* when_slow; // what is usual where it is far slower than stated
    RateTables tables = RateTables::none;
    bool by_kernels_alone = false; // a step's whole time does not tell it from the memory rate
};

// In the order in which steps usually tell of them.
std::span<const OwnRate> own_rates();

// Standard deviation of the rate's logarithm before any own step: the profile's 90 % interval of
// its first constant, (log high - log low) / 3.29, but no less than `least_spread` unless earlier
// own steps solved the rate.
double prior_spread(const OwnRate& rate, const Json& profile);

// Whether the profile has a constant or a table of the rate.
bool stands_in(const OwnRate& rate, const Json& profile);
// The same, of rates that whole steps can tell.
bool told_by_steps(const OwnRate& rate, const Json& profile);

// What is written beside a solved constant.
struct SolvedRate {
    double change = 0; // of the logarithm
    double spread = 0; // of the logarithm, after the steps
    std::string source;
};

// The profile with one rate changed: bare values, no provenance. For trying.
void change_rate(Json& profile, const OwnRate& rate, double change);

// The same with grade "measured", 90 % interval and source beside each value. For keeping.
void write_rate(Json& profile, const OwnRate& rate, const SolvedRate& solved);

} // namespace trainyard
