// FSDP / ZeRO-3 (Rajbhandari 2020, Zhao 2023): units of layers whose parameters live in shards. A
// unit is gathered before its forward pass, some units ahead, freed after it and gathered again
// before its backward pass; its gradients are reduce-scattered after each backward pass, and with
// HSDP summed across replicas of the shards.
//
// A unit whose backward pass comes next stays gathered, and so does the root unit (embedding and
// head) from forward to backward. With pipeline stages units stay gathered over the step and whole
// gradients are summed up until the last micro-batch, as torch.distributed.pipelining does with
// FSDP2 (stage.py, backward_maybe_with_nosync).

#include "sim/strategy/fsdp_widths.h"
#include "sim/strategy/lower/fsdp_units.h"
#include "sim/strategy/lower/offloaded_update.h"
#include "sim/strategy/lower/shard_exchange.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

// Dense or expert parameters: over which ranks they are cut.
struct Family {
    StateShards shards;
    double LayerParameters::*count;
    const char* gathered; // names of tensors
    const char* kept;
    const char* fetched;
    const char* fetched_again; // for backward: the one for forward may not have gone yet
    const char* gradients;
};

std::size_t prefetch(const Job& job, const std::optional<int>& units)
{
    return static_cast<std::size_t>(units.value_or(job.strategy.prefetch));
}

Bytes bytes_of(double width, double count)
{
    return scaled(Bytes(1), width * count);
}

Tensor tensor(const char* name, MemoryKind kind, Bytes bytes, TensorScope scope)
{
    return {name, kind, static_cast<std::int64_t>(bytes.value()), scope};
}

class Fsdp final : public DataParallel {
public:
    Fsdp(const Job& job, const StageContent& stage)
        : job_(job),
          stage_(stage),
          plan_(plan_units(job, stage)),
          width_(fsdp_widths(job)),
          families_{Family{dense_shards(job), &LayerParameters::dense, "gathered parameters",
                           "parameters kept near", "fetched parameters", "parameters fetched again",
                           "whole gradients"},
                    Family{expert_shards(job), &LayerParameters::expert, "gathered experts",
                           "experts kept near", "fetched experts", "experts fetched again",
                           "whole expert gradients"}},
          reductions_{ShardReduction(families_[0].shards), ShardReduction(families_[1].shards)},
          offload_(job),
          fetches_(job.strategy.offload.parameters != OffloadTarget::none),
          ahead_in_forward_(prefetch(job, job.strategy.fsdp.forward_prefetch)),
          ahead_in_backward_(prefetch(job, job.strategy.fsdp.backward_prefetch))
    {}

    TensorChanges memory(std::size_t visit) const override;
    EventId before(StageWriter& writer, std::size_t visit) override;
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block) override;
    void reduce_rest(StageWriter&) override {}
    void publish(StageWriter&) override {}

private:
    double count(const Family& family, std::size_t visit) const
    {
        return plan_.units[plan_.visits[visit].unit].parameters.*family.count;
    }
    double trained(const Family& family, std::size_t visit) const
    {
        return plan_.units[plan_.visits[visit].unit].trained.*family.count;
    }
    // Parameters of the visit's unit that are gathered (reduced) over several ranks.
    double gathered_count(std::size_t visit) const
    {
        double sum = 0;
        for (const Family& family : families_)
            sum += family.shards.ranks > 1 ? count(family, visit) : 0.0;
        return sum;
    }
    double reduced_count(std::size_t visit) const
    {
        double sum = 0;
        for (const Family& family : families_)
            sum += family.shards.all() > 1 ? trained(family, visit) : 0.0;
        return sum;
    }
    // A rank's device does not hold all of the parameters all the time.
    bool in_parts(const Family& family) const { return family.shards.ranks > 1 || fetches_; }
    UseIndex index_of(std::size_t visit) const
    {
        const Visit& v = stage_.visits[visit];
        return v.index(stage_.layers[v.layer]);
    }
    Tensor gathered_tensor(const Family& family, std::size_t visit) const;
    Tensor kept_tensor(const Family& family, std::size_t visit) const;
    Tensor gradient_tensor(const Family& family, std::size_t visit) const;
    void gather(StageWriter& writer, std::size_t number);
    void gather(StageWriter& writer, std::size_t number, const Family& family);
    std::vector<EventId> gather_waits(StageWriter& writer) const;
    MemoryCopy fetch(StageWriter& writer, std::size_t number, const Family& family);
    void cast(StageWriter& writer, std::size_t visit) const;
    void keep_near(StageWriter& writer, std::size_t visit) const;
    void reduce(StageWriter& writer, std::size_t visit);
    void reduce(StageWriter& writer, std::size_t visit, const Family& family,
                ShardReduction& reduction);

    const Job& job_;
    const StageContent& stage_;
    FsdpPlan plan_;
    FsdpWidths width_;
    std::array<Family, 2> families_;
    std::array<ShardReduction, 2> reductions_; // of the families
    GradientOffload offload_;
    bool fetches_;                 // shards, from outside the device
    std::size_t ahead_in_forward_; // units
    std::size_t ahead_in_backward_;
    std::vector<EventId> gathered_; // a ring: latest gathers
    EventId fetched_;               // latest shard; made at the first use
    std::size_t started_ = 0;
};

