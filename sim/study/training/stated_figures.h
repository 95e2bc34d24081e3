#pragma once

#include "sim/study/training/published_run.h"

namespace trainyard {

// Rates and times of a training in its publication's words.
struct StatedRates {
    std::optional<double> step_time;   // s
    std::optional<double> tokens_rate; // per s and GPU
    std::optional<double> mfu, hfu;
    std::vector<double> mfu_range;
    std::optional<double> tflops;          // of a GPU
    std::optional<double> hardware_tflops; // recomputation counted
    std::optional<double> days, wall_days, gpu_hours, goodput;
    double parameters = 0; // that a token meets
};

// Step time, wall time and goodput of the run, as far as they follow.
//
// * Step: stated; else from tokens per second; else from operations per second, where a token costs
//   6 N + 12 L h s (Chowdhery 2022, appendix B; the whole attention matrix counts), and a third
//   more where recomputation is counted. Before 2023 rates without the name MFU counted it
//   (Narayanan 2021, equation 3).
// * Wall: stated; else days; else GPU hours over GPUs.
// * Goodput: stated; else the time of all steps over the wall time.
void set_stated_figures(PublishedRun& run, const StatedRates& rates);

} // namespace trainyard
