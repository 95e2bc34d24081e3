// Closed forms of what each kind of group moves in a step, from the sizes of the small models alone
// (h hidden, a heads of d, g key heads, f feed-forward, V vocabulary; b s / c tokens of a
// micro-batch on a rank), against the transfers that a plan lists.

#include "sim/strategy/schedule.h"
#include "sim/strategy/stages.h"
#include "tests/catch.h"
#include "tests/property/random_laws.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>
#include <cmath>

namespace trainyard::testing {

namespace {

constexpr auto all_reduce = CollectiveKind::all_reduce;
constexpr auto all_gather = CollectiveKind::all_gather;
constexpr auto reduce_scatter = CollectiveKind::reduce_scatter;

// The sizes of a job in the symbols of the literature.
struct Sizes {
    explicit Sizes(const Job& job)
        : model(std::get<Transformer>(job.model.architecture)), s(job.strategy)
    {
        const bool wide = job.training.precision == Precision::fp32;
        width = wide ? 4 : 2;
        gradient = wide || *job.training.fp32_gradients ? 4 : 2;
        micro_batches = static_cast<double>(job.micro_batches());
        tokens =
            static_cast<double>(job.training.micro_batch * job.training.sequence_length) / s.cp;
        h = static_cast<double>(model.hidden);
        const std::int64_t multiple = job.software.pads_vocabulary ? 128 * s.tp : 1;
        const std::int64_t padded = (model.vocabulary + multiple - 1) / multiple * multiple;
        table = static_cast<double>(padded) * h / s.tp;
        gathered = *job.training.formats.parameter_gather ? 1 : width;
        recompute = job.training.recompute;
        layers = model.layers;
        replicas = s.cp * job.dp();
        expert_replicas = s.tp * s.cp * job.dp() / (s.ep * s.etp);
    }

    const Transformer& model;
    const Strategy& s;
    double width, gradient, micro_batches, tokens, h;
    double gathered; // of an element of a layer that is gathered once a step
    double table;    // of the vocabulary, on a rank
    double layers;
    int replicas, expert_replicas;
    Recompute recompute = Recompute::none;

    double kv_heads() const { return std::max(1.0, 1.0 * model.kv_heads / s.tp); }
    double layers_of_stage() const { return layers / s.pp; }

    // Norms, attention, and the MLP or what is dense of experts.
    double dense_layer() const
    {
        const double d = static_cast<double>(model.head_dim);
        const double attention = 2 * h * model.heads * d / s.tp + 2 * h * kv_heads() * d;
        const auto mlp = [&](std::int64_t ffn) { return 3 * h * static_cast<double>(ffn) / s.tp; };
        return 2 * h + attention +
               (model.moe ? h * model.moe->experts + mlp(model.moe->shared_expert_ffn)
                          : mlp(model.ffn));
    }
    double experts() const // of a layer
    {
        return model.moe ? 3 * h * static_cast<double>(model.moe->expert_ffn) * model.moe->experts /
                               (s.ep * s.etp)
                         : 0;
    }
    // ZB-V and DualPipeV go there and back: the first stage has the end too.
    bool returns() const { return s.schedule == "zb-v" || s.schedule == "dualpipev"; }
    // DualPipe runs two pipelines in opposite directions: a device has two mirrored stages.
    int pipelines() const { return s.schedule == "dualpipe" ? 2 : 1; }
    bool has_front(int stage) const
    {
        return stage == 0 || (pipelines() == 2 && stage == s.pp - 1);
    }
    bool has_end(int stage) const
    {
        return returns() ? stage == 0 : stage == s.pp - 1 || (pipelines() == 2 && stage == 0);
    }
    // Embedding at the front, norm and logits at the end; a tied matrix is there twice when the two
    // are apart.
    double ends(int stage) const
    {
        const bool front = has_front(stage);
        const bool end = has_end(stage);
        const bool logits = end && !(model.tied_embeddings && front);
        return (front ? table : 0) + (logits ? table : 0) + (end ? h : 0);
    }
    double layers_dense() const { return pipelines() * layers_of_stage() * dense_layer(); }
    double layers_experts() const { return pipelines() * layers_of_stage() * experts(); }
    double tensor() const { return width * tokens * h; } // between layers
};

class TrafficCheck {
public:
    TrafficCheck(const Job& job, const Plan& plan) : job_(job), plan_(plan), z_(job) {}

