// FSDP / ZeRO-3 (Rajbhandari 2020, Zhao 2023): each layer is a unit whose parameters live in
// shards. A unit is gathered before its forward pass, `prefetch` units ahead, freed after it and
// gathered again before its backward pass; its gradients are reduce-scattered after each backward
// pass.
//
// Embedding and head stay gathered from forward to backward, as PyTorch's root unit does, and so
// does a unit whose backward pass comes next.

#include "sim/strategy/lower/bucketed_reduction.h"
#include "sim/strategy/rank_layout.h"

namespace trainyard {

namespace {

constexpr std::size_t no_gather = static_cast<std::size_t>(-1);

class Fsdp final : public DataParallel {
public:
    Fsdp(const Job& job, const StageContent& stage);

    TensorChanges memory(std::size_t visit) const override;
    EventId before(StageWriter& writer, std::size_t visit) override;
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block) override;
    void reduce_rest(StageWriter&) override {}
    void publish(StageWriter&) override {}

private:
    struct VisitPlan {
        std::size_t gather = no_gather; // number of the gather that this visit needs
        bool frees = false;
    };

    static Tensor gathered_unit(GroupKind group, Bytes bytes);
    static Tensor whole_gradients(GroupKind group, Bytes bytes);
    void plan_visits();
    bool stays_whole(std::size_t layer) const;
    bool backward_is_next(std::size_t visit) const;
    // Parameters of a layer that are sharded: those of groups with more than one rank.
    LayerParameters sharded(const LayerParameters& all) const;
    double sharded_sum(std::size_t layer) const;
    void exchange(StageWriter& writer, std::size_t visit, SingleTransfer transfer,
                  double bytes_per_parameter) const;
    void gather(StageWriter& writer, std::size_t number);

