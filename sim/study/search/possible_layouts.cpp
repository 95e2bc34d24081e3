#include "sim/study/search/possible_layouts.h"

#include "sim/base/random.h"
#include "sim/strategy/misfits.h"
#include "sim/strategy/weight_gradients.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trainyard {

template <>
std::vector<EnumName<Exclusion>> enum_names<Exclusion>()
{
    return {{Exclusion::devices, "devices"}, {Exclusion::batch, "batch"},
            {Exclusion::input, "input"},     {Exclusion::framework, "framework"},
            {Exclusion::same, "same"},       {Exclusion::memory, "memory"},
            {Exclusion::slower, "slower"},   {Exclusion::engine, "engine"}};
}

namespace {

std::uint64_t product(std::initializer_list<std::size_t> sizes)
{
    std::uint64_t out = 1;
    for (const std::size_t size : sizes)
        out *= size;
    return out;
}

// Calls `work` with `field` set to each of the values.
template <class T, class Work>
void each(const std::vector<T>& values, T& field, Work work)
{
    for (const T& value : values) {
        field = value;
        work();
    }
}

// Goes through a space from the outside in, so that what many points share is found once.
class SpaceWalk {
public:
    SpaceWalk(const SearchSpace& space, const SearchBase& base, Bytes room, const WorkControl& work,
              const SpaceShare& share)
        : space_(space),
          share_(share),
          facts_(base.facts),
          scenario_(base.file.scenario),
          parts_(base.parts),
          device_(device_memory(parts_.cost->profile())),
          room_(room),
          work_(work)
    {
        const auto* transformer = std::get_if<Transformer>(&facts_.model.architecture);
        layers_ = transformer != nullptr ? transformer->layers : 0;
    }

    PossibleLayouts run() &&
    {
        LayoutChoice choice;
        try {
            each(space_.tp, choice.tp, [&] {
                each(space_.cp, choice.cp,
                     [&] { each(space_.pp, choice.pp, [&] { over_experts(choice); }); });
            });
        } catch (const Cancelled&) {
            out_.whole = false;
        }
        return std::move(out_);
    }

private:
    using LayerKey = std::tuple<int, int, int, int, int, int, std::int64_t, int, Recompute, bool>;

    void exclude(Exclusion why, std::uint64_t points, const std::string& pointer = {},
                 const std::string& example = {})
    {
        const std::uint64_t first = std::exchange(number_, number_ + points);
        if (!counts_)
            return;
        const auto [entry, fresh] = out_.excluded.try_emplace({why, pointer});
        ExclusionCount& count = entry->second;
        count.points += points;
        if (fresh) {
            count.example = example;
            count.first = first;
        }
    }

    std::uint64_t passes() const // combinations of what changes from pass to pass
    {
        return product(
            {space_.global_batches.size(), space_.micro_batches.size(), space_.recompute.size()});
    }

    void over_experts(LayoutChoice choice)
    {
        count_first();
        look_up();
        const double ranks = 1.0 * choice.tp * choice.cp * choice.pp;
        if (ranks > facts_.devices || facts_.devices % static_cast<int>(ranks) != 0)
            return exclude(Exclusion::devices,
                           passes() *
                               product({space_.ep.size(), space_.etp.size(), space_.zero.size(),
                                        space_.schedules.size(), space_.vpp.size()}));
        dp_ = replicas_of(choice, facts_);
        each(space_.ep, choice.ep, [&] {
            each(space_.etp, choice.etp,
                 [&] { each(space_.zero, choice.zero, [&] { over_schedules(choice); }); });
        });
    }

    // What costs nothing to tell is told by the first share.
    void count_first() { counts_ = share_.shard == 0 && share_.lane == 0; }

    void over_schedules(LayoutChoice& choice)
    {
        look_up();
        if (choice.zero > space_.most_zero(choice)) {
            count_first();
            return exclude(Exclusion::framework,
                           passes() * product({space_.schedules.size(), space_.vpp.size()}),
                           "/strategy/zero", scenario_.software.framework);
        }
        each(space_.schedules, choice.schedule,
             [&] { each(space_.vpp, choice.vpp, [&] { over_passes(choice); }); });
    }

    // Is it cancelled, and how far is it?
    void look_up()
    {
        work_.check();
        work_.report("bounding", static_cast<double>(number_), static_cast<double>(points_));
    }

    // Whose turn the next points are: in each round everybody has one, and rounds begin with
    // different ones, for what takes long comes back at regular distances.
    static bool is_turn(std::uint64_t& turn, int own, int all)
    {
        const auto n = static_cast<std::uint64_t>(all);
        const std::uint64_t now = turn++;
        return (now + mix_bits(now / n)) % n == static_cast<std::uint64_t>(own);
    }
    bool is_own()
    {
        return is_turn(turn_of_shards_, share_.shard, share_.shards) &&
               is_turn(turn_of_lanes_, share_.lane, share_.lanes);
    }

