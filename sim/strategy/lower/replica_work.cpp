#include "sim/strategy/lower/replica_work.h"

namespace trainyard {

namespace {

bool is_loss(const WorkItem& item)
{
    const auto* kernel = std::get_if<Kernel>(&item);
    return kernel != nullptr && (kernel->name == "loss" || kernel->name == "loss_backward");
}

const Kernel* find_logits(const WorkList& items)
{
    for (const WorkItem& item : items)
        if (const auto* kernel = std::get_if<Kernel>(&item);
            kernel != nullptr && kernel->name == "logits")
            return kernel;
    return nullptr;
}

} // namespace

ReplicaWork replica_work(const Job& job, const JobWork& work, bool makes_loss)
{
    ReplicaWork out{work, {}, {}, {}};
    KindOfLayer& last = out.work.kinds[out.work.stages.back().back()];
    out.output = last.work.output;
    if (const Kernel* logits = find_logits(last.work.forward)) {
        const auto elements = static_cast<std::uint64_t>(logits->gemm.m * logits->gemm.n);
        out.output =
            Bytes(elements * static_cast<std::uint64_t>(storage_bytes(job.training.precision)));
        out.loss_memory = Bytes(4 * elements); // the softmax in fp32
    }
    for (WorkList* items : {&last.work.forward, &last.work.backward}) {
        for (const WorkItem& item : *items)
            if (is_loss(item))
                out.loss.push_back(std::get<Kernel>(item));
        if (!makes_loss)
            std::erase_if(*items, is_loss);
    }
    return out;
}

} // namespace trainyard