    const Job& job_;
    const StageContent& stage_;
    bool shards_dense_;
    bool shards_experts_;
    std::vector<VisitPlan> plan_;      // by visit
    std::vector<std::size_t> gathers_; // visit that needs it, by number
    std::vector<EventId> gathered_;    // a ring: latest gathers
    std::size_t started_ = 0;
};

Fsdp::Fsdp(const Job& job, const StageContent& stage)
    : job_(job),
      stage_(stage),
      shards_dense_(RankLayout(job).group_size(GroupKind::dp) > 1),
      shards_experts_(RankLayout(job).group_size(GroupKind::edp) > 1)
{
    plan_visits();
}

// Is the unit kept gathered as long as a micro-batch is between its forward and backward pass?
bool Fsdp::stays_whole(std::size_t layer) const
{
    return !job_.strategy.reshard_after_forward ||
           stage_.work.kinds[stage_.layers[layer].kind].held.in_root_unit();
}

bool Fsdp::backward_is_next(std::size_t visit) const
{
    return visit + 1 < stage_.visits.size() &&
           stage_.visits[visit + 1].layer == stage_.visits[visit].layer &&
           stage_.visits[visit + 1].kind == PassKind::backward;
}

void Fsdp::plan_visits()
{
    plan_.resize(stage_.visits.size());
    std::vector<int> in_flight(stage_.layers.size(), 0);
    std::vector<bool> whole(stage_.layers.size(), false);
    for (std::size_t i = 0; i < plan_.size(); ++i) {
        const Visit& v = stage_.visits[i];
        if (sharded_sum(v.layer) <= 0)
            continue;
        if (!whole[v.layer]) {
            plan_[i].gather = gathers_.size();
            gathers_.push_back(i);
        }
        const bool forward = v.kind == PassKind::forward;
        in_flight[v.layer] += forward ? 1 : -1;
        whole[v.layer] =
            (stays_whole(v.layer) && in_flight[v.layer] > 0) || (forward && backward_is_next(i));
        plan_[i].frees = !whole[v.layer];
    }
}

LayerParameters Fsdp::sharded(const LayerParameters& all) const
{
    return {shards_dense_ ? all.dense : 0.0, shards_experts_ ? all.expert : 0.0};
}

double Fsdp::sharded_sum(std::size_t layer) const
{
    return sharded(stage_.parameters(layer)).total();
}

// Whole parameters of a unit, from its gather to the end of the visit that frees it.
Tensor Fsdp::gathered_unit(GroupKind group, Bytes bytes)
{
    return {.name = group == GroupKind::dp ? "gathered parameters" : "gathered experts",
            .kind = MemoryKind::unsharded,
            .bytes = static_cast<std::int64_t>(bytes.value()),
            .scope = TensorScope::layer};
}

// Whole gradients of a unit, from its backward pass to the end of their reduction.
Tensor Fsdp::whole_gradients(GroupKind group, Bytes bytes)
{
    return {.name = group == GroupKind::dp ? "whole gradients" : "whole expert gradients",
            .kind = MemoryKind::unreduced,
            .bytes = static_cast<std::int64_t>(bytes.value()),
            .scope = TensorScope::layer_of_micro_batch};
}

TensorChanges Fsdp::memory(std::size_t visit) const
{
    const Visit& v = stage_.visits[visit];
    const LayerParameters whole = sharded(stage_.parameters(v.layer));
    const LayerParameters trained = sharded(stage_.trained(v.layer));
    TensorChanges changes;
    const auto one = [&](GroupKind group, double held, double with_gradients) {
        if (v.kind == PassKind::backward && with_gradients > 0) // rounded as the transfers are
            changes.push_back(allocates(
                whole_gradients(group, scaled(Bytes(1), gradient_bytes(job_) * with_gradients))));
        if (plan_[visit].frees && held > 0)
            changes.push_back(
                frees(gathered_unit(group, scaled(Bytes(1), parameter_bytes(job_) * held))));
    };
    one(GroupKind::dp, whole.dense, trained.dense);
    one(GroupKind::edp, whole.expert, trained.expert);
    return changes;
}

EventId Fsdp::before(StageWriter& writer, std::size_t visit)
{
    const std::size_t number = plan_[visit].gather;
    if (number == no_gather)
        return writer.never();
    const auto ahead = static_cast<std::size_t>(job_.strategy.prefetch);
    while (gathered_.size() < ahead + 2)
        gathered_.push_back(writer.event());
    while (started_ < gathers_.size() && started_ <= number + ahead)
        gather(writer, started_++);
    const EventId gathered = gathered_[number % gathered_.size()];
    if (!job_.software.fsdp_copies)
        return gathered;
    const Visit& v = stage_.visits[visit];
    writer.memory_pass({.name = "unpack parameters",
                        .bytes = parameter_bytes(job_) * sharded_sum(v.layer),
                        .phase = Phase::parameter_sync,
                        .waits = {gathered},
                        .index = v.index(stage_.layers[v.layer])});
    return writer.never();
}

void Fsdp::after(StageWriter& writer, std::size_t visit, const LayerBlock&)
{
    const Visit& v = stage_.visits[visit];
    const double trained = sharded(stage_.trained(v.layer)).total();
    if (v.kind == PassKind::forward || trained <= 0)
        return;
    const double bytes = gradient_bytes(job_);
    if (job_.software.fsdp_copies) // read as computed, written as reduced
        writer.memory_pass({.name = "pack gradients",
                            .bytes = (parameter_bytes(job_) + bytes) * trained,
                            .phase = Phase::gradient_sync,
                            .waits = {writer.tail()},
                            .index = v.index(stage_.layers[v.layer])});
    SingleTransfer reduction;
    reduction.kind = CollectiveKind::reduce_scatter;
    reduction.phase = Phase::gradient_sync;
    reduction.waits = {writer.computed(), writer.tail()};
    reduction.record = writer.reduced();
    exchange(writer, visit, reduction, bytes);
}

void Fsdp::gather(StageWriter& writer, std::size_t number)
{
    SingleTransfer transfer;
    transfer.kind = CollectiveKind::all_gather;
    transfer.phase = Phase::parameter_sync;
    transfer.waits = {writer.computed(), writer.tail()};
    transfer.record = gathered_[number % gathered_.size()];
    exchange(writer, gathers_[number], transfer, parameter_bytes(job_));
}

// Dense parameters over DP x CP, experts over expert-DP; memory follows the traffic.
void Fsdp::exchange(StageWriter& writer, std::size_t visit, SingleTransfer transfer,
                    double bytes_per_parameter) const
{
    const Visit& v = stage_.visits[visit];
    const bool gathers = transfer.kind == CollectiveKind::all_gather;
    const LayerParameters parameters =
        sharded(gathers ? stage_.parameters(v.layer) : stage_.trained(v.layer));
    transfer.stream = data_parallel_stream;
    transfer.index = v.index(stage_.layers[v.layer]);
    const auto one = [&](GroupKind group, double count) {
        transfer.group = group;
        transfer.bytes = scaled(Bytes(1), bytes_per_parameter * count);
        transfer.memory = {gathers ? allocates(gathered_unit(group, transfer.bytes))
                                   : frees(whole_gradients(group, transfer.bytes))};
        writer.transfer(transfer);
    };
    one(GroupKind::dp, parameters.dense);
    one(GroupKind::edp, parameters.expert);
}

} // namespace

std::unique_ptr<DataParallel> make_fsdp(const Job& job, const StageContent& stage)
{
    return std::make_unique<Fsdp>(job, stage);
}

} // namespace trainyard
