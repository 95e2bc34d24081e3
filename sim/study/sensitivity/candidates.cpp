#include "sim/study/sensitivity/candidates.h"

#include "sim/study/loader_need.h"
#include "sim/study/uneven_stages.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

// Parts of a loss that a change saves at best: rough, they only order what is tried.
constexpr double most = 0.8;
constexpr double half = 0.5;
constexpr double little = 0.2;

// Sizes of the groups; their product is the world.
struct Split {
    int tp = 1;
    int cp = 1;
    int pp = 1;
    int dp = 1;
};

std::string word(bool value)
{
    return value ? "true" : "false";
}

class Finder {
public:
    explicit Finder(const Outcome& outcome)
        : outcome_(outcome),
          job_(outcome.job),
          stated_(outcome.scenario.strategy),
          mean_(mean_shares(*outcome.result, *outcome.binding))
    {}

    std::vector<Candidate> find()
    {
        using enum BottleneckClass;
        if (!outcome_.memory.fits()) {
            against(memory).for_memory();
        } else {
            against(bubble).for_bubble();
            against(communication).for_tensor_parallel();
            against(communication).for_context_and_experts();
            against(communication).for_data_parallel();
            against(host).for_host();
            against(data).for_input();
            against(memory).for_recompute();
            against(compute).for_compute();
        }
        std::ranges::stable_sort(found_, std::ranges::greater{}, &Candidate::promise);
        return std::move(found_);
    }

private:
    // What is added from here on goes for that loss.
    Finder& against(BottleneckClass kind)
    {
        against_ = kind;
        return *this;
    }

    double lost(TimeKind kind) const { return share_of(mean_, kind); }
    const Device& device() const { return outcome_.cost->profile().hardware.device; }

    void add(double promise, std::vector<Override> set, std::string note = "")
    {
        constexpr double worth_trying = 0.005;
        const auto same = [&](const Candidate& other) { return other.set == set; };
        if (promise >= worth_trying && std::ranges::none_of(found_, same))
            found_.push_back({std::move(set), promise, std::move(note), against_});
    }
    void add(double promise, const std::string& field, const std::string& value,
             std::string note = "")
    {
        add(promise, {{field, value}}, std::move(note));
    }

    // Other sizes of groups. Data parallelism takes what is left of the cluster unless it is
    // stated.
    void add_split(double promise, const Split& split)
    {
        const Split now{job_.strategy.tp, job_.strategy.cp, job_.strategy.pp, job_.dp()};
        const bool layers_by_hand =
            !stated_.stage_layers.empty() || !stated_.pipeline.layout.empty();
        if (std::min({split.tp, split.cp, split.pp, split.dp}) < 1 ||
            (split.pp != now.pp && layers_by_hand))
            return;
        std::vector<Override> set;
        const auto change = [&](const char* field, int from, int to) {
            if (from != to)
                set.push_back({field, std::to_string(to)});
        };
        change("strategy.tp", now.tp, split.tp);
        change("strategy.cp", now.cp, split.cp);
        change("strategy.pp", now.pp, split.pp);
        if (stated_.dp)
            change("strategy.dp", now.dp, split.dp);
        add(promise, std::move(set));
    }
    // Moves a factor of two from one size to another. Does nothing where it does not divide.
    void trade(double promise, int Split::*from, int Split::*to)
    {
        Split split{job_.strategy.tp, job_.strategy.cp, job_.strategy.pp, job_.dp()};
        if (split.*from % 2 != 0)
            return;
        split.*from /= 2;
        split.*to *= 2;
        add_split(promise, split);
    }

    void add_micro_batch(double promise, std::int64_t size)
    {
        const bool divides = size >= 1 && job_.training.global_batch % (size * job_.dp()) == 0;
        if (divides && size != job_.training.micro_batch)
            add(promise, "training.micro_batch", std::to_string(size));
    }

    int layers_of_stage() const
    {
        const auto* const model = std::get_if<Transformer>(&job_.model.architecture);
        return model == nullptr ? 0 : model->layers / job_.strategy.pp;
    }

    // Layers that were laid over the stages by hand are laid over the new ones.
    void add_virtual_stages(double promise, int vpp)
    {
        std::vector<Override> set{{"strategy.vpp", std::to_string(vpp)}};
        if (!stated_.stage_layers.empty()) {
            const auto* const model = std::get_if<Transformer>(&job_.model.architecture);
            const int stages = job_.strategy.pp * vpp;
            if (model == nullptr || stages > model->layers)
                return;
            set.push_back(
                {"strategy.stage_layers",
                 fmt::format("[{}]", fmt::join(balanced_stages(*model, stages,
                                                               job_.training.sequence_length),
                                               ","))});
        }
        add(promise, std::move(set));
    }

