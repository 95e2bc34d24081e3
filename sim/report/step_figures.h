#pragma once

// The figures of a step. One table says how each is called, counted and read, and where it is
// written: text, JSON, CSV, comparisons, sweeps and the window are loops over it.

#include "sim/report/bottleneck.h"
#include "sim/report/targets.h"

#include <functional>

namespace trainyard {

enum class WorkUnit : std::uint8_t { tokens, samples }; // that a model's work is counted in

struct StepFigures {
    int gpus = 0;
    int idle_gpus = 0; // of the cluster's, that the job does not use
    Prediction step_time;
    double tokens_per_s = 0; // 0 for models without tokens
    double samples_per_s = 0;
    double mfu = 0;
    double hfu = 0;
    FlopRate model_flops_per_gpu;
    FlopRate peak_flops_per_gpu; // dense, of the precision of most GEMMs
    Precision peak_precision = Precision::bf16;
    bool on_cpus = false;
    bool has_usual_mfu = false; // a dense transformer in 16 bit on GPUs: others have no such range
    Bytes peak_memory;
    PeakPrediction peak; // of it
    Bytes capacity;
    bool fits = true;
    // Times of a rank's transfers, overlapped or not, over the step: above 1 where several move
    // data at once.
    double communication_summed_fraction = 0;
    double communication_exposed_fraction = 0;
    double compute_utilization = 0;
    double synchronization_share = 0; // waiting for others
    double bubble_share = 0;
    std::optional<double> scaling_efficiency; // against the smallest feasible size
    int scaling_base_gpus = 0;
    TimeShares mean{}; // over all ranks
    Bottleneck bottleneck;

    WorkUnit work() const { return tokens_per_s > 0 ? WorkUnit::tokens : WorkUnit::samples; }
    double work_per_s() const { return tokens_per_s > 0 ? tokens_per_s : samples_per_s; }
    double tokens_per_s_per_gpu() const { return tokens_per_s / gpus; }
    double samples_per_s_per_gpu() const { return samples_per_s / gpus; }
    // Of a peak without an interval what the value alone says.
    MemoryFit memory_fit() const
    {
        return peak.has_interval() ? fit_of(peak, capacity)
               : fits              ? MemoryFit::fits
                                   : MemoryFit::does_not;
    }
    std::string_view device_word() const { return on_cpus ? "device" : "GPU"; }

    bool operator==(const StepFigures&) const = default;
};

// What the outcome alone says: all but the bottleneck and the scaling efficiency.
StepFigures step_figures(const Outcome& outcome);

enum class FigureUnit : std::uint8_t {
    word,
    count,
    seconds,
    per_second,
    share, // 1 = all
    bytes,
    money // at a price of one per device and hour
};

enum class Better : std::uint8_t { neither, lower, higher };

// In the order in which people are shown them.
enum class FigureGroup : std::uint8_t { step, memory, compute, losses, scaling, time_kinds, cost };

// Where a figure is written: any of these together.
enum FigurePlace : unsigned {
    in_json = 1,       // the result
    in_csv = 2,        // likewise
    in_comparison = 4, // of runs
    in_health = 8,     // shares beside what the field takes for good
    in_sweep_json = 16,
    in_sweep_csv = 32,
    in_sweep_text = 64,
    in_window = 128 // points of the window's sweeps
};

using FigureRemark = std::string (*)(const StepFigures&);

// What people read of a figure.
struct FigureWords {
    std::string_view title = {};       // "step time"; {}: what a device is called
    std::string_view meaning = {};     // how to read it, behind its title
    std::string_view heading = {};     // of a narrow column; empty: the title
    std::optional<WorkUnit> work = {}; // of models that count in it; nothing: of all
    Target target = {};
    FigureRemark remark = nullptr; // behind the title, where there is room
    struct {
        std::string_view key;  // in sessions; empty: it is kept beside others
        std::string_view name; // in filters
    } window = {};
};

struct Figure : FigureWords {
    std::string key; // in JSON and CSV: "step_time_s"
    FigureUnit unit = FigureUnit::word;
    Better better = Better::neither;
    FigureGroup group = FigureGroup::step;
    unsigned places = 0;                           // of FigurePlace
    std::function<Json(const StepFigures&)> value; // null: unknown

    // Requires a figure that is a number. NaN: unknown.
    double number(const StepFigures& of) const;
    // "1.24 s", "45.0 %"
    std::string text(double number) const;
    std::string title_for(std::string_view device) const;
    std::string heading_for(std::string_view device) const;
    bool counts_in(WorkUnit counted) const { return !work || *work == counted; }
};

// The one of that key. Requires that there is one.
const Figure& figure_of(std::string_view key);

// Those of a place: as files have them, and for people group by group.
std::vector<const Figure*> figures_in(FigurePlace place);
std::vector<const Figure*> grouped_figures_in(FigurePlace place);

} // namespace trainyard
