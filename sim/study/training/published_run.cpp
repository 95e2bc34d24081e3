#include "sim/study/training/published_run.h"

#include "sim/study/record_software.h"
#include "sim/study/record_words.h"
#include "sim/study/stated_step_time.h"
#include "sim/study/training/stated_figures.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

// "4 M" tokens are 4 x 1,024^2, and so on: batches are powers of two more often than of ten.
constexpr double decimal_for_binary = 0.08;

constexpr double most_sequences = 1e12; // of a step: more is no batch

// What a run has beside a record of one step.
struct RunExtras {
    std::optional<double> layout_dp, active_parameters, batch_tokens;
    std::optional<std::int64_t> experts;
    std::string zero, stage;
    bool alibi = false;
};

void take_architecture(MemberTaker from, RecordModel& to, RunExtras& extras)
{
    from.take("layers", to.layers)
        .take("hidden", to.hidden)
        .take("heads", to.heads)
        .take("kv_heads", to.kv_heads)
        .take("ffn", to.ffn)
        .take("vocab", to.vocabulary)
        .take("gated_mlp", to.gated_mlp)
        .take("attention", to.attention)
        .take("experts", to.experts)
        .take("topk", to.experts_per_token)
        .take("expert_ffn", to.expert_ffn)
        .take("alibi", extras.alibi);
}

void take_config(MemberTaker from, MeasuredRecord& to, RunExtras& extras)
{
    from.take("tp", to.parallel.tp)
        .take("pp", to.parallel.pp)
        .take("vpp", to.parallel.vpp)
        .take("cp", to.parallel.cp)
        .take("ep", to.parallel.ep)
        .take("zero", extras.zero)
        .take("seq_len", to.sequence_length)
        .take("global_batch_sequences", to.global_batch)
        .take("global_batch_tokens", extras.batch_tokens)
        .take("micro_batch", to.micro_batch)
        .take("precision", to.precision)
        .take("recompute", to.recompute)
        .take("framework", to.framework)
        .take("network", to.hardware.network);
}

void take_rates(MemberTaker from, StatedRates& to)
{
    StatedStepTime step_time;
    step_time.take(from);
    to.step_time = step_time.seconds();
    from.take("tokens_per_s_per_gpu", to.tokens_rate)
        .take("mfu", to.mfu)
        .take("mfu_range", to.mfu_range)
        .take("hfu", to.hfu)
        .take("tflops_per_gpu", to.tflops)
        .take("tflops_per_gpu_hfu", to.hardware_tflops)
        .take("wall_days", to.wall_days)
        .take("effective_training_time", to.goodput)
        .take("availability", to.goodput)
        .take("goodput", to.goodput);
}

// "zero-3 (SMP sharded over 128)" -> 128.
std::optional<int> group_named_in(const std::string& text)
{
    constexpr std::string_view before = "sharded over ";
    const std::size_t at = text.find(before);
    const int ranks = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + before.size());
    return ranks > 0 ? std::optional(ranks) : std::nullopt;
}

void set_sharding(PublishedRun& run, const std::string& zero)
{
    RecordParallel& parallel = run.record.parallel;
    if (mentions(zero, {"fsdp", "hsdp", "zero-3"})) {
        // Beside a pipeline gathered parameters are kept between the micro-batches (Llama 3,
        // section 3.3.2; torchtitan's default).
        const bool pipeline = parallel.pp.value_or(1) > 1;
        parallel.zero_stage = pipeline ? 2 : 3;
        parallel.shard_group = group_named_in(zero);
        if (run.record.framework.find("sdp") == std::string::npos && !mentions(zero, {"zero"}))
            run.record.framework += " (FSDP)";
        if (mentions(zero, {"hsdp"}))
            run.assumptions.push_back("groups of HSDP not stated: all ranks shard together");
    } else if (mentions(zero, {"zero-2"}))
        parallel.zero_stage = 2;
    else if (mentions(zero, {"zero-1"}))
        parallel.zero_stage = 1;
}

// Code bases of their own grew out of Megatron-LM's where they have its kinds of parallelism:
// GPT-NeoX, metaseq, Gigatron.
void set_framework(PublishedRun& run)
{
    std::string& framework = run.record.framework;
    const RecordParallel& parallel = run.record.parallel;
    if (parallel.zero_stage.value_or(0) >= 2)
        return; // sharded as PyTorch does
    const bool of_its_kind = parallel.tp.value_or(1) > 1 && parallel.pp.value_or(1) > 1;
    const bool descends = mentions(framework, {"neox", "metaseq", "gigatron"});
    if (mentions(framework, {"megatron", "nemo"}) || !(of_its_kind || descends))
        return;
    run.assumptions.push_back(fmt::format("framework {}: as Megatron-LM of its time",
                                          framework.empty() ? "not stated" : framework));
    framework = "Megatron-LM";
}

