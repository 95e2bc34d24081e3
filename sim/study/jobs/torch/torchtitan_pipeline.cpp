#include "sim/study/jobs/job_sizes.h"
#include "sim/study/jobs/torch/torchtitan.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

class PipelineReader {
public:
    PipelineReader(SettingTree& settings, JobDraft& draft)
        : settings_(settings), draft_(draft), strategy_(draft.scenario.strategy)
    {}

    void read()
    {
        const std::string name = settings_.has("experimental.pipeline_parallel_schedule")
                                     ? "experimental.pipeline_parallel_schedule"
                                     : "parallelism.pipeline_parallel_schedule";
        const auto schedule = settings_.text(name, draft_);
        const auto each = settings_.whole("parallelism.pipeline_parallel_layers_per_stage", draft_);
        const auto first =
            settings_.whole("parallelism.pipeline_parallel_first_stage_less_layers", draft_);
        const auto last =
            settings_.whole("parallelism.pipeline_parallel_last_stage_less_layers", draft_);
        if (strategy_.pp < 2)
            return;
        bool looped = false;
        if (schedule)
            looped = take_schedule(name, *schedule);
        stages(looped, each, first, last);
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, settings_.origin(name));
    }

    // Whether a rank holds several stages.
    bool take_schedule(const std::string& name, const std::string& schedule)
    {
        if (schedule == "1F1B")
            take(name, strategy_.schedule, std::string("1f1b"), "strategy.schedule");
        else if (schedule == "GPipe")
            take(name, strategy_.schedule, std::string("gpipe"), "strategy.schedule");
        else if (schedule == "Interleaved1F1B") {
            take(name, strategy_.schedule, std::string("interleaved-1f1b"), "strategy.schedule");
            return true;
        } else if (schedule == "ZBVZeroBubble" || schedule == "DualPipeV" ||
                   schedule == "LoopedBFS") {
            take(name, strategy_.schedule,
                 std::string(schedule == "DualPipeV"   ? "dualpipev"
                             : schedule == "LoopedBFS" ? "breadth-first"
                                                       : "zb-v"),
                 "strategy.schedule");
            return true;
        } else
            draft_.refuse(settings_.origin(name), "is not modelled",
                          "1F1B, GPipe, Interleaved1F1B, LoopedBFS, ZBVZeroBubble, DualPipeV");
        return false;
    }

    void stages(bool looped, std::optional<std::int64_t> each, std::optional<std::int64_t> first,
                std::optional<std::int64_t> last)
    {
        const int layers = layers_of(draft_);
        const auto plausible = [&](const std::optional<std::int64_t>& size) {
            return !size || (*size >= 0 && *size <= layers);
        };
        if (layers == 0 || strategy_.pp > layers || !plausible(first) || !plausible(last) ||
            !plausible(each) || each == 0)
        {
            draft_.refuse({}, fmt::format("{} layers do not divide into such stages", layers), "");
            return;
        }
        const int less_first = static_cast<int>(first.value_or(1));
        const int less_last = static_cast<int>(last.value_or(1));
        const int counted = layers + less_first + less_last;
        int count = strategy_.pp * (looped ? 2 : 1);
        if (each)
            count = static_cast<int>((counted + *each - 1) / *each);
        if (count % strategy_.pp != 0 || count > layers) {
            draft_.refuse(settings_.origin("parallelism.pipeline_parallel_layers_per_stage"),
                          fmt::format("{} stages on {} pipeline ranks", count, strategy_.pp),
                          "a multiple of the pipeline size");
            return;
        }
        strategy_.vpp = count / strategy_.pp;
        const std::vector<int> split = titan_stage_layers(layers, count, less_first, less_last);
        const bool even =
            std::all_of(split.begin(), split.end(), [&](int n) { return n == split.front(); });
        if (!even)
            strategy_.stage_layers = split;
        draft_.assume(fmt::format("layers of the {} stages: {}, torchtitan's own division", count,
                                  fmt::join(split, ", ")));
    }

    SettingTree& settings_;
    JobDraft& draft_;
    Strategy& strategy_;
};

} // namespace

std::vector<int> titan_stage_layers(int layers, int stages, int first_less, int last_less)
{
    const int counted = layers + first_less + last_less;
    std::vector<int> out(static_cast<std::size_t>(stages), counted / stages);
    for (int i = 0; i < counted % stages; ++i)
        ++out[static_cast<std::size_t>(i)];
    out.front() -= first_less;
    out.back() -= last_less;
    return out;
}

void read_titan_pipeline(SettingTree& settings, JobDraft& draft)
{
    PipelineReader(settings, draft).read();
}

} // namespace trainyard
