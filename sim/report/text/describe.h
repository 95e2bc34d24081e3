#pragma once

// A job in words, as every report heads itself.

#include "sim/study/outcome.h"

namespace trainyard {

// "llama-3.1-70b on 64 x H100-SXM5-80GB"; "on 128 of 144 x" where some devices are idle.
std::string job_title(const Outcome& outcome);

// The layout of its scenario; with how many devices of the cluster it uses where some are idle.
std::string layout_words(Scenario scenario, const Outcome& outcome);

// "tp 4, pp 4 (5 virtual), dp 4, ZeRO-1, bf16, 128 sequences of 8192 tokens in 32 micro-batches"
std::string job_settings(const Outcome& outcome);

// "event engine (too few ranks are simulated for the replay to pay)"
std::string engine_words(const Outcome& outcome);

// "0x0123456789abcdef"
std::string hash_text(std::uint64_t hash);

// "stage 2", of the lane's pipeline stage.
std::string stage_name(const Program& program, RoleId role);

// "stage 2 (rank 17)"; "rank 17" where all ranks do the same.
std::string lane_name(const Program& program, RoleId role, RankId rank);

// "device 17: 1.08 times slower"
std::string describe(const Perturbation& perturbation);

} // namespace trainyard
