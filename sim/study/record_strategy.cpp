#include "sim/study/record_strategy.h"

#include "sim/study/record_fine_tuning.h"
#include "sim/study/record_machine.h"
#include "sim/study/record_schedule.h"
#include "sim/study/record_words.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace trainyard {

namespace {

// Builds a RecordStrategy member by member.
class Strategist {
public:
    Strategist(const MeasuredRecord& record, const RecordSoftware& software,
               const Transformer* model)
        : record_(record), said_(record.parallel), software_(software), model_(model)
    {}

    // Why the record cannot be simulated; empty when it can.
    std::string build()
    {
        if (std::string why = sizes(); !why.empty())
            return why;
        if (std::string why = precision(); !why.empty())
            return why;
        batches();
        padding();
        fine_tuning();
        virtual_stages();
        schedule();
        stages();
        sharding();
        experts();
        sequence_parallel();
        overlap();
        gradients();
        recompute();
        return {};
    }

    RecordStrategy take() { return std::move(out_); }

private:
    void assume(std::string text) { out_.assumptions.push_back(std::move(text)); }

    std::string sizes()
    {
        Strategy& strategy = out_.strategy;
        strategy.tp = std::max(1, said_.tp.value_or(1));
        strategy.pp = std::max(1, said_.pp.value_or(1));
        strategy.cp = std::max(1, said_.cp.value_or(1));
        const int gpus = record_.gpus.value_or(0);
        const double replica = 1.0 * strategy.tp * strategy.pp * strategy.cp;
        if (gpus < 1 || replica > gpus || gpus % static_cast<int>(replica) != 0)
            return fmt::format("tp x pp x cp = {} x {} x {} does not divide {} GPUs", strategy.tp,
                               strategy.pp, strategy.cp, gpus);
        strategy.dp = gpus / static_cast<int>(replica);
        if (said_.dp && *said_.dp != *strategy.dp)
            return fmt::format("dp {} contradicts {} GPUs over tp x pp x cp = {} x {} x {}",
                               *said_.dp, gpus, strategy.tp, strategy.pp, strategy.cp);
        if (said_.cp_comm == "a2a" && strategy.cp > 1)
            strategy.context.kind = ContextKind::ulysses;
        return {};
    }

    std::string precision()
    {
        Training& training = out_.training;
        const std::string& name = record_.precision;
        if (mentions(name, {"nvfp4"}))
            training.precision = Precision::nvfp4;
        else if (mentions(name, {"mxfp8"}))
            training.precision = block_scaled();
        else if (mentions(name, {"fp8"}))
            training.precision = Precision::fp8;
        else if (mentions(name, {"tf32"}))
            training.precision = Precision::tf32;
        else if (mentions(name, {"fp32"}))
            training.precision = Precision::fp32;
        else if (mentions(name, {"fp16"}))
            training.precision = Precision::fp16;
        else if (mentions(name, {"bf16"}))
            training.precision = Precision::bf16;
        else
            return name.empty() ? "precision not stated"
                                : fmt::format("number format {} is not modelled", name);
        return {};
    }

    // Where tensor cores do not apply the scales of small blocks themselves, recipes of one name
    // take blocks of 128.
    Precision block_scaled() const
    {
        const KnownDevice* const known = device_of(record_);
        const bool scales = known == nullptr || known->device.peak.mxfp8.value() > 0;
        return scales ? Precision::mxfp8 : Precision::fp8_block;
    }

    void batches()
    {
        Training& training = out_.training;
        const int dp = *out_.strategy.dp;
        const std::int64_t batch = *record_.global_batch;
        training.sequence_length = record_.sequence_length.value_or(training.sequence_length);
        training.micro_batch = record_.micro_batch.value_or(0);
        if (training.micro_batch == 0) {
            training.micro_batch = usual_micro_batch(batch, dp);
            assume(fmt::format("micro-batch not stated: {}", training.micro_batch));
        }
        const double passes =
            static_cast<double>(batch) / static_cast<double>(training.micro_batch * dp);
        const std::int64_t count = std::max<std::int64_t>(1, std::llround(passes));
        training.global_batch = count * training.micro_batch * dp;
        if (training.global_batch != batch)
            assume(fmt::format("a batch of {}, which {} micro-batches of {} on {} replicas make, "
                               "for {}",
                               training.global_batch, count, training.micro_batch, dp, batch));
    }