    void all()
    {
        for (int stage = 0; stage < job_.strategy.pp; ++stage) {
            CAPTURE(stage);
            data_parallel(stage, GroupKind::dp, z_.replicas, z_.layers_dense(), z_.ends(stage));
            data_parallel(stage, GroupKind::edp, z_.expert_replicas, z_.layers_experts(), 0);
            context_parallel(stage);
            if (!repeats_parts()) {
                expert_parallel(stage);
                expert_tensor_parallel(stage);
                expert_operations(stage);
            }
            tied_embedding(stage);
            twins(stage);
        }
        if (!repeats_parts())
            tensor_parallel();
        pipeline();
    }

private:
    double moved(int stage, CollectiveKind kind, GroupKind group) const
    {
        return volume(plan_, stage, kind, group).bytes;
    }

    // DDP 1 x gradients; ZeRO-1 scatters gradients and gathers parameters, ZeRO-2 scatters for
    // every micro-batch (Rajbhandari 2020).
    void data_parallel(int stage, GroupKind group, int ranks, double layers, double ends) const
    {
        if (z_.s.zero == 3)
            return fully_sharded(stage, group, ranks, layers, ends);
        const double once = ranks > 1 ? layers + ends : 0;
        const double times = z_.s.zero == 2 ? z_.micro_batches : 1;
        const bool reduces = z_.s.zero == 0;
        expect(moved(stage, all_reduce, group), reduces ? z_.gradient * once : 0);
        expect(moved(stage, reduce_scatter, group), reduces ? 0 : times * z_.gradient * once);
        const double bytes = z_.s.zero == 1 ? z_.gathered : z_.width; // DeepSpeed: 16 bit
        expect(moved(stage, all_gather, group),
               reduces || ranks == 1 ? 0 : bytes * layers + z_.width * ends);
    }

    void fully_sharded(int stage, GroupKind group, int ranks, double layers, double ends) const
    {
        const double gathered =
            z_.width * (gathered_layers(stage) * layers + gathered_ends() * ends);
        expect(moved(stage, all_gather, group), ranks > 1 ? gathered : 0);
        const double scattered = (*z_.s.fsdp.no_sync ? 1 : z_.micro_batches) * (layers + ends);
        expect(moved(stage, reduce_scatter, group), ranks > 1 ? z_.gradient * scattered : 0);
    }

    // Embedding and head stay while micro-batches are between forward and backward; in a pipeline
    // for the whole step.
    double gathered_ends() const
    {
        if (z_.s.pp > 1)
            return 1;
        int in_flight = 0;
        double starts = 0;
        for (const Pass& pass : find_schedule(z_.s.schedule)->passes(shape_of(job_), 0)) {
            starts += in_flight == 0;
            in_flight += pass.kind == PassKind::forward ? 1 : -1;
        }
        return starts;
    }

    // How often a stage's layers are gathered, on average. Without a pipeline twice for every
    // micro-batch; where they stay after forward, as the ends do. In a pipeline nothing is freed
    // after backward: one gather, and with freeing after forward one more behind each forward pass,
    // but where backward follows at once the last layer of the chunk stays.
    double gathered_layers(int stage) const
    {
        const bool frees = *z_.s.reshard_after_forward;
        if (z_.s.pp == 1)
            return frees ? 2 * z_.micro_batches : gathered_ends();
        if (!frees)
            return 1;
        const std::vector<Pass> passes =
            find_schedule(z_.s.schedule)->passes(shape_of(job_), stage);
        double stays = 0;
        for (std::size_t i = 0; i + 1 < passes.size(); ++i) {
            const bool end = stage == z_.s.pp - 1 && passes[i].chunk == z_.s.vpp - 1;
            stays += !end && passes[i].kind == PassKind::forward &&
                     passes[i + 1].kind == PassKind::backward &&
                     passes[i + 1].chunk == passes[i].chunk;
        }
        return 1 + z_.micro_batches - stays / z_.layers_of_stage();
    }

    // Selective recompute of parts that exchange: the closed forms count whole layers only.
    bool repeats_parts() const
    {
        return z_.recompute == Recompute::selective &&
               std::ranges::any_of(job_.training.recompute_modules, [](RecomputeModule module) {
                   return module == RecomputeModule::mlp || module == RecomputeModule::moe ||
                          module == RecomputeModule::per_op;
               });
    }

    double micro_batch_layers() const { return z_.micro_batches * z_.layers_of_stage(); }
    // Layers whose forward runs again.
    double repeated() const
    {
        if (z_.recompute != Recompute::full)
            return 0;
        const auto limit = job_.training.recompute_layers;
        return z_.micro_batches *
               (limit ? std::min<double>(*limit, z_.layers_of_stage()) : z_.layers_of_stage());
    }

    // Bytes of one head of a rank's tokens.
    double head() const { return z_.width * z_.tokens * static_cast<double>(z_.model.head_dim); }
    // Passes through a stage's layers: forward ones with those that run again, backward ones.
    double forwards() const { return micro_batch_layers() + repeated(); }
    double backwards() const { return micro_batch_layers(); }