// PyTorch has had fused attention since March 2023 (2.0), a year after FlashAttention.
void set_attention(PublishedRun& run)
{
    constexpr int first_fused_year = 2023;
    const int year = year_in(run.record.source.date);
    if (year > 0 && year < first_fused_year)
        run.record.notes += " no flash attention";
}

void set_model(PublishedRun& run, const RunExtras& extras)
{
    RecordModel& model = run.record.model;
    const MeasuredRecord& record = run.record;
    const auto flagged = [&](std::string_view word) {
        return std::ranges::find(record.flags, word) != record.flags.end();
    };
    if (flagged("not_llm") || !model.hidden)
        return;
    model.architecture = flagged("encoder")                ? "encoder"
                         : model.experts || flagged("moe") ? "moe-decoder"
                                                           : "dense-decoder";
    if (extras.alibi)
        run.record.notes += " ALiBi";
}

void set_batch(PublishedRun& run, const RunExtras& extras)
{
    MeasuredRecord& record = run.record;
    const double length = static_cast<double>(record.sequence_length.value_or(0));
    if (record.global_batch || !extras.batch_tokens || length < 1)
        return;
    const double sequences = *extras.batch_tokens / length;
    if (sequences > most_sequences)
        return;
    const double binary = std::exp2(std::round(std::log2(sequences)));
    const bool rounded = sequences != std::floor(sequences);
    const bool meant = rounded && std::abs(binary / sequences - 1) < decimal_for_binary;
    record.global_batch = std::llround(meant ? binary : sequences);
    if (meant)
        run.assumptions.push_back(
            fmt::format("a batch of {} sequences, a power of two, for {} tokens", binary,
                        *extras.batch_tokens));
}

PublishedRun take_run(const Reader& reader)
{
    PublishedRun run;
    RunExtras extras;
    StatedRates rates;
    MeasuredRecord& record = run.record;
    record.line = reader.node().line();
    std::optional<double> total;
    MemberTaker(reader)
        .take("id", record.id)
        .take("model", record.model.name)
        .take("organisation", record.source.key)
        .take("date", record.source.date)
        .take("gpu", record.hardware.gpu)
        .take("n_gpus", record.gpus)
        .take("days", rates.days)
        .take("gpu_hours", rates.gpu_hours)
        .take("tokens", run.tokens)
        .take("params_total", total)
        .take("params_active", extras.active_parameters)
        .take("quality", record.quality)
        .take("flags", record.flags)
        .take("notes", record.notes)
        .inside("architecture", [&](MemberTaker t) { take_architecture(t, record.model, extras); })
        .inside("config", [&](MemberTaker t) { take_config(t, record, extras); })
        .inside("measured", [&](MemberTaker t) { take_rates(t, rates); });
    record.task = "pretrain";
    record.model.parameters = total;
    run.parameters = total.value_or(0);
    rates.parameters = extras.active_parameters.value_or(run.parameters);
    set_batch(run, extras);
    set_model(run, extras);
    set_sharding(run, extras.zero);
    set_framework(run);
    set_attention(run);
    set_stated_figures(run, rates);
    return run;
}

} // namespace

double PublishedRun::batch_tokens() const
{
    return static_cast<double>(record.global_batch.value_or(0)) *
           static_cast<double>(record.sequence_length.value_or(0));
}

bool holds_published_runs(const Json& json)
{
    const Json* const schema = json.find("schema");
    const Json* const format = schema != nullptr ? schema->find("format") : nullptr;
    return format != nullptr && format->is_string() && format->as_string() == published_runs_format;
}

Checked<PublishedRunFile> published_runs_from(const Json& json, const std::string& file)
{
    Problems problems;
    const Reader root(json, file, problems);
    const Json* const list = json.find("runs");
    if (list == nullptr || !list->is_array()) {
        root.error("this file of published trainings has no list \"runs\"");
        return tl::unexpected(problems);
    }
    PublishedRunFile out;
    out.file = file;
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        Problems found;
        const Reader entry = Reader(json, file, found).member("runs").element(i);
        if (!entry.node().is_object())
            entry.error("this is no training");
        PublishedRun run = found.empty() ? take_run(entry) : PublishedRun{};
        run.record.file = file;
        if (run.record.id.empty())
            run.record.id = fmt::format("#{}", i);
        if (found.empty())
            out.runs.push_back(std::move(run));
        else
            out.unreadable.push_back({run.record.id, std::move(found)});
    }
    return out;
}

} // namespace trainyard