    // Half the tokens of BERT's 512-token Wikipedia sequences are padding (Krell 2021). NVIDIA's
    // PyTorch loaders (LDDL, from 2021 on) sort such sequences into bins of 64 tokens and pad to
    // the longest of a batch: half the stated length and half a bin on average. 128-token sequences
    // are nearly full and are padded to the end.
    void padding()
    {
        constexpr std::int64_t bin = 64;
        constexpr std::int64_t shortest_sparse = 384;
        std::int64_t& length = out_.training.sequence_length;
        const bool binned = model_ != nullptr && !model_->causal && record_.task == "pretrain" &&
                            software_.family == FrameworkFamily::torch_ddp &&
                            software_.year >= 2021 && length >= shortest_sparse;
        if (!binned)
            return;
        length = length / 2 + bin / 2;
        assume(fmt::format("sequences padded to bins of {} tokens: {} on average", bin, length));
    }

    void fine_tuning()
    {
        out_.training.lora = adapters_of(record_, software_, out_.assumptions);
        out_.training.packing =
            packing_of(record_, software_, out_.training.sequence_length, out_.assumptions);
    }

    // torch.distributed's pipelines make as many micro-batches as stages unless told otherwise;
    // lists of layers are trained without accumulation.
    std::int64_t usual_micro_batch(std::int64_t batch, int dp) const
    {
        const int pp = out_.strategy.pp;
        if (model_ == nullptr)
            return std::max<std::int64_t>(1, batch / dp);
        if (is_torch_fsdp(software_.family) && pp > 1)
            return std::max<std::int64_t>(1, batch / (std::int64_t{dp} * pp));
        return 1;
    }

    void virtual_stages()
    {
        Strategy& strategy = out_.strategy;
        if (strategy.pp == 1 || model_ == nullptr)
            return;
        strategy.vpp = std::max(1, said_.vpp.value_or(1));
        if (said_.vpp)
            return;
        const bool interleaved =
            mentions(record_.overlap.pp_schedule + said_.schedule, {"interleaved"});
        const int many = stages_in_other_releases();
        if (interleaved || many > 1) {
            strategy.vpp = interleaved ? 2 : many;
            assume(fmt::format("virtual stages not stated: {}", strategy.vpp));
        }
    }

    // "virtual pipeline published as NA here, 12 in the other releases" -> 12, where it divides.
    int stages_in_other_releases() const
    {
        constexpr std::string_view before = "virtual pipeline published as na here, ";
        for (const std::string& flag : record_.flags) {
            const std::string text = lower_case(flag);
            const std::size_t at = text.find(before);
            if (at == std::string::npos)
                continue;
            const int stages = std::atoi(text.c_str() + at + before.size());
            const std::int64_t all = std::int64_t{stages} * out_.strategy.pp;
            if (stages > 1 && model_->layers % all == 0)
                return stages;
        }
        return 1;
    }

    void schedule()
    {
        Strategy& strategy = out_.strategy;
        const std::string said = said_.schedule + record_.overlap.pp_schedule;
        const std::int64_t count =
            out_.training.global_batch / (out_.training.micro_batch * *strategy.dp);
        if (const PipelineSchedule* named = schedule_named_in(said)) {
            if (named->refusal({strategy.pp, strategy.vpp, static_cast<int>(count)}).empty()) {
                strategy.schedule = named->name();
                return;
            }
            assume(fmt::format("schedule {}: as 1F1B, since it does not run {} stages of {} with "
                               "{} micro-batches",
                               said, strategy.pp, strategy.vpp, count));
        }
        if (strategy.vpp > 1 && count % strategy.pp != 0) {
            assume(fmt::format("virtual stages {}: 1, since {} micro-batches are no multiple of {} "
                               "stages",
                               strategy.vpp, count, strategy.pp));
            strategy.vpp = 1;
        }
    }