    void context_parallel(int stage) const
    {
        const ContextParallel& context = z_.s.context;
        const bool gathers = z_.s.cp > 1 && context.kind == ContextKind::all_gather;
        const bool hybrid = context.kind == ContextKind::hybrid;
        const int exchange = z_.s.cp == 1 || gathers                ? 1
                             : hybrid                               ? context.a2a
                             : context.kind == ContextKind::ulysses ? z_.s.cp
                                                                    : 1;
        // Keys and values of the whole sequence, forward and again backward; gradients once.
        const double whole = gathers ? 2 * head() * z_.s.cp * z_.kv_heads() : 0;
        expect(moved(stage, all_gather, GroupKind::cp), whole * (forwards() + backwards()));
        expect(moved(stage, reduce_scatter, GroupKind::cp), whole * backwards());
        // Queries and results, keys and values, each way (Jacobs 2023); a key head that several
        // ranks need goes to each.
        const double heads = static_cast<double>(z_.model.heads) / z_.s.tp;
        const double sent = 2 * (heads + std::max<double>(z_.kv_heads(), exchange));
        expect(moved(stage, CollectiveKind::all_to_all, hybrid ? GroupKind::cp_a2a : GroupKind::cp),
               exchange == 1 ? 0 : sent * head() * (forwards() + backwards()));
        // Keys and values go on c - 1 times forward, and backward again with their gradients (Liu
        // 2023). Behind an all-to-all a rank has 1 / e of the heads for e times the tokens.
        const int ring = z_.s.cp == 1 || gathers ? 1 : z_.s.cp / exchange;
        const double block = 2 * head() * exchange * std::max(1.0, z_.kv_heads() / exchange);
        expect(
            moved(stage, CollectiveKind::send_receive, hybrid ? GroupKind::cp_ring : GroupKind::cp),
            (ring - 1) * block * (forwards() + 2 * backwards()));
    }

    // Dispatch and combine, each forward and backward, k copies of each token of the rank.
    void expert_parallel(int stage) const
    {
        const Volume sum = volume(plan_, stage, CollectiveKind::all_to_all, GroupKind::ep);
        const bool exchanges = z_.model.moe && z_.s.ep > 1;
        const double times = exchanges ? 4 * micro_batch_layers() + 2 * repeated() : 0;
        CHECK(sum.count == std::lround(times));
        if (exchanges && z_.s.tp == 1 && partition_of(job_).ep_nodes == 1)
            expect(sum.bytes, times * z_.tensor() * z_.model.moe->experts_per_token);
    }

    // Ranks with tokens of their own gather them for experts cut over them, and scatter the sums;
    // else they sum what each made of the same tokens. Shared experts may have done so already.
    void expert_tensor_parallel(int stage) const
    {
        const bool shared =
            z_.model.moe && z_.model.moe->shared_expert_ffn > 0 && z_.s.etp == z_.s.tp;
        const double ranks = z_.model.moe && z_.s.etp > 1 && !shared ? z_.s.etp : 0;
        const bool own = *z_.s.sequence_parallel || z_.s.tp == 1;
        const double passes = forwards() + backwards();
        const double gathered = own ? z_.tensor() / z_.s.tp * ranks * passes : 0;
        expect(moved(stage, all_gather, GroupKind::etp), gathered);
        expect(moved(stage, reduce_scatter, GroupKind::etp), gathered);
        expect(moved(stage, all_reduce, GroupKind::etp),
               own || ranks == 0 ? 0 : z_.tensor() * passes);
    }

    // However experts are cut and spread, together they do three products (gate, up, down) of 2 h f
    // for every token and choice; backward does each twice. Tensor-parallel ranks with the same
    // tokens have them worked on several times where experts are cut less than the rest.
    void expert_operations(int stage) const
    {
        double sum = 0;
        for_each_op(plan_.program, plan_.program.roles[static_cast<std::size_t>(stage)],
                    [&](const Block&, const Op& op, const BlockUse&) {
                        if (op.kind == OpKind::compute)
                            sum += expert_products(plan_.compute[op.cost.value].kernels);
                    });
        const double once = z_.model.moe
                                ? 6 * z_.h * static_cast<double>(z_.model.moe->expert_ffn) *
                                      z_.model.moe->experts_per_token * z_.tokens / z_.s.tp
                                : 0;
        const bool own = *z_.s.sequence_parallel || z_.s.tp == 1;
        const double times = own ? 1.0 : 1.0 * z_.s.tp / z_.s.etp;
        expect(sum, times * once * (forwards() + 2 * backwards()));
    }
    static double expert_products(const WorkList& kernels)
    {
        double sum = 0;
        for (const WorkItem& item : kernels)
            if (const auto* kernel = std::get_if<Kernel>(&item); kernel != nullptr &&
                                                                 kernel->kind == KernelKind::gemm &&
                                                                 kernel->use == KernelUse::expert)
                sum += hardware_flops(*kernel).value();
        return sum;
    }

