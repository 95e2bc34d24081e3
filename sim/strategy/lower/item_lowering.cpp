#include "sim/strategy/lower/item_lowering.h"

#include "sim/strategy/lower/parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainyard {

namespace {

// Whether the kernel makes the gradient of a weight, which is then ready: its other product makes
// that of its input, and unfused attention's products are between activations.
bool makes_gradient(const Kernel& kernel)
{
    return kernel.kind == KernelKind::gemm && kernel.for_weights &&
           !is_between_activations(kernel.use);
}

ItemLowering::GradientWork gradient_of(const Kernel& kernel)
{
    const GemmShape& g = kernel.gemm;
    const double operations = 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) *
                              static_cast<double>(g.k) * static_cast<double>(g.batch);
    ItemLowering::GradientWork work;
    (kernel.use == KernelUse::expert ? work.expert : work.dense) = operations;
    return work;
}

ComputeRequest request_of(const std::vector<Kernel>& run, Phase phase)
{
    return {.kernels = WorkList(run.begin(), run.end()), .phase = phase};
}

bool is_uneven(const Kernel& kernel)
{
    return kernel.uneven;
}

void append(TensorChanges& changes, const TensorChanges& more, Moment moment)
{
    for (TensorChange change : more) {
        change.moment = moment;
        changes.push_back(std::move(change));
    }
}

std::uint16_t launches_of(const std::vector<Kernel>& run)
{
    int launches = 0;
    for (const Kernel& kernel : run)
        launches += kernel.launches;
    return static_cast<std::uint16_t>(std::clamp(launches, 1, 0xffff));
}

} // namespace

ItemLowering::ItemLowering(PlanBuilder& plan, const Job& job, std::string block_name,
                           ExpertExchange exchange)
    : plan_(plan),
      job_(job),
      layout_(job),
      exchange_(exchange),
      uneven_(has_uneven_experts(job)),
      draft_(std::move(block_name), layer_event::count)
{}

void ItemLowering::lower(const WorkList& items, Phase phase, const ItemChanges& memory)
{
    flush();
    phase_ = phase;
    for (std::size_t i = 0; i < items.size(); ++i, ++item_) {
        if (const auto* kernel = std::get_if<Kernel>(&items[i]))
            add(*kernel);
        else
            add(std::get<Communication>(items[i]), items, i);
        place(memory.before[i], memory.after[i]);
    }
    flush();
}

void ItemLowering::add(const Kernel& kernel)
{
    // Due before this kernel, but not before the run began.
    const auto newly_due = [&](const Pending& p) {
        return !p.until_heavy && p.due <= item_ && p.due > run_start_;
    };
    const bool another_load = uneven_ && !run_.empty() && run_.back().uneven != kernel.uneven;
    if (another_load || std::ranges::any_of(pending_, newly_due))
        flush();
    const std::string_view part = part_of(kernel);
    if (!part.empty() && !part_.empty() && part != part_) {
        std::vector<Kernel> norms; // a norm goes forward with what it feeds
        while (phase_ != Phase::backward && !run_.empty() && is_norm_between(run_.back())) {
            norms.insert(norms.begin(), run_.back());
            run_.pop_back();
        }
        flush();
        run_ = std::move(norms);
        run_start_ = item_;
    }
    if (!part.empty())
        part_ = part;
    if (run_.empty())
        run_start_ = item_;
    run_.push_back(kernel);
    if (kernel.host_waits)
        flush();
    if (is_heavy(kernel))
        for (Pending& pending : pending_)
            if (std::exchange(pending.until_heavy, false))
                pending.due = item_ + 1;
}

void ItemLowering::add(const Communication& communication, const WorkList& items, std::size_t index)
{
    if (communication.bytes.value() == 0 || layout_.group_size(communication.group) == 1)
        return;
    const bool tp = communication.group == GroupKind::tp;
    if (tp && communication.needed_after > 0 && !job_.launches.ordered) {
        flush(); // the product issued next takes the device first: nothing runs beside
        pending_.push_back({add_transfer(communication, 1.0, Interference::full), item_ + 1});
        return;
    }
    if (const auto fusion = fusion_of(communication, items, index)) {
        add_fused(communication, *fusion);
        return;
    }
    flush();
    const bool beside = communication.needed_after > 0;
    const bool decomposed = tp && !beside && *job_.strategy.overlap.tp;
    // Without a product to hide behind all of it is exposed; decomposed, it may cost even more.
    const double share = decomposed ? std::max(1.0, job_.software.tp_exposed_share) : 1.0;
    const std::size_t op = add_transfer(communication, share,
                                        tp && beside ? Interference::kernel : Interference::full);
    pending_.push_back({op, item_ + 1 + static_cast<std::size_t>(communication.needed_after)});
}