    void stages()
    {
        if (model_ == nullptr)
            return;
        Strategy& strategy = out_.strategy;
        const int count = strategy.pp * strategy.vpp;
        strategy.stage_layers = uneven_stage_layers(model_->layers, count);
        out_.layers_per_device = model_->layers / strategy.pp;
        if (strategy.stage_layers.empty())
            return;
        assume(fmt::format("layers of the {} stages: {}", count,
                           fmt::join(strategy.stage_layers, ", ")));
        std::vector<int> held(static_cast<std::size_t>(strategy.pp));
        for (std::size_t i = 0; i < strategy.stage_layers.size(); ++i)
            held[i % held.size()] += strategy.stage_layers[i];
        out_.layers_per_device = *std::max_element(held.begin(), held.end());
    }

    void sharding()
    {
        Strategy& strategy = out_.strategy;
        strategy.zero = said_.zero_stage.value_or(0);
        if (strategy.zero == 2 && is_torch_fsdp(software_.family)) {
            // FSDP's SHARD_GRAD_OP: parameters stay whole from forward to backward.
            strategy.zero = 3;
            strategy.reshard_after_forward = false;
        }
        const int ranks = *strategy.dp * strategy.cp;
        const int group = said_.shard_group.value_or(ranks);
        if (strategy.zero == 3 && group > 0 && group < ranks && ranks % group == 0)
            strategy.shard_group = group;
    }

    void experts()
    {
        if (model_ == nullptr || !model_->moe)
            return;
        Strategy& strategy = out_.strategy;
        strategy.ep = std::max(1, said_.ep.value_or(1));
        strategy.etp = said_.etp.value_or(
            software_.family == FrameworkFamily::megatron_2024 ? strategy.tp : 1);
        if (!said_.etp && strategy.tp > 1)
            assume(fmt::format("tensor parallelism of experts not stated: {}", strategy.etp));
        strategy.experts.dispatcher = dispatcher();
        constexpr double mean = 1.0; // NeMo's recipes pad experts to it
        if (mentions(fmt::format("{}", fmt::join(record_.flags, " ")), {"token-drop"}))
            strategy.experts.capacity_factor = mean;
    }

    std::optional<Dispatcher> dispatcher()
    {
        const std::string& name = record_.recipe.moe_dispatcher;
        for (const EnumName<Dispatcher>& known : enum_names<Dispatcher>())
            if (known.name == name)
                return known.value;
        if (!name.empty())
            assume(fmt::format("dispatcher {}: as the framework's own", name));
        return std::nullopt;
    }

    // With Megatron-LM 2022 sequence parallelism came together with selective recompute
    // (Korthikanti 2022); DTensor's tensor parallelism is sequence-parallel from the start.
    void sequence_parallel()
    {
        Strategy& strategy = out_.strategy;
        if (strategy.tp == 1) {
            strategy.sequence_parallel = false;
            return;
        }
        const bool habit = is_megatron_core(software_.family) || is_torch_fsdp(software_.family) ||
                           (software_.family == FrameworkFamily::megatron_2021 && selective());
        if (!said_.sequence_parallel)
            assume(fmt::format("sequence parallelism not stated: {}", habit ? "on" : "off"));
        const bool divides =
            out_.training.sequence_length % (std::int64_t{strategy.cp} * strategy.tp) == 0;
        strategy.sequence_parallel = said_.sequence_parallel.value_or(habit) && divides;
    }

    // Left open where the record is silent: the software class knows its habit.
    void overlap()
    {
        const RecordOverlap& said = record_.overlap;
        Overlap& overlap = out_.strategy.overlap;
        overlap.dp = said.dp;
        overlap.tp = said.tp;
        overlap.pp = said.pp;
        const auto note = [&](bool matters, const std::optional<bool>& value,
                              std::string_view what) {
            if (matters && !value)
                assume(fmt::format("overlap of {} not stated: as the framework does", what));
        };
        const Strategy& strategy = out_.strategy;
        overlap.ep = record_.recipe.expert_overlap.value_or(false) && strategy.ep > 1 &&
                     strategy.zero != 3 && (strategy.pp == 1 || strategy.vpp > 1);
        note(*out_.strategy.dp * out_.strategy.cp > 1, said.dp, "DP");
        note(out_.strategy.tp > 1, said.tp, "TP");
        note(out_.strategy.pp > 1, said.pp, "PP");
    }