    // Summed over the devices that hold a copy; with ZeRO-3 each sums its shard.
    void tied_embedding(int stage) const
    {
        const bool apart = z_.s.pp > 1 && z_.has_front(stage) != z_.has_end(stage);
        const double held = z_.table / (z_.s.zero == 3 ? z_.replicas : 1);
        expect(moved(stage, all_reduce, GroupKind::embedding),
               z_.model.tied_embeddings && apart ? z_.gradient * held : 0);
    }

    // Two devices of opposite pipelines have the same layers, and add up the gradients that each
    // updates.
    void twins(int stage) const
    {
        const double held =
            (z_.layers_dense() + z_.ends(stage)) / (z_.s.zero > 0 ? z_.replicas : 1) +
            z_.layers_experts() / (z_.s.zero > 0 ? z_.expert_replicas : 1);
        expect(moved(stage, all_reduce, GroupKind::twin),
               z_.pipelines() == 2 ? z_.gradient * held : 0);
    }

    // Shoeybi 2019: two all-reduces forward, two backward; embedding forward and logits backward
    // one each. Korthikanti 2022: each a gather and a scatter, and one more gather backward for
    // each product that is cut by columns unless its input was kept gathered. The loss combines
    // three numbers of 4 bytes for each token.
    void tensor_parallel() const
    {
        if (z_.model.moe)
            return;
        double reduced = 0, gathered = 0, scattered = 0;
        for (int stage = 0; stage < z_.s.pp; ++stage) {
            reduced += moved(stage, all_reduce, GroupKind::tp);
            gathered += moved(stage, all_gather, GroupKind::tp);
            scattered += moved(stage, reduce_scatter, GroupKind::tp);
        }
        const double cut = z_.s.tp > 1 ? 1 : 0;
        const double sequence = *z_.s.sequence_parallel ? 1 : 0;
        const double anew = job_.software.kernels.keeps_gathered_inputs ? 0 : 1;
        const double m = z_.micro_batches;
        const double layers = z_.s.pp * micro_batch_layers();
        const double again = z_.s.pp * repeated();
        const double messages = z_.s.vpp > 1 ? 2 * m * boundaries() : 0;
        expect(gathered,
               cut * z_.tensor() *
                   (sequence * (4 * layers + 2 * again + 2 * m + anew * (2 * layers + m)) +
                    (1 - sequence) * messages));
        expect(scattered, sequence * z_.tensor() * (4 * layers + 2 * again + 2 * m));
        expect(reduced, cut * (3 * 4 * z_.tokens * m +
                               (1 - sequence) * z_.tensor() * (4 * layers + 2 * again + 2 * m)));
    }

    // Where a pipeline turns on its last device nothing is sent.
    double boundaries() const { return z_.s.pp * z_.s.vpp - 1 - (z_.returns() ? 1 : 0); }

    // A boundary tensor over each of p v - 1 boundaries, each way; a TP rank's part where it is cut
    // along the sequence, or where interleaved passes scatter it.
    void pipeline() const
    {
        double sent = 0;
        for (const Role& role : plan_.program.roles)
            for_each_op(
                plan_.program, role, [&](const Block& block, const Op& op, const BlockUse&) {
                    for (std::size_t p = 0; p < op.part_count; ++p) {
                        const ExchangePart& part = block.parts[op.part_first + p];
                        if (part.direction == Direction::send)
                            sent +=
                                static_cast<double>(plan_.transfers[part.cost.value].bytes.value());
                    }
                });
        const bool cut = *z_.s.sequence_parallel || z_.s.vpp > 1;
        expect(sent, z_.s.pp == 1
                         ? 0
                         : 2 * z_.micro_batches * boundaries() * z_.tensor() / (cut ? z_.s.tp : 1));
    }

    static void expect(double bytes, double closed_form)
    {
        CHECK(bytes == Approx(closed_form).epsilon(1e-6).margin(64));
    }

    const Job& job_;
    const Plan& plan_;
    Sizes z_;
};

} // namespace

void check_traffic(const Draws& draws)
{
    each_job(draws, random_plain_request, [](const JobRequest&, const Job& job) {
        const Plan plan = make_plan(job);
        TrafficCheck(job, plan).all();
    });
}

} // namespace trainyard::testing
