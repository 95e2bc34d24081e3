#include "sim/study/record_software.h"

#include "sim/study/record_words.h"

#include <fmt/format.h>

namespace trainyard {

namespace {

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The number of `count` digits at `at`, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count)
{
    if (at + count > text.size())
        return -1;
    int value = 0;
    for (const char c : text.substr(at, count)) {
        if (!is_digit(c))
            return -1;
        value = 10 * value + (c - '0');
    }
    return value;
}

int year_at(std::string_view text, std::size_t at)
{
    if (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '.'))
        return 0;
    const auto ends = [&](std::size_t end) { return end >= text.size() || !is_digit(text[end]); };
    const int year = digits(text, at, 4);
    if (year >= 2010 && year < 2100 && ends(at + 4))
        return year;
    const int release = digits(text, at, 2);
    const int month = digits(text, at + 3, 2);
    const bool dotted = at + 2 < text.size() && text[at + 2] == '.';
    if (release > 20 && dotted && month >= 1 && month <= 12 && ends(at + 5))
        return 2000 + release;
    return 0;
}

int year_of(const MeasuredRecord& record)
{
    const RecordSource& source = record.source;
    return year_in(fmt::format("{} | {} | {} | {}", source.date, source.release, source.table,
                               record.framework));
}

// The last year in which frameworks on Megatron-LM's code still ran it as published: Megatron-Core
// and Transformer Engine came in 2023, on Hopper first.
int last_old_megatron_year(const MeasuredRecord& record)
{
    return mentions(record.hardware.gpu + record.hardware.gpu_family, {"a100", "v100"}) ? 2023
                                                                                        : 2022;
}

FrameworkFamily family_of(const MeasuredRecord& record, int year)
{
    const std::string& framework = record.framework;
    if (mentions(framework, {"bridge", "transformer engine"}))
        return FrameworkFamily::megatron_2025;
    if (mentions(framework, {"nemo", "megatron-core", "megatron core", "mcore"}))
        return FrameworkFamily::megatron_2024;
    if (mentions(framework, {"megatron", "deepspeed", "colossal", "alpa", "nanotron", "primus"})) {
        if (year <= last_old_megatron_year(record))
            return FrameworkFamily::megatron_2021;
        return year < 2025 ? FrameworkFamily::megatron_2024 : FrameworkFamily::megatron_2025;
    }
    if (mentions(framework, {"jax", "pax", "maxtext", "xla"}))
        return FrameworkFamily::jax;
    const std::optional<bool> compiled = record.overlap.torch_compile;
    if (mentions(framework, {"ddp"}) && !mentions(framework, {"fsdp"}))
        return FrameworkFamily::torch_ddp;
    return compiled.value_or(mentions(framework, {"titan", "compile"}))
               ? FrameworkFamily::torch_fsdp_compiled
               : FrameworkFamily::torch_fsdp;
}

bool is_known(std::string_view framework)
{
    return mentions(framework, {"bridge",   "transformer engine",
                                "nemo",     "megatron",
                                "mcore",    "deepspeed",
                                "colossal", "alpa",
                                "nanotron", "primus",
                                "jax",      "pax",
                                "maxtext",  "xla",
                                "ddp",      "fsdp",
                                "titan",    "compile",
                                "composer", "foundry"});
}

std::string_view class_name(FrameworkFamily family)
{
    switch (family) {
    case FrameworkFamily::megatron_2021:
        return "megatron-2021";
    case FrameworkFamily::megatron_2024:
        return "mcore-2024";
    case FrameworkFamily::megatron_2025:
        return "mcore-2025";
    case FrameworkFamily::jax:
        return "jax-xla";
    case FrameworkFamily::torch_fsdp_compiled:
        return "torch-compile-fsdp";
    case FrameworkFamily::torch_fsdp:
        return "fsdp-eager";
    case FrameworkFamily::torch_ddp:
        return "ddp-eager";
    }
    return {};
}

std::string all_remarks(const MeasuredRecord& record)
{
    return fmt::format("{} {}", fmt::join(record.flags, " "), record.notes);
}

std::optional<AttentionKernel> attention_of(const MeasuredRecord& record, FrameworkFamily family,
                                            int year)
{
    const std::string remarks = all_remarks(record);
    if (mentions(remarks, {"no flash attention"}) || record.model.architecture == "encoder")
        return AttentionKernel::unfused;
    switch (family) {
    case FrameworkFamily::megatron_2021:
        return AttentionKernel::unfused;
    case FrameworkFamily::torch_fsdp:
    case FrameworkFamily::torch_fsdp_compiled:
        if (mentions(remarks, {"alibi", "triton"}))
            return AttentionKernel::triton;
        return year < 2025 ? AttentionKernel::sdpa : AttentionKernel::sdpa_cudnn;
    case FrameworkFamily::megatron_2024:
    case FrameworkFamily::megatron_2025:
    case FrameworkFamily::jax:
        return AttentionKernel::cudnn;
    case FrameworkFamily::torch_ddp:
        return AttentionKernel::sdpa;
    }
    return std::nullopt;
}

} // namespace

int year_in(std::string_view text)
{
    int earliest = 0;
    for (std::size_t at = 0; at < text.size(); ++at)
        if (const int year = year_at(text, at); year > 0 && (earliest == 0 || year < earliest))
            earliest = year;
    return earliest;
}

RecordSoftware software_of(const MeasuredRecord& record)
{
    constexpr int undated = 2024;
    RecordSoftware out;
    out.year = year_of(record);
    if (out.year == 0) {
        out.year = undated;
        out.assumptions.push_back(fmt::format("no date: software of {}", undated));
    }
    out.family = family_of(record, out.year);
    if (!is_known(record.framework))
        out.assumptions.push_back(
            record.framework.empty()
                ? "framework not stated: as eager PyTorch FSDP"
                : fmt::format("unknown framework \"{}\": as eager PyTorch FSDP", record.framework));
    out.choice.framework = class_name(out.family);
    out.choice.attention = attention_of(record, out.family, out.year);
    if (out.choice.attention)
        out.assumptions.push_back(
            fmt::format("attention not stated: {}", to_name(*out.choice.attention)));
    return out;
}

} // namespace trainyard
