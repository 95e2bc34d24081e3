#include "sim/study/record_software.h"

#include "sim/cost/profile_library.h"
#include "sim/cost/software_choice.h"
#include "sim/study/graph_scopes.h"
#include "sim/study/record_machine.h"
#include "sim/study/record_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

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

// The year of the code that ran. Before Hopper frameworks on Megatron-LM's code still ran it as
// published in 2023: Megatron-Core and Transformer Engine came that year, on Hopper first.
int year_of_code(const MeasuredRecord& record, int year)
{
    constexpr int hopper = 90;
    const KnownDevice* const known = device_of(record);
    const int capability = known != nullptr ? known->device.compute_capability : 0;
    return year == 2023 && capability > 0 && capability < hopper ? 2022 : year;
}

constexpr std::array<std::pair<std::string_view, FrameworkFamily>, 7> families{
    {{"megatron-2021", FrameworkFamily::megatron_2021},
     {"mcore-2024", FrameworkFamily::megatron_2024},
     {"mcore-2025", FrameworkFamily::megatron_2025},
     {"jax-xla", FrameworkFamily::jax},
     {"torch-compile-fsdp", FrameworkFamily::torch_fsdp_compiled},
     {"fsdp-eager", FrameworkFamily::torch_fsdp},
     {"ddp-eager", FrameworkFamily::torch_ddp}}};

FrameworkFamily family_of(std::string_view class_name)
{
    const auto* const found =
        std::find_if(families.begin(), families.end(),
                     [&](const auto& family) { return family.first == class_name; });
    return found == families.end() ? FrameworkFamily::torch_fsdp : found->second;
}

// As for a scenario of that framework and year; whether torch.compile was used may be stated.
ClassChoice class_of(const MeasuredRecord& record, int year)
{
    ClassChoice choice =
        software_class_for(record.framework, fmt::format("{}", year_of_code(record, year)));
    if (record.overlap.torch_compile && is_torch_fsdp(family_of(choice.name)))
        choice.name = *record.overlap.torch_compile ? "torch-compile-fsdp" : "fsdp-eager";
    return choice;
}

std::string all_remarks(const MeasuredRecord& record)
{
    return fmt::format("{} {}", fmt::join(record.flags, " "), record.notes);
}

// What the record says of its attention, else the habit of the class.
std::optional<AttentionKernel> attention_of(const MeasuredRecord& record, const ClassChoice& chosen)
{
    const std::string remarks = all_remarks(record);
    if (mentions(remarks, {"no flash attention"}) || record.model.architecture == "encoder")
        return AttentionKernel::unfused;
    if (is_torch_fsdp(family_of(chosen.name)) && mentions(remarks, {"alibi", "triton"}))
        return AttentionKernel::triton;
    if (chosen.attention)
        return chosen.attention;
    const Checked<SoftwareClass> software = load_software(chosen.name);
    return software ? std::optional(software->kernels.attention) : std::nullopt;
}

void set_graphs(SoftwareChoice& choice, const RecordRecipe& recipe)
{
    if (!recipe.cuda_graphs.empty() && recipe.cuda_graphs != "none")
        capture_scopes(choice, recipe.cuda_graph_scope);
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
    const ClassChoice chosen = class_of(record, out.year);
    out.family = family_of(chosen.name);
    if (!chosen.note.empty())
        out.assumptions.push_back(
            record.framework.empty() ? "framework not stated: as eager PyTorch FSDP" : chosen.note);
    out.choice.framework = chosen.name;
    out.choice.attention = attention_of(record, chosen);
    out.choice.loss = chosen.loss;
    if (out.choice.attention)
        out.assumptions.push_back(
            fmt::format("attention not stated: {}", to_name(*out.choice.attention)));
    if (mentions(record.framework, {"cross-entropy fusion"}))
        out.choice.loss = LossKernel::in_place;
    set_graphs(out.choice, record.recipe);
    out.choice.fused_experts = record.recipe.fused_grouped_mlp.value_or(false);
    return out;
}

} // namespace trainyard