// Whole parameters of a unit, from its gather to the end of the visit that frees it.
Tensor Fsdp::gathered_tensor(const Family& family, std::size_t visit) const
{
    return tensor(family.gathered, MemoryKind::unsharded,
                  bytes_of(width_.gathered, count(family, visit)), TensorScope::layer);
}

Tensor Fsdp::kept_tensor(const Family& family, std::size_t visit) const
{
    return tensor(
        family.kept, MemoryKind::unsharded,
        bytes_of(width_.gathered / *job_.strategy.fsdp.reshard_ranks, count(family, visit)),
        TensorScope::layer);
}

// Whole gradients of a unit, from its backward pass to the end of their reduction.
Tensor Fsdp::gradient_tensor(const Family& family, std::size_t visit) const
{
    return tensor(family.gradients, MemoryKind::unreduced,
                  bytes_of(width_.gradients, trained(family, visit)),
                  TensorScope::layer_of_micro_batch);
}

TensorChanges Fsdp::memory(std::size_t visit) const
{
    TensorChanges changes;
    for (const Family& family : families_) {
        const FsdpVisit& plan = plan_.visits[visit];
        if (plan.takes_gradients && family.shards.all() > 1 && trained(family, visit) > 0)
            changes.push_back(allocates(gradient_tensor(family, visit)));
        if (plan.frees && in_parts(family) && count(family, visit) > 0)
            changes.push_back(frees(gathered_tensor(family, visit)));
    }
    return changes;
}

EventId Fsdp::before(StageWriter& writer, std::size_t visit)
{
    const std::optional<std::size_t> number = plan_.visits[visit].gather;
    if (!number)
        return writer.never();
    const bool forward = stage_.visits[visit].kind == PassKind::forward;
    const std::size_t ahead = forward ? ahead_in_forward_ : ahead_in_backward_;
    while (gathered_.size() < std::max(ahead_in_forward_, ahead_in_backward_) + 2)
        gathered_.push_back(writer.event());
    while (started_ < plan_.gathers.size() && started_ <= *number + ahead &&
           plan_.gathers[started_].free_at <= visit)
        gather(writer, started_++);
    const EventId gathered = gathered_[*number % gathered_.size()];
    if (!job_.software.fsdp_copies)
        return gathered;
    writer.memory_pass({.name = "unpack parameters",
                        .bytes = width_.gathered * gathered_count(visit),
                        .phase = Phase::parameter_sync,
                        .waits = {gathered},
                        .index = index_of(visit)});
    return writer.never();
}

// Shards are cast to the width that travels.
void Fsdp::cast(StageWriter& writer, std::size_t visit) const
{
    if (width_.gathered == width_.held)
        return;
    double shards = 0;
    for (const Family& family : families_)
        shards += count(family, visit) / family.shards.ranks;
    writer.memory_pass({.name = "cast parameters",
                        .bytes = (width_.held + width_.gathered) * shards,
                        .phase = Phase::parameter_sync,
                        .index = index_of(visit)});
}

void Fsdp::gather(StageWriter& writer, std::size_t number)
{
    if (!plan_.gathers[number].near)
        cast(writer, plan_.gathers[number].visit);
    for (const Family& family : families_)
        gather(writer, number, family);
}

// The limiter lets a gather start when the compute issued before it is done.
std::vector<EventId> Fsdp::gather_waits(StageWriter& writer) const
{
    if (job_.strategy.fsdp.limit_all_gathers)
        return {writer.computed(), writer.tail()};
    return width_.gathered == width_.held ? std::vector<EventId>{}
                                          : std::vector<EventId>{writer.computed()};
}

// The rank's own part, from where it lives.
MemoryCopy Fsdp::fetch(StageWriter& writer, std::size_t number, const Family& family)
{
    const OffloadOptions& offload = job_.strategy.offload;
    const std::size_t visit = plan_.gathers[number].visit;
    const bool peer = offload.parameters == OffloadTarget::peer;
    const bool backward = stage_.visits[visit].kind != PassKind::forward;
    if (!fetched_.valid())
        fetched_ = writer.event();
    return {.name = "parameters to device",
            .stream = peer ? from_peer_stream : from_host_stream,
            .route = peer ? CopyRoute::peer : CopyRoute::host,
            .bytes = bytes_of(width_.gathered / family.shards.ranks, count(family, visit)),
            .both_ways = backward && host_updates(job_) && offload.overlap,
            .phase = Phase::parameter_sync,
            .waits = gather_waits(writer),
            .record = fetched_,
            .index = index_of(plan_.gathers[number].freed),
            .blocks_host = !offload.overlap};
}