    void for_bubble()
    {
        const double bubble = lost(TimeKind::bubble);
        if (job_.strategy.pp == 1)
            return;
        const Strategy& strategy = job_.strategy;
        const bool interleaves =
            strategy.schedule == "1f1b" || strategy.schedule == "interleaved-1f1b";
        if (stated_.pipeline.layout.empty() && interleaves)
            for (const int factor : {2, 3, 5, layers_of_stage() / strategy.vpp})
                if (factor > 1)
                    add_virtual_stages(bubble * (1 - 1.0 / factor), strategy.vpp * factor);
        if (strategy.vpp == 1 && interleaves)
            add(bubble * half, "strategy.schedule", "zb-h1");
        add_micro_batch(bubble * half, job_.training.micro_batch / 2);
        trade(bubble * half, &Split::pp, &Split::tp);
        trade(bubble * half, &Split::pp, &Split::dp);
        if (job_.strategy.overlap.pp == false)
            add(lost(TimeKind::exposed_pp) * most, "strategy.overlap.pp", word(true));
    }

    void for_tensor_parallel()
    {
        const Strategy& strategy = job_.strategy;
        const double exposed = lost(TimeKind::exposed_tp);
        if (strategy.tp == 1)
            return;
        if (strategy.overlap.tp == false && strategy.sequence_parallel == true)
            add(exposed * half, "strategy.overlap.tp", word(true));
        if (strategy.sequence_parallel == false)
            add(exposed * little, "strategy.sequence_parallel", word(true));
        trade(exposed * half, &Split::tp, &Split::dp);
        trade(exposed * half, &Split::tp, &Split::pp);
        trade(exposed * half, &Split::tp, &Split::cp);
    }

    void for_context_and_experts()
    {
        const Strategy& strategy = job_.strategy;
        trade(lost(TimeKind::exposed_cp) * half, &Split::cp, &Split::dp);
        trade(lost(TimeKind::exposed_cp) * half, &Split::cp, &Split::tp);
        const double experts = lost(TimeKind::exposed_ep);
        if (!job_.model.is_moe())
            return;
        if (!strategy.overlap.ep && strategy.ep > 1)
            add(experts * most, "strategy.overlap.ep", word(true));
        if (strategy.ep % 2 == 0)
            add(experts * half, "strategy.ep", std::to_string(strategy.ep / 2));
        if (strategy.etp == 1)
            add(lost(TimeKind::exposed_dp) * little, "strategy.ep",
                std::to_string(strategy.ep * 2));
    }

    void for_data_parallel()
    {
        const Strategy& strategy = job_.strategy;
        const double exposed = lost(TimeKind::exposed_dp);
        if (job_.dp() * strategy.cp == 1)
            return;
        if (is_single_process(job_))
            return add(1, "strategy.data_parallel", "ddp");
        if (on_host(strategy.backend) && !device().is_cpu())
            add(exposed * most, "strategy.backend", "nccl");
        if (strategy.overlap.dp == false)
            add(exposed * most, "strategy.overlap.dp", word(true));
        add_sharding(exposed);
        if (strategy.zero == 0 && strategy.bucket_cap < Bytes(100U << 20))
            add(exposed * little, "strategy.bucket_cap", "100 MiB");
        if (job_.training.fp32_gradients == true && strategy.zero < 3)
            add(exposed * half, "training.fp32_gradients", word(false), "sums gradients in 16 bit");
        trade(exposed * little, &Split::dp, &Split::tp);
        trade(exposed * little, &Split::dp, &Split::pp);
    }

    void add_sharding(double exposed)
    {
        const Strategy& strategy = job_.strategy;
        if (strategy.zero < 2)
            return;
        add(exposed * half, "strategy.zero", "1");
        if (strategy.zero < 3)
            return;
        add(exposed * half, "strategy.zero", "2");
        const int ranks = job_.dp() * strategy.cp;
        if (!strategy.shard_group && ranks > job_.gpus_per_node && ranks % job_.gpus_per_node == 0)
            add(exposed * half, "strategy.shard_group", std::to_string(job_.gpus_per_node));
        if (strategy.reshard_after_forward != false)
            add(exposed * half, "strategy.reshard_after_forward", word(false));
        add(exposed * little, "strategy.prefetch", std::to_string(strategy.prefetch + 1));
    }

    void for_host()
    {
        const double host = lost(TimeKind::host);
        if (!job_.cuda_graphs && !device().is_cpu())
            add(host * most, "software.cuda_graphs", word(true));
        if (job_.strategy.offload.optimizer != OffloadTarget::none)
            add(host * most, "strategy.offload.optimizer",
                std::string(to_name(OffloadTarget::none)));
        add_micro_batch(host * half, job_.training.micro_batch * 2);
    }

