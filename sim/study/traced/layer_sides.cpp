#include "sim/study/traced/layer_sides.h"

#include "sim/strategy/rank_layout.h"
#include "sim/strategy/stages.h"
#include "sim/study/traced/pass_times.h"
#include "sim/traces/rebuilt_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace trainyard {
namespace {

double middle(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Which layers of the model repeat, embedding and head left out, and which stand at its ends.
struct ModelLayers {
    std::vector<bool> inner;
    std::vector<int> number; // of inner ones, from 0

    explicit ModelLayers(const Job& job)
    {
        int next = 0;
        for (const std::vector<StageLayer>& stage : cut_into_stages(job))
            for (const StageLayer& layer : stage) {
                inner.push_back(layer.kind.role != LayerKind::Role::embedding &&
                                layer.kind.role != LayerKind::Role::head);
                number.push_back(inner.back() ? next++ : -1);
            }
    }
};

// Times of layers' passes in one part of a step, over what was looked at.
class LayerTimes {
public:
    struct Times {
        std::vector<double> compute;
        std::vector<double> elapsed;
    };

    void add(const PartTimes& times, const std::vector<SimulatedPass>& passes, bool layers)
    {
        all.push_back(times.all);
        if (!layers)
            return;
        before.push_back(times.before);
        behind.push_back(times.behind);
        for (std::size_t j = 0; j < passes.size(); ++j) {
            Times& of = by_layer[passes[j].layer];
            of.compute.push_back(times.compute[j]);
            of.elapsed.push_back(times.elapsed[j]);
        }
    }

    std::vector<double> all;
    std::vector<double> before;
    std::vector<double> behind;
    std::map<std::uint16_t, Times> by_layer;
};

double mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Rows of layers that are alike: those that the simulation times alike, the first and the last of
// them apart where they were recorded otherwise.
class LayerRows {
public:
    LayerRows(const ModelLayers& model, const LayerTimes& recorded, const LayerTimes& simulated)
        : model_(model)
    {
        for (const auto& [layer, times] : simulated.by_layer)
            if (const auto at = recorded.by_layer.find(layer); at != recorded.by_layer.end())
                layers_.push_back({layer, &at->second, &times});
    }

    std::vector<LayerPair> rows() const
    {
        std::vector<LayerPair> out;
        for (std::size_t i = 0; i < layers_.size();) {
            std::size_t behind = i + 1;
            while (behind < layers_.size() && like(i, behind))
                ++behind;
            add_alike(out, i, behind);
            i = behind;
        }
        return out;
    }

private:
    struct Layer {
        std::uint16_t layer = 0;
        const LayerTimes::Times* recorded = nullptr;
        const LayerTimes::Times* simulated = nullptr;
    };

    int number(std::size_t i) const { return model_.number[layers_[i].layer]; }
    double simulated(std::size_t i) const { return middle(layers_[i].simulated->compute); }
    double recorded(std::size_t i) const { return middle(layers_[i].recorded->compute); }

    bool like(std::size_t a, std::size_t b) const
    {
        constexpr double same = 0.01;
        return number(b) == number(b - 1) + 1 &&
               std::abs(simulated(b) - simulated(a)) <= same * simulated(a);
    }

    // Where layers that were recorded alike begin.
    std::vector<std::size_t> recorded_alike(std::size_t first, std::size_t behind) const
    {
        std::vector<std::size_t> out{first};
        for (std::size_t i = first + 1; i < behind; ++i)
            if (differs(recorded(i), recorded(out.back())))
                out.push_back(i);
        return out;
    }

    static bool differs(double time, double usual)
    {
        constexpr double other = 0.05;
        return std::abs(time - usual) > other * usual;
    }

    // A few rows of layers that were recorded alike; of more the median, the first and the last
    // layer apart where they differ from it.
    void add_alike(std::vector<LayerPair>& out, std::size_t first, std::size_t behind) const
    {
        constexpr std::size_t few = 6;
        std::vector<std::size_t> begins = recorded_alike(first, behind);
        if (begins.size() > few) {
            std::vector<double> times;
            for (std::size_t i = first; i < behind; ++i)
                times.push_back(recorded(i));
            const double usual = middle(std::move(times));
            begins = {first};
            if (differs(recorded(first), usual))
                begins.push_back(first + 1);
            if (differs(recorded(behind - 1), usual))
                begins.push_back(behind - 1);
        }
        begins.push_back(behind);
        for (std::size_t i = 0; i + 1 < begins.size(); ++i)
            out.push_back(pair(begins[i], begins[i + 1]));
    }

    LayerPair pair(std::size_t first, std::size_t behind) const
    {
        LayerPair out{number(first), number(behind - 1), {}, {}};
        const auto over = [&](const LayerTimes::Times* Layer::*side,
                              std::vector<double> LayerTimes::Times::*times) {
            std::vector<double> values;
            for (std::size_t i = first; i < behind; ++i) {
                const std::vector<double>& of = layers_[i].*side->*times;
                values.insert(values.end(), of.begin(), of.end());
            }
            return Seconds(middle(std::move(values)));
        };
        out.compute = {over(&Layer::recorded, &LayerTimes::Times::compute),
                       over(&Layer::simulated, &LayerTimes::Times::compute)};
        out.elapsed = {over(&Layer::recorded, &LayerTimes::Times::elapsed),
                       over(&Layer::simulated, &LayerTimes::Times::elapsed)};
        return out;
    }

    const ModelLayers& model_;
    std::vector<Layer> layers_;
};

// Which passes another of the same micro-batch does not follow.
std::vector<bool> ends_of(const std::vector<SimulatedPass>& passes)
{
    std::vector<bool> ends;
    for (std::size_t j = 0; j < passes.size(); ++j)
        ends.push_back(j + 1 == passes.size() ||
                       passes[j + 1].micro_batch != passes[j].micro_batch ||
                       std::abs(passes[j + 1].layer - passes[j].layer) != 1);
    return ends;
}

class StageComparison {
public:
    StageComparison(const ModelLayers& model, const JobTrace& job, const Outcome& simulated,
                    LaneId lane)
        : model_(model),
          job_(job),
          step_(simulated_step(simulated, lane, model.inner)),
          micro_batches_(static_cast<int>(simulated.job.micro_batches()))
    {}

    void fill(StageSides& out, const std::vector<std::size_t>& ranks) const
    {
        out.micro_batches = micro_batches_;
        std::vector<std::vector<StepKernel>> steps;
        for (const std::size_t r : ranks)
            for (const int step : common_steps(job_))
                steps.push_back(
                    recorded_kernels(job_.ranks[r], step_numbered(job_.ranks[r], step)));
        out.forward = sides(steps, StepPart::forward);
        out.backward = sides(steps, StepPart::backward);
        out.update = sums(steps, StepPart::update);
        out.other = sums(steps, StepPart::other);
    }

private:
    TimePair sums(const std::vector<std::vector<StepKernel>>& steps, StepPart part) const
    {
        std::vector<double> recorded;
        for (const std::vector<StepKernel>& kernels : steps)
            recorded.push_back(part_times(kernels, part, 0, true).all);
        return {Seconds(mean(recorded)), Seconds(part_times(step_.kernels, part, 0, true).all)};
    }

    const std::vector<SimulatedPass>& passes_of(StepPart part) const
    {
        return step_.passes[static_cast<std::size_t>(part)];
    }

    // Whether the stage has kernels before its first layer, of forward, but none behind the last.
    bool opens_model() const
    {
        const PartTimes times =
            part_times(step_.kernels, StepPart::forward, passes_of(StepPart::forward).size(), true);
        return times.before > 0 && times.behind == 0;
    }

    PassSides sides(std::vector<std::vector<StepKernel>>& steps, StepPart part) const
    {
        PassSides out;
        const std::vector<SimulatedPass>& passes = passes_of(part);
        const bool early = (part == StepPart::forward) == opens_model();
        out.untold = why_untold(steps, part);
        LayerTimes recorded;
        std::vector<double> alike;
        for (std::vector<StepKernel>& kernels : steps) {
            if (out.untold.empty()) {
                const PassesFound found = set_passes(kernels, part, ends_of(passes));
                if (!found.found)
                    note_other_repetition(out, kernels, part);
                alike.push_back(found.alike);
            }
        }
        for (const std::vector<StepKernel>& kernels : steps)
            recorded.add(part_times(kernels, part, out.untold.empty() ? passes.size() : 0, early),
                         passes, out.untold.empty());
        LayerTimes simulated;
        simulated.add(part_times(step_.kernels, part, passes.size(), early), passes, true);
        out.alike = mean(alike);
        put_sums(out, recorded, simulated, part);
        if (out.untold.empty())
            out.layers = LayerRows(model_, recorded, simulated).rows();
        return out;
    }

    void put_sums(PassSides& out, const LayerTimes& recorded, const LayerTimes& simulated,
                  StepPart part) const
    {
        const double share = 1.0 / micro_batches_;
        const auto pair = [&](std::vector<double> LayerTimes::*times) {
            return TimePair{Seconds(share * mean(recorded.*times)),
                            Seconds(share * mean(simulated.*times))};
        };
        out.all = pair(&LayerTimes::all);
        if (!out.untold.empty())
            return;
        out.embedding = pair(&LayerTimes::before);
        out.head = pair(&LayerTimes::behind);
        if (part == StepPart::backward)
            std::swap(out.embedding, out.head);
    }

    std::string why_untold(const std::vector<std::vector<StepKernel>>& steps, StepPart part) const
    {
        const std::vector<SimulatedPass>& passes = passes_of(part);
        const bool any = std::any_of(steps.begin(), steps.end(), [&](const auto& kernels) {
            return std::any_of(kernels.begin(), kernels.end(),
                               [&](const StepKernel& kernel) { return kernel.part == part; });
        });
        if (!any)
            return "nothing is recorded of it, or the trace does not tell it from the rest";
        if (passes.size() < 2)
            return "the scenario's stage has no two passes of layers, which could be told apart";
        if (!step_.in_turn[static_cast<std::size_t>(part)])
            return "the scenario's schedule takes layers' passes apart";
        return {};
    }

    void note_other_repetition(PassSides& out, const std::vector<StepKernel>& kernels,
                               StepPart part) const
    {
        out.recorded_passes = repetitions(kernels, part);
        out.simulated_passes = passes_of(part).size();
        const std::string sought =
            fmt::format("the scenario runs {} passes of layers a step", out.simulated_passes);
        out.untold = out.recorded_passes == 0
                         ? "the recorded kernels do not repeat as layers do; " + sought
                         : fmt::format("the recorded kernels repeat {} times, {}",
                                       out.recorded_passes, sought);
    }

    const ModelLayers& model_;
    const JobTrace& job_;
    SimulatedStep step_;
    int micro_batches_;
};

} // namespace

std::vector<StageSides> layer_sides(const JobTrace& job, const Outcome& simulated)
{
    const RankLayout layout(simulated.job);
    const ModelLayers model(simulated.job);
    std::set<LaneId> kept;
    for (const OpRecord& record : simulated.result->records)
        kept.insert(record.lane);
    std::map<int, std::vector<std::size_t>> ranks; // by stage
    for (std::size_t r = 0; r < job.ranks.size(); ++r)
        if (job.ranks[r].rank < layout.world())
            ranks[layout.place(make_id<RankId>(to_size(job.ranks[r].rank))).pp].push_back(r);
    std::vector<StageSides> out;
    for (const auto& [stage, places] : ranks) {
        const auto lane = std::find_if(kept.begin(), kept.end(), [&](LaneId id) {
            return layout.place(simulated.binding->lanes[id.value].rank).pp == stage;
        });
        if (lane == kept.end())
            continue;
        StageSides sides;
        sides.stage = stage;
        for (const std::size_t r : places)
            sides.ranks.push_back(job.ranks[r].rank);
        StageComparison(model, job, simulated, *lane).fill(sides, places);
        out.push_back(std::move(sides));
    }
    return out;
}

} // namespace trainyard