    // One stage is the same job under each schedule that orders its passes alike.
    bool is_same(const LayoutChoice& choice) const
    {
        const PipelineShape alone{.stages = 1, .micro_batches = 4};
        if (choice.pp > 1 || !choice.schedule->refusal(alone).empty())
            return false;
        const std::vector<Pass> passes = choice.schedule->passes(alone, 0);
        for (const PipelineSchedule* other : space_.schedules) {
            if (other == choice.schedule)
                break;
            if (other->refusal(alone).empty() && other->passes(alone, 0) == passes)
                return true;
        }
        return false;
    }

    bool has(const RecomputeChoice& choice) const
    {
        return std::ranges::find(space_.recompute, choice) != space_.recompute.end();
    }

    void over_passes(LayoutChoice& choice)
    {
        count_first();
        if (is_same(choice))
            return exclude(Exclusion::same, passes());
        const std::int64_t stages = std::int64_t{choice.pp} * choice.vpp;
        if (stages > 1 && stages > layers_ + 2)
            return exclude(Exclusion::input, passes(), "/strategy/pp",
                           "more stages than the model has layers");
        counts_ = is_own();
        if (!counts_) {
            number_ += passes();
            return;
        }
        // Whatever the batch: some number of micro-batches that every schedule could take.
        const PassOrder& order = order_of(choice, std::int64_t{2} * choice.pp);
        if (!order.refusal.empty())
            return exclude(Exclusion::input, passes(), "/strategy/schedule", order.refusal);
        Checked<Job> job = job_of(choice);
        if (!job)
            return exclude(Exclusion::input, passes(), job.error().front().pointer,
                           job.error().front().message);
        families_ = {};
        stages_.clear();
        each(space_.micro_batches, choice.micro_batch, [&] {
            each(space_.recompute, choice.recompute, [&] { over_batches(choice, *job); });
        });
    }

    // Of several micro-batches or of one, whose gradients are not added up. Made when it is needed.
    StageFamily& family_of(const Job& job, bool single)
    {
        std::optional<StageFamily>& family = families_[single ? 1 : 0];
        if (!family) {
            Job sample = job;
            sample.training.micro_batch = 1;
            sample.training.global_batch = dp_ * (single ? 1 : 2);
            sample.training.recompute = Recompute::none;
            sample.training.recompute_layers.reset();
            family.emplace(std::move(sample), *parts_.sound, *parts_.cost, device_);
        }
        return *family;
    }

    // `job`: of the family; takes the recompute of the point.
    void over_batches(LayoutChoice& choice, Job& job)
    {
        if (const std::optional<int>& layers = choice.recompute.layers) {
            const std::int64_t all = std::int64_t{*layers} * choice.pp; // of all devices
            const bool even = layers_ % (choice.pp * choice.vpp) == 0;
            if (even && all == layers_ && has({Recompute::full, {}}))
                return exclude(Exclusion::same, space_.global_batches.size());
            if (all > layers_ + choice.pp)
                return exclude(Exclusion::input, space_.global_batches.size(),
                               "/training/recompute_layers", "more layers than a device has");
        }
        job.training.recompute = choice.recompute.kind;
        job.training.recompute_layers = choice.recompute.layers;
        each(space_.global_batches, choice.global_batch, [&] {
            const std::int64_t pass = choice.micro_batch * dp_;
            if (choice.global_batch % pass != 0)
                return exclude(Exclusion::batch, 1);
            const std::int64_t count = choice.global_batch / pass;
            const PassOrder& order = order_of(choice, count);
            if (!order.refusal.empty())
                return exclude(Exclusion::input, 1, "/strategy/schedule", order.refusal);
            const bool single = count == 1;
            const auto layers = [&](Recompute recompute) -> const LayerTable& {
                return layers_of(choice, job, recompute, single, order.splits);
            };
            const LayerTable& plain = layers(Recompute::none);
            const LayerTable& again = layers(choice.recompute.kind);
            if (choice.recompute.kind == Recompute::selective && has({}) &&
                std::ranges::equal(again.passes(), plain.passes(),
                                   [](const LayerPasses& a, const LayerPasses& b) {
                                       return a.costs_as_much_as(b);
                                   }))
                return exclude(Exclusion::same, 1); // fused attention keeps nothing of its core
            StageFamily& family = family_of(job, single);
            const StageFamily::StagePasses passes =
                StageFamily::passes(stages_of(job), plain, again);
            const Bytes memory = family.memory(passes, order);
            if (memory > room_)
                return exclude_as_large(choice, memory);
            const std::vector<Seconds> messages = family.messages(choice.micro_batch);
            out_.layouts.push_back(
                {choice, {family.step_time(passes, messages, order, count), memory}, number_++});
        });
    }