// Its memory is freed with the index of the visit that ends its use.
void Fsdp::gather(StageWriter& writer, std::size_t number, const Family& family)
{
    const FsdpGather& what = plan_.gathers[number];
    if (!in_parts(family) || count(family, what.visit) <= 0)
        return;
    SingleTransfer transfer;
    transfer.kind = CollectiveKind::all_gather;
    transfer.group = what.near ? GroupKind::shard : family.shards.group;
    transfer.bytes = bytes_of(width_.gathered, count(family, what.visit));
    transfer.phase = Phase::parameter_sync;
    transfer.stream = data_parallel_stream;
    transfer.waits = gather_waits(writer);
    transfer.record = gathered_[number % gathered_.size()];
    transfer.memory = {allocates(gathered_tensor(family, what.visit))};
    transfer.index = index_of(what.freed);
    if (what.near)
        transfer.memory.push_back(frees(kept_tensor(family, what.visit)));
    if (fetches_) {
        MemoryCopy copy = fetch(writer, number, family);
        if (family.shards.ranks == 1) { // all of it
            copy.record = transfer.record;
            copy.memory = transfer.memory;
            return writer.copy(copy);
        }
        const bool forward = stage_.visits[what.freed].kind == PassKind::forward;
        const Tensor shard =
            tensor(forward ? family.fetched : family.fetched_again, MemoryKind::unsharded,
                   copy.bytes, TensorScope::layer_of_micro_batch);
        copy.memory = {allocates(shard)};
        transfer.memory.push_back(frees(shard));
        transfer.waits = {copy.record};
        writer.copy(copy);
    }
    writer.transfer(transfer);
}

void Fsdp::after(StageWriter& writer, std::size_t visit, const LayerBlock&)
{
    if (plan_.visits[visit].kept_until)
        keep_near(writer, visit);
    if (plan_.visits[visit].reduces)
        reduce(writer, visit);
}

// Each of the few ranks copies its part.
void Fsdp::keep_near(StageWriter& writer, std::size_t visit) const
{
    const FsdpGather& until = plan_.gathers[*plan_.visits[visit].kept_until];
    TensorChanges memory;
    for (const Family& family : families_)
        if (family.shards.ranks > 1 && count(family, visit) > 0)
            memory.push_back(allocates(kept_tensor(family, visit)));
    writer.memory_pass(
        {.name = "keep a shard",
         .bytes = 2 * width_.gathered / *job_.strategy.fsdp.reshard_ranks * gathered_count(visit),
         .phase = Phase::parameter_sync,
         .memory = memory,
         .index = index_of(until.freed)});
}

// Gradients are read as computed and written as they travel.
void Fsdp::reduce(StageWriter& writer, std::size_t visit)
{
    const bool passes = job_.software.fsdp_copies || width_.reduced != width_.gradients;
    if (passes && reduced_count(visit) > 0)
        writer.memory_pass({.name = "pack gradients",
                            .bytes = (width_.computed + width_.reduced) * reduced_count(visit),
                            .phase = Phase::gradient_sync,
                            .waits = {writer.tail()},
                            .index = index_of(visit)});
    for (std::size_t i = 0; i < families_.size(); ++i)
        reduce(writer, visit, families_[i], reductions_[i]);
}

void Fsdp::reduce(StageWriter& writer, std::size_t visit, const Family& family,
                  ShardReduction& reduction)
{
    const double summed = trained(family, visit);
    if (summed <= 0)
        return;
    EventId ready = writer.computed();
    if (reduction.any()) {
        ready = writer.reduced();
        reduction.write(writer, {.kind = CollectiveKind::reduce_scatter,
                                 .bytes = bytes_of(width_.reduced, summed),
                                 .phase = Phase::gradient_sync,
                                 .waits = {writer.computed(), writer.tail()},
                                 .record = ready,
                                 .memory = {frees(gradient_tensor(family, visit))},
                                 .index = index_of(*plan_.visits[visit].reduces)});
    }
    if (plan_.visits[visit].last)
        offload_.leave(writer, bytes_of(width_.gradients / family.shards.ranks, summed), ready,
                       index_of(visit));
}

} // namespace

std::unique_ptr<DataParallel> make_fsdp(const Job& job, const StageContent& stage)
{
    return std::make_unique<Fsdp>(job, stage);
}

} // namespace trainyard
