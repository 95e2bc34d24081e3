// What keeps data-parallel options from fitting the job and one another.

#include "sim/strategy/fsdp_widths.h"
#include "sim/strategy/misfits.h"
#include "sim/strategy/model_states.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

class Options {
public:
    explicit Options(const Job& job) : job_(job), s_(job.strategy) {}

    Problems all()
    {
        single_process();
        zero();
        shard_group();
        reshard_ranks();
        widths();
        compression();
        parameter_gather();
        return problems_;
    }

private:
    void refuse(const char* pointer, std::string message, std::string hint)
    {
        problems_.push_back(refusal(pointer, std::move(message), std::move(hint)));
    }

    void single_process()
    {
        if (s_.data_parallel != DataParallelScheme::single_process)
            return;
        const char* pointer = "/strategy/data_parallel";
        const int others = s_.tp * s_.pp * s_.cp * s_.ep * s_.etp;
        if (others > 1)
            refuse(pointer,
                   fmt::format("one process runs replicas of the whole model, not tp x pp x cp = "
                               "{} x {} x {} with ep x etp = {} x {}",
                               s_.tp, s_.pp, s_.cp, s_.ep, s_.etp),
                   "use \"ddp\", or tp, pp, cp, ep and etp of 1");
        if (s_.zero != 0)
            refuse(pointer,
                   fmt::format("device 0 holds all states of the process: nothing to cut (zero {})",
                               s_.zero),
                   "use \"ddp\", or zero 0");
        if (s_.offload != OffloadOptions{})
            refuse(pointer, "offloading is not supported together with one process for all devices",
                   "use \"ddp\", or leave strategy.offload out");
        constexpr int most_devices = 64;
        if (job_.dp() > most_devices)
            refuse(pointer, fmt::format("no host has {} devices", job_.dp()), "use \"ddp\"");
    }

    bool deepspeed() const { return *s_.sharding.style == ShardingStyle::deepspeed; }
    int ranks() const { return job_.dp() * s_.cp; }

    void zero()
    {
        if (s_.zero == 2 && !deepspeed())
            refuse("/strategy/sharding/style",
                   "Megatron's distributed optimizer cuts optimizer states, not gradients (zero 2)",
                   "use style \"deepspeed\", or zero 1");
        if (s_.zero == 2 && s_.pp > 1)
            refuse(
                "/strategy/zero",
                fmt::format("ZeRO-2 reduces gradients after every micro-batch, which {} pipeline "
                            "stages keep apart; DeepSpeed refuses the two together",
                            s_.pp),
                "use zero 0, 1 or 3 with pp > 1, or pp = 1");
    }

    std::string groups_that_work() const
    {
        return sizes_that_work("shard groups", ranks(), [&](int n) { return ranks() % n == 0; });
    }

    // HSDP's groups are those of dense parameters: experts must be replicated over the same ranks.
    bool experts_differ() const { return job_.model.is_moe() && (s_.ep > 1 || s_.etp != s_.tp); }

    void shard_group()
    {
        if (!s_.shard_group)
            return;
        const char* pointer = "/strategy/shard_group";
        if (s_.zero == 0)
            refuse(pointer, "with zero 0 every rank holds all states: there is nothing to cut",
                   "use zero 1 or 3, or leave shard_group out");
        else if (s_.zero < 3 && deepspeed())
            refuse(pointer, fmt::format("DeepSpeed's ZeRO-{} cuts over all replicas", s_.zero),
                   "use zero 3, or zero 1 with sharding.style \"megatron\"");
        if (ranks() % *s_.shard_group != 0)
            refuse(pointer,
                   fmt::format("{} does not divide dp x cp = {} x {}", *s_.shard_group, job_.dp(),
                               s_.cp),
                   groups_that_work());
        if (experts_differ())
            refuse(
                pointer,
                fmt::format("experts cut over ep x etp = {} x {} ranks are replicated over other "
                            "ranks than the rest (tp = {})",
                            s_.ep, s_.etp, s_.tp),
                "use ep = 1 and etp = tp, or leave shard_group out");
    }

    void reshard_ranks()
    {
        if (!s_.fsdp.reshard_ranks || s_.zero != 3)
            return;
        const char* pointer = "/strategy/fsdp/reshard_ranks";
        if (s_.shard_group)
            refuse(pointer, "together with shard_group is not supported",
                   "leave one of the two out");
        if (!*s_.reshard_after_forward)
            refuse(pointer, "units are not cut after forward: reshard_after_forward is off",
                   "set strategy.reshard_after_forward to true, or leave reshard_ranks out");
        if (ranks() % *s_.fsdp.reshard_ranks != 0)
            refuse(pointer,
                   fmt::format("{} does not divide dp x cp = {} x {}", *s_.fsdp.reshard_ranks,
                               job_.dp(), s_.cp),
                   groups_that_work());
        if (experts_differ())
            refuse(pointer, "experts are replicated over other ranks than the rest",
                   "use ep = 1 and etp = tp, or leave reshard_ranks out");
    }

    void widths()
    {
        if (s_.zero != 3)
            return;
        const FsdpOptions& fsdp = s_.fsdp;
        if (fsdp.param_dtype && !gathers_in(*fsdp.param_dtype))
            refuse("/strategy/fsdp/param_dtype",
                   fmt::format("parameters are not gathered in {}", to_name(*fsdp.param_dtype)),
                   "formats that work: fp32, fp16, bf16, fp8");
        if (fsdp.reduce_dtype && !reduces_in(*fsdp.reduce_dtype))
            refuse("/strategy/fsdp/reduce_dtype",
                   fmt::format("gradients are not reduced in {}", to_name(*fsdp.reduce_dtype)),
                   "formats that work: fp32, fp16, bf16");
    }

    void compression()
    {
        const GradientCompression kind = s_.ddp.compression;
        if (kind == GradientCompression::none)
            return;
        const char* pointer = "/strategy/ddp/compression";
        if (s_.zero != 0)
            refuse(pointer, fmt::format("it is a hook of DDP, and zero is {}", s_.zero),
                   s_.zero == 3 ? "set strategy.fsdp.reduce_dtype" : "use zero 0, or \"none\"");
        else if (state_bytes(job_.training).gradients <= 2)
            refuse(pointer, fmt::format("gradients have 16 bits, no more than {}", to_name(kind)),
                   "use \"none\", or training.fp32_gradients");
    }

    void parameter_gather()
    {
        if (s_.zero == 0 || s_.zero == 3 || !*s_.sharding.overlap_param_gather)
            return;
        if (deepspeed())
            refuse("/strategy/sharding/overlap_param_gather",
                   "DeepSpeed gathers parameters right after the optimizer",
                   "leave it out, or use sharding.style \"megatron\"");
        else if (!*s_.overlap.dp)
            refuse("/strategy/sharding/overlap_param_gather",
                   "Megatron-LM gathers parameters beside compute only where gradients are reduced "
                   "beside it",
                   "set overlap.dp to true, or overlap_param_gather to false");
    }

    const Job& job_;
    const Strategy& s_;
    Problems problems_;
};

} // namespace

Problems data_parallel_misfits(const Job& job)
{
    return Options(job).all();
}

} // namespace trainyard