    // The layers of each stage, whatever the micro-batch.
    const std::vector<std::vector<StageLayer>>& stages_of(const Job& job)
    {
        const auto [found, added] =
            stages_.try_emplace({job.training.recompute, job.training.recompute_layers});
        if (added)
            found->second = cut_into_stages(job);
        return found->second;
    }

    void exclude_as_large(const LayoutChoice& choice, Bytes memory)
    {
        const std::uint64_t number = number_;
        exclude(Exclusion::memory, 1);
        if (!out_.nearest || memory < out_.nearest->memory)
            out_.nearest = {choice, memory, number};
    }

    // With as many micro-batches as any schedule needs.
    Checked<Job> job_of(const LayoutChoice& choice) const
    {
        LayoutChoice sample = choice;
        sample.micro_batch = 1;
        sample.recompute = {};
        sample.global_batch = std::int64_t{2} * choice.pp * dp_;
        Scenario scenario = scenario_;
        apply(sample, facts_, scenario);
        return resolve({facts_.model, scenario.training, scenario.strategy, parts_.job.software,
                        facts_.devices, parts_.job.gpus_per_node, parts_.job.cuda_graphs,
                        parts_.job.launches, parts_.job.data});
    }

    const PassOrder& order_of(const LayoutChoice& choice, std::int64_t count)
    {
        const PipelineSchedule& schedule = schedule_of(choice);
        const PipelineShape shape{.stages = choice.pp,
                                  .chunks = choice.vpp,
                                  .micro_batches =
                                      static_cast<int>(std::min(count, most_micro_batches)),
                                  .in_turns = scenario_.strategy.overlap.ep && choice.ep > 1};
        const auto key =
            std::tuple(&schedule, shape.stages, shape.chunks, shape.micro_batches, shape.in_turns);
        auto found = orders_.find(key);
        if (found == orders_.end())
            found = orders_.emplace(key, pass_order(schedule, shape)).first;
        return found->second;
    }

    // `of`: with several micro-batches.
    const LayerTable& layers_of(const LayoutChoice& choice, const Job& of, Recompute recompute,
                                bool single, bool splits)
    {
        // Where the groups of a layer lie depends on the other sizes unless these are the slowest.
        const bool usual = of.strategy.rank_order == usual_order_ &&
                           of.strategy.experts.placement == ExpertPlacement::near;
        const LayerKey key{choice.tp,          choice.cp,
                           choice.ep,          choice.etp,
                           usual ? 0 : dp_,    usual ? 0 : choice.pp,
                           choice.micro_batch, single ? 0 : weight_gradient_bytes(of),
                           recompute,          splits};
        const auto found = layers_known_.find(key);
        if (found != layers_known_.end())
            return found->second;
        Job job = of;
        job.training.micro_batch = choice.micro_batch;
        job.training.global_batch = choice.micro_batch * dp_ * (single ? 1 : 2);
        job.training.recompute = recompute;
        job.training.recompute_layers.reset();
        return layers_known_.try_emplace(key, job, *parts_.sound, *parts_.cost, splits)
            .first->second;
    }

    const SearchSpace& space_;
    SpaceShare share_;
    const SpaceFacts& facts_;
    const Scenario& scenario_;
    const Parts& parts_;
    DeviceMemory device_;
    Bytes room_;
    int layers_ = 0;
    int dp_ = 1;
    const WorkControl& work_;
    std::uint64_t points_ = space_.points();
    std::uint64_t number_ = 0; // of the next point
    bool counts_ = true;       // whether it is this share's to count
    std::uint64_t turn_of_shards_ = 0;
    std::uint64_t turn_of_lanes_ = 0; // among the shard's own
    PossibleLayouts out_;
    const std::string usual_order_ = Strategy{}.rank_order;
    std::array<std::optional<StageFamily>, 2> families_; // of the layout that is looked at
    // By recompute and layers of it, of the layout too.
    std::map<std::pair<Recompute, std::optional<int>>, std::vector<std::vector<StageLayer>>>
        stages_;
    std::map<LayerKey, LayerTable> layers_known_;
    std::map<std::tuple<const PipelineSchedule*, int, int, int, bool>, PassOrder> orders_;
};

} // namespace

PossibleLayouts possible_layouts(const SearchSpace& space, const SearchBase& base, Bytes room,
                                 const WorkControl& work, const SpaceShare& share)
{
    return SpaceWalk(space, base, room, work, share).run();
}

} // namespace trainyard