    void for_input()
    {
        const double data = lost(TimeKind::data);
        const OffloadOptions& offload = job_.strategy.offload;
        if (offload.parameters != OffloadTarget::none)
            add(data * most, "strategy.offload.parameters",
                std::string(to_name(OffloadTarget::none)));
        if (offload.activation_layers > 0)
            add(data * most, "strategy.offload.activation_layers", "0");
        if (!job_.data)
            return;
        const DataLoading& loading = job_.data->loading;
        if (const int useful = useful_workers(outcome_); useful > loading.workers)
            add(data * most, "data.workers", std::to_string(useful));
        add(data * half, "data.workers", std::to_string(std::max(1, loading.workers * 2)));
        if (loading.copy != HostCopy::ahead)
            add(data * half, {{"data.copy", "ahead"}, {"data.pinned", word(true)}});
        if (loading.epoch == Epoch::first || loading.order == ReadOrder::shuffled)
            add(data * half, "data.order", "sequential", "reads records in their order");
    }

    void for_recompute()
    {
        const double redone = lost(TimeKind::recompute);
        const Training& training = job_.training;
        if (training.recompute == Recompute::none)
            return;
        add(redone, "training.recompute", "none");
        if (training.recompute != Recompute::full)
            return;
        add(redone * most, "training.recompute", "selective");
        const std::int64_t layers = training.recompute_layers.value_or(layers_of_stage());
        if (layers > 1)
            add(redone * half, "training.recompute_layers", std::to_string(layers / 2));
    }

    void for_compute()
    {
        const double compute = lost(TimeKind::forward) + lost(TimeKind::backward);
        const Precision precision = job_.training.precision;
        add_micro_batch(compute * 0.05, job_.training.micro_batch * 2);
        const bool narrow = precision == Precision::fp8 || precision == Precision::fp8_block ||
                            precision == Precision::mxfp8 || precision == Precision::nvfp4;
        const bool wide = precision == Precision::fp32 || precision == Precision::tf32;
        const auto& peak = device().peak;
        if (wide && std::max(peak.bf16, peak.fp16).value() > 0)
            add(compute * half, "training.precision", "bf16", "computes in 16 bit");
        else if (!wide && !narrow && peak.fp8.value() > 0 && job_.model.is_transformer())
            add(compute * little, "training.precision", "fp8", "computes products in 8 bit");
        if (job_.model.is_transformer())
            add_attention(compute, device());
        if (!job_.software.kernels.fused_elementwise)
            add(compute * 0.05, "software.fused_elementwise", word(true));
    }

    // The fastest fused kernel on this device, where it is faster than the job's; attention takes
    // less of the step than half.
    void add_attention(double compute, const Device& device)
    {
        const AttentionKernel now = job_.software.kernels.attention;
        AttentionKernel best = AttentionKernel::cudnn;
        if (device.attention.at(AttentionKernel::flash2) > device.attention.at(best))
            best = AttentionKernel::flash2;
        if (now == AttentionKernel::unfused ||
            device.attention.at(best) > 1.05 * device.attention.at(now))
            add(compute * little * half, "software.attention", std::string(to_name(best)));
    }

    // What makes room, the cheapest first.
    void for_memory()
    {
        const Training& training = job_.training;
        const int zero = job_.strategy.zero;
        double promise = 1;
        const auto next = [&promise] { return promise -= 0.05; };
        if (zero < 1 && job_.dp() > 1)
            add(next(), "strategy.zero", "1");
        add_micro_batch(next(), training.micro_batch / 2);
        if (training.recompute == Recompute::none)
            add(next(), "training.recompute", "selective");
        if (training.recompute != Recompute::full)
            add(next(), "training.recompute", "full");
        else if (training.recompute_layers)
            add(next(), "training.recompute_layers",
                std::to_string(*training.recompute_layers * 2));
        if (zero < 3 && job_.dp() > 1)
            add(next(), "strategy.zero", "3");
        trade(next(), &Split::dp, &Split::tp);
        trade(next(), &Split::dp, &Split::pp);
        if (zero < 3 && job_.dp() > 1)
            add(next(), {{"strategy.zero", "3"}, {"training.recompute", "full"}});
        add(next(), "strategy.offload.optimizer", "cpu");
    }

    const Outcome& outcome_;
    const Job& job_;
    const Strategy& stated_;
    TimeShares mean_;
    BottleneckClass against_ = BottleneckClass::compute;
    std::vector<Candidate> found_;
};

} // namespace

std::vector<Candidate> candidates_for(const Outcome& outcome)
{
    return Finder(outcome).find();
}

} // namespace trainyard
