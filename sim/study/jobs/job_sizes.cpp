#include "sim/study/jobs/job_sizes.h"

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::int64_t largest = 1'000'000'000'000;

bool plausible(const std::optional<std::int64_t>& size)
{
    return !size || (*size >= 1 && *size <= largest);
}

void refuse_contradiction(const BatchSizes& sizes, std::int64_t replicas, JobDraft& draft)
{
    const std::int64_t product = *sizes.micro * *sizes.accumulation * replicas;
    draft.refuse(sizes.origin,
                 fmt::format("{} {}, but {} {} x {} {} x {} replicas = {}", sizes.all_name,
                             *sizes.all, sizes.micro_name, *sizes.micro, sizes.accumulation_name,
                             *sizes.accumulation, replicas, product),
                 fmt::format("{} {} fits, or other GPUs (the replicas are those that --gpu, "
                             "--nodes or --topology leave to data parallelism)",
                             sizes.all_name, product));
}

// What the batch says of the replicas, for a cluster that nothing states.
void ask_for_replicas(const BatchSizes& sizes, JobSize& size)
{
    if (!sizes.all || size.replicas)
        return;
    const std::int64_t micro = sizes.micro.value_or(1);
    const std::int64_t accumulation = sizes.accumulation.value_or(1);
    if (micro > *sizes.all || *sizes.all / micro % accumulation != 0 || *sizes.all % micro != 0)
        return;
    const std::int64_t passes = *sizes.all / micro / accumulation;
    if (sizes.micro && sizes.accumulation)
        size.replicas = passes;
    else
        size.passes = passes;
}

} // namespace

void settle_batches(const BatchSizes& stated, JobContext& context)
{
    JobDraft& draft = context.draft;
    Training& training = draft.scenario.training;
    BatchSizes sizes = stated;
    for (const auto& size : {sizes.all, sizes.micro, sizes.accumulation})
        if (!plausible(size)) {
            draft.refuse(sizes.origin, fmt::format("{} is no batch", *size), "at least 1");
            return;
        }
    const bool defaulted = !sizes.all && !sizes.micro;
    if (defaulted) {
        sizes.micro = sizes.usual_micro;
        draft.assume(fmt::format("{} {}, {} default: no size of a batch is stated "
                                 "(--set training.micro_batch=N and training.global_batch=N do)",
                                 sizes.micro_name, *sizes.micro, sizes.whose_default));
    }
    ask_for_replicas(sizes, draft.size);
    const std::int64_t replicas = context.replicas();
    if (replicas == 0)
        return; // told elsewhere
    if (!sizes.accumulation)
        sizes.accumulation = sizes.all && sizes.micro
                                 ? std::max<std::int64_t>(1, *sizes.all / *sizes.micro / replicas)
                                 : 1;
    const std::int64_t passes = *sizes.accumulation * replicas;
    if (!sizes.micro)
        sizes.micro = std::max<std::int64_t>(1, *sizes.all / passes);
    if (!sizes.all)
        sizes.all = *sizes.micro * passes;
    if (*sizes.micro > largest / passes || *sizes.all != *sizes.micro * passes) {
        if (*sizes.micro <= largest / passes)
            refuse_contradiction(sizes, replicas, draft);
        else
            draft.refuse(sizes.origin, "is beyond any batch", "");
        return;
    }
    if (defaulted) { // no line says so
        training.micro_batch = *sizes.micro;
        training.global_batch = *sizes.all;
        return;
    }
    const Origin origin = sizes.origin;
    draft.take(training.micro_batch, *sizes.micro, "training.micro_batch",
               sizes.micro_origin.value_or(origin));
    draft.take(training.global_batch, *sizes.all, "training.global_batch", origin);
}

int layers_of(const JobDraft& draft)
{
    if (!draft.model)
        return 0;
    const auto* transformer = std::get_if<Transformer>(&draft.model->architecture);
    return transformer == nullptr ? 0 : transformer->layers;
}

bool shortened_to_positions(JobDraft& draft)
{
    const auto* const layers =
        draft.model ? std::get_if<Transformer>(&draft.model->architecture) : nullptr;
    std::int64_t& length = draft.scenario.training.sequence_length;
    if (layers == nullptr || layers->position != PositionKind::learned ||
        layers->max_positions < 1 || layers->max_positions >= length)
        return false;
    length = layers->max_positions;
    return true;
}

int layers_recomputed(const JobDraft& draft, int every)
{
    const int on_device = layers_of(draft) / std::max(1, draft.scenario.strategy.pp);
    return (on_device + every - 1) / every;
}

} // namespace trainyard