void ItemLowering::flush()
{
    if (run_.empty())
        return;
    const std::string name(part_.empty() ? std::string_view(run_.front().name) : part_);
    const std::size_t op = draft_.add(
        {.kind = OpKind::compute,
         .stream = plan_.compute_stream(),
         .scale = uneven_ && std::ranges::any_of(run_, is_uneven) ? expert_load : device_speed,
         .kernels = launches_of(run_),
         .label = plan_.label(name, phase_),
         .cost = plan_.compute(request_of(run_, phase_)),
         .blocks_host = run_.back().host_waits && !job_.cuda_graphs});
    append(memory_of(op), std::exchange(changes_, {}), Moment::start);
    append(memory_of(op), std::exchange(given_back_, {}), Moment::end);
    wait_for_due(op, run_start_);
    if (!first_compute_) {
        first_compute_ = op;
        wait_for_surroundings(op);
        draft_.wait_for(op, layer_event::parameters);
    }
    last_compute_ = op;
    if (phase_ == Phase::backward)
        for (const Kernel& kernel : run_)
            if (makes_gradient(kernel))
                gradient_ops_.emplace_back(op, gradient_of(kernel));
    run_.clear();
    part_ = {};
}

std::size_t ItemLowering::add_transfer(const Communication& communication, double share,
                                       Interference interference)
{
    const std::string group(to_name(communication.group));
    const std::size_t op = draft_.add(
        {.kind = OpKind::collective,
         .stream = plan_.communication_stream(group),
         .group = plan_.group(communication.group),
         .label = plan_.transfer_label(transfer_name(communication.group, communication.kind),
                                       phase_, communication.kind, communication.group),
         .cost = plan_.transfer({.kind = communication.kind,
                                 .bytes = communication.bytes,
                                 .backend = backend_of(job_.strategy, communication.group),
                                 .share = share,
                                 .interference = interference})});
    wait_for_due(op, item_);
    if (last_compute_)
        draft_.wait_for(op, *last_compute_);
    else {
        wait_for_surroundings(op);
        draft_.wait_for(op, layer_event::computed);
    }
    return op;
}

// Communication whose result is needed now: waited for once; the stream's order covers the rest.
void ItemLowering::wait_for_due(std::size_t op, std::size_t at)
{
    const auto due = [&](const Pending& p) { return !p.until_heavy && p.due <= at; };
    for (const Pending& pending : pending_)
        if (due(pending))
            draft_.wait_for(op, pending.op);
    if (draft_.op(op).kind == OpKind::compute)
        std::erase_if(pending_, due);
}

void ItemLowering::wait_for_surroundings(std::size_t op)
{
    draft_.wait_for(op, layer_event::input);
    draft_.wait_for(op, layer_event::tail);
}

TensorChanges& ItemLowering::memory_of(std::size_t op)
{
    if (memory_.size() <= op)
        memory_.resize(op + 1);
    return memory_[op];
}

// What the latest item takes and gives back. Behind a transfer that is with the next op, which
// waits for it.
void ItemLowering::place(const TensorChanges& taken, const TensorChanges& given_back)
{
    const bool transfer = run_.empty() && draft_.size() > 0;
    if (transfer) {
        append(memory_of(draft_.size() - 1), taken, Moment::start);
        append(changes_, given_back, Moment::start);
        return;
    }
    append(changes_, std::exchange(given_back_, given_back), Moment::start);
    append(changes_, taken, Moment::start);
}

// `besides` what the items do, and what no op came to do any more.
void ItemLowering::place_rest(const TensorChanges& besides)
{
    if (draft_.size() == 0)
        return;
    append(memory_of(draft_.size() - 1), std::exchange(changes_, {}), Moment::end);
    append(memory_of(draft_.size() - 1), std::exchange(given_back_, {}), Moment::end);
    TensorChanges& first = memory_of(first_compute_.value_or(0));
    TensorChanges& last = memory_of(last_compute_.value_or(draft_.size() - 1));
    for (const TensorChange& change : besides)
        if (change.moment == Moment::end)
            last.push_back(change);
        else
            first.insert(first.begin(), change);
    for (std::size_t op = 0; op < memory_.size(); ++op)
        draft_.op(op).memory = plan_.memory(memory_[op]);
}

ItemLowering::Result ItemLowering::finish(const TensorChanges& memory) &&
{
    flush();
    if (last_compute_)
        draft_.record(*last_compute_, layer_event::computed);
    place_rest(memory);
    if (!pending_.empty()) {
        const std::size_t last = pending_.back().op;
        for (const Pending& pending : pending_)
            if (pending.op != last)
                draft_.wait_for(last, pending.op);
        draft_.record(last, layer_event::tail);
    }
    Result result;
    for (auto& [op, work] : gradient_ops_) {
        work.ready = draft_.event_of(op);
        result.gradients.push_back(work);
    }
    result.block = std::move(draft_).build();
    return result;
}

} // namespace trainyard