    void gradients()
    {
        if (!record_.gradient_type.empty())
            out_.training.fp32_gradients = mentions(record_.gradient_type, {"fp32", "float32"});
        // PyTorch's own FSDP recipes (policy bfSixteen) reduce in 16 bit, unlike Composer's.
        else if (out_.strategy.zero == 3 && mentions(record_.framework, {"pytorch fsdp1"})) {
            out_.strategy.fsdp.reduce_dtype = Precision::bf16;
            assume("gradients reduced in bf16, as PyTorch's FSDP recipes do");
        }
    }

    bool selective() const
    {
        return record_.recompute && mentions(*record_.recompute, {"selective"});
    }

    void recompute()
    {
        if (model_ == nullptr)
            return;
        Training& training = out_.training;
        if (!record_.recompute) {
            silent_recompute();
            return;
        }
        if (mentions(*record_.recompute, {"full"}))
            training.recompute = Recompute::full;
        else if (selective() && mentions(record_.framework, {"titan"})) {
            training.recompute = Recompute::selective;
            training.recompute_modules = {RecomputeModule::per_op};
            assume("selective recompute: by op, as torchtitan's configurations");
        } else if (selective() && is_torch_fsdp(software_.family)) {
            // One block in two.
            training.recompute = Recompute::full;
            training.recompute_layers = (out_.layers_per_device + 1) / 2;
            assume("selective recompute: as half of the layers");
        } else if (selective())
            training.recompute = Recompute::selective;
    }

    void silent_recompute()
    {
        const RecordRecipe& recipe = record_.recipe;
        if (recipe.recompute_layers > 0) {
            out_.training.recompute = Recompute::full;
            out_.training.recompute_layers =
                std::min(*recipe.recompute_layers, out_.layers_per_device);
            return;
        }
        for (const std::string& name : recipe.recompute_modules)
            if (const auto module = from_name<RecomputeModule>(name)) {
                out_.training.recompute = Recompute::selective;
                out_.training.recompute_modules.push_back(*module);
            }
        if (recipe.activation_offload_layers > 0) {
            const int layers = std::min(*recipe.activation_offload_layers, out_.layers_per_device);
            out_.strategy.offload.activation_layers = layers;
            assume(fmt::format("activations of {} of {} layers wait on the host, as the recipe "
                               "says: none recomputed whole",
                               layers, out_.layers_per_device));
            return;
        }
        if (!out_.training.recompute_modules.empty())
            return;
        const bool pax_fsdp = software_.family == FrameworkFamily::jax &&
                              mentions(record_.framework, {"pax"}) && out_.strategy.zero == 3 &&
                              record_.task == "pretrain";
        if (software_.family == FrameworkFamily::megatron_2021 || pax_fsdp) {
            out_.training.recompute = Recompute::full;
            assume("recompute not stated: full");
            return;
        }
        out_.recompute_to_fit = true;
        // Checkpoint policies of XLA name the tensors to keep: products, mostly.
        out_.recompute_parts = software_.family == FrameworkFamily::jax;
    }

    const MeasuredRecord& record_;
    const RecordParallel& said_;
    const RecordSoftware& software_;
    const Transformer* model_;
    RecordStrategy out_;
};

} // namespace

std::vector<int> uneven_stage_layers(int layers, int stages)
{
    if (layers % stages == 0)
        return {};
    std::vector<int> out(static_cast<std::size_t>(stages), (layers + 2) / stages);
    if ((layers + 2) % stages == 0) {
        --out.front();
        --out.back();
        return out;
    }
    if ((layers + 1) % stages == 0) {
        std::fill(out.begin(), out.end(), (layers + 1) / stages);
        --out.back();
        return out;
    }
    std::fill(out.begin(), out.end(), layers / stages);
    const int left = layers % stages;
    const int first = stages > 2 ? 1 : 0;
    for (int i = 0; i < left; ++i)
        ++out[static_cast<std::size_t>((first + i) % stages)];
    return out;
}

tl::expected<RecordStrategy, std::string>
strategy_of(const MeasuredRecord& record, const RecordSoftware& software, const Transformer* model)
{
    Strategist strategist(record, software, model);
    if (std::string why = strategist.build(); !why.empty())
        return tl::unexpected(why);
    return strategist.take();
}

} // namespace trainyard
