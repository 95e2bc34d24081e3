#include "sim/study/search/search_space.h"

#include "sim/base/fields.h"
#include "sim/base/spelling.h"
#include "sim/base/words.h"
#include "sim/strategy/misfits.h"
#include "sim/study/framework_limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>

namespace trainyard {

namespace {

constexpr int most_virtual_stages = 12;
constexpr std::int64_t long_sequence = 32'768;     // tokens; from here on CP is worth a look
constexpr std::int64_t most_pass_tokens = 131'072; // of a device: more make nothing quicker
constexpr std::int64_t largest_micro_batch = 512;
constexpr std::string_view schedule_field = "strategy.schedule";
constexpr std::string_view zero_field = "strategy.zero";
constexpr std::string_view recompute_field = "training.recompute";

template <class T>
void add(std::vector<T>& values, const T& value)
{
    if (std::ranges::find(values, value) == values.end())
        values.push_back(value);
}

std::vector<int> divisors(int number, int most)
{
    std::vector<int> out;
    for (int d = 1; d <= std::min(number, most); ++d)
        if (number % d == 0)
            out.push_back(d);
    return out;
}

// Few at the start, then by about a third: a layer more or less matters less among many.
std::vector<RecomputeChoice> recompute_choices(int layers)
{
    std::vector<RecomputeChoice> out{{Recompute::none, {}}, {Recompute::selective, {}}};
    for (int n = 1; n < layers; n += std::max(1, n / 3))
        out.push_back({Recompute::full, n});
    out.push_back({Recompute::full, {}});
    return out;
}

// Those that divide the batch, by a third or more apart. `tokens`: of a sequence.
void add_micro_batches(SearchSpace& space, const Training& training, std::int64_t tokens)
{
    const std::int64_t most = std::min({largest_micro_batch, training.global_batch,
                                        std::max<std::int64_t>(1, most_pass_tokens / tokens)});
    for (std::int64_t size = 1, last = 0; size <= most; ++size)
        if (training.global_batch % size == 0 && 3 * size >= 4 * last) {
            add(space.micro_batches, size);
            last = size;
        }
}

// Gpipe and breadth-first keep more for the same time.
bool worth_a_look(const PipelineSchedule& schedule)
{
    constexpr std::string_view left_out = "gpipe breadth-first interleaved-1f1b";
    return !has_word(left_out, schedule.name());
}

void add_transformer(SearchSpace& space, const Scenario& scenario, const Transformer& model,
                     const SpaceFacts& facts, const FrameworkLimits& limits)
{
    for (const int tp : divisors(facts.domain, std::min(facts.domain, facts.devices)))
        if (divides_heads(facts.model, tp))
            add(space.tp, tp);
    const std::int64_t sequence = scenario.training.sequence_length;
    for (int cp = 2; sequence >= long_sequence && sequence / cp >= long_sequence / 4; cp *= 2)
        add(space.cp, cp);
    for (const int pp : divisors(facts.devices, model.layers + 1))
        add(space.pp, pp);
    const int most_chunks = limits.has_virtual_stages ? most_virtual_stages : 1;
    for (int vpp = 1; vpp <= std::min(most_chunks, model.layers); ++vpp)
        add(space.vpp, vpp);
    if (model.moe) {
        for (const int ep : divisors(model.moe->experts, facts.devices))
            add(space.ep, ep);
        space.etp.insert(space.etp.end(), space.tp.begin(), space.tp.end());
    }
    for (const PipelineSchedule* schedule : schedules())
        if (worth_a_look(*schedule) && limits.has_schedule(schedule->name()))
            add(space.schedules, schedule);
    for (const RecomputeChoice& choice : recompute_choices(model.layers))
        add(space.recompute, choice);
    for (const int zero : {1, 3})
        if (zero <= limits.most_zero(facts.model, scenario.training))
            add(space.zero, zero);
}

// What the scenario itself has is asked for.
void limit_zero(SearchSpace& space, const Strategy& own, const FrameworkLimits& limits)
{
    if (own.pp == 1 || own.zero <= limits.zero_with_stages)
        space.zero_with_stages = limits.zero_with_stages;
    if (own.ep == 1 || own.zero <= limits.zero_with_experts)
        space.zero_with_experts = limits.zero_with_experts;
}

template <class T>
void put_in_order(std::vector<T>& values)
{
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

Diagnostic problem(const SweepAxis& axis, std::string message, std::string hint)
{
    return {fmt::format("--grid {}", axis.field),
            0,
            "",
            std::move(message),
            std::move(hint),
            Severity::error};
}

std::optional<RecomputeChoice> recompute_of(const std::string& text)
{
    const std::size_t colon = text.find(':');
    RecomputeChoice choice;
    bool known = false;
    for (const auto& [value, name] : enum_names<Recompute>())
        if (name == text.substr(0, colon)) {
            choice.kind = value;
            known = true;
        }
    if (!known)
        return std::nullopt;
    if (colon == std::string::npos)
        return choice;
    choice.layers = to_number<int>(text.substr(colon + 1));
    if (!choice.layers || *choice.layers < 1 || choice.kind != Recompute::full)
        return std::nullopt;
    return choice;
}

// The values of an axis, each as `read` has it; problems name those that it does not take.
template <class T, class Read>
Problems take(std::vector<T>& values, const SweepAxis& axis, const char* what, Read read)
{
    std::vector<T> taken;
    for (const std::string& text : axis.values) {
        const std::optional<T> value = read(text);
        if (!value)
            return {problem(axis, fmt::format("\"{}\" is no {}", text, what), {})};
        add(taken, *value);
    }
    values = std::move(taken);
    return {};
}

// Of numbers from `least` on; those of the form end at `most`.
template <class T>
Problems take_sizes(std::vector<T>& values, const SweepAxis& axis, T least, T most)
{
    return take(values, axis, least > 0 ? "size from 1 on" : "ZeRO stage from 0 to 3",
                [&](const std::string& text) {
                    const std::optional<T> value = to_number<T>(text);
                    return value && *value >= least && *value <= most ? value : std::nullopt;
                });
}

// The lists of whole numbers, by field.
template <class Visit>
void each_size_list(SearchSpace& space, Visit visit)
{
    visit("strategy.tp", space.tp, 1, 1'000'000);
    visit("strategy.cp", space.cp, 1, 1'000'000);
    visit("strategy.pp", space.pp, 1, 1'000'000);
    visit("strategy.vpp", space.vpp, 1, 1'000'000);
    visit("strategy.ep", space.ep, 1, 1'000'000);
    visit("strategy.etp", space.etp, 1, 1'000'000);
    visit("strategy.zero", space.zero, 0, 3);
    visit("training.global_batch", space.global_batches, 1, 1'000'000'000);
    visit("training.micro_batch", space.micro_batches, 1, 1'000'000'000);
}

// "tp" is meant as one of them.
Diagnostic unknown_field(const SweepAxis& axis, const std::vector<std::string>& fields)
{
    std::string hint = suggestion(axis.field, fields);
    for (const std::string& field : fields)
        if (field.ends_with("." + axis.field))
            hint = fmt::format("did you mean \"{}\"?", field);
    if (axis.field == "strategy.dp")
        hint = "it follows: the devices over tp x cp x pp; --set topology.nodes=N changes these";
    if (axis.field == "topology.nodes")
        hint = "--on with --tokens finds the number of nodes; --set topology.nodes=N gives it";
    return problem(axis, "is no field that is searched", std::move(hint));
}

} // namespace

std::uint64_t SearchSpace::points() const
{
    std::uint64_t product = 1;
    for (const std::size_t size :
         {tp.size(), cp.size(), pp.size(), vpp.size(), ep.size(), etp.size(), zero.size(),
          schedules.size(), global_batches.size(), micro_batches.size(), recompute.size()})
        product *= size;
    return product;
}

SearchSpace own_space(const Scenario& scenario)
{
    const Strategy& own = scenario.strategy;
    const Training& training = scenario.training;
    SearchSpace space;
    space.tp = {own.tp};
    space.cp = {own.cp};
    space.pp = {own.pp};
    space.vpp = {own.vpp};
    space.ep = {own.ep};
    space.etp = {own.etp};
    space.zero = {own.zero};
    space.recompute = {{training.recompute, training.recompute_layers}};
    space.global_batches = {training.global_batch};
    space.micro_batches = {training.micro_batch};
    const PipelineSchedule* const schedule = find_schedule(own.schedule);
    const bool usual = schedule == nullptr || own.schedule == "interleaved-1f1b";
    space.schedules = {usual ? find_schedule(Strategy{}.schedule) : schedule};
    return space;
}

SearchSpace usual_space(const Scenario& scenario, const SpaceFacts& facts)
{
    const Training& training = scenario.training;
    SearchSpace space = own_space(scenario);
    add(space.cp, 1);
    add(space.etp, 1);
    const auto* const model = std::get_if<Transformer>(&facts.model.architecture);
    const FrameworkLimits limits = framework_limits(scenario.software.framework);
    if (model != nullptr)
        add_transformer(space, scenario, *model, facts, limits);
    limit_zero(space, scenario.strategy, limits);
    add_micro_batches(space, training, model != nullptr ? training.sequence_length : 1);
    each_size_list(space, [](const char*, auto& values, int, int) { put_in_order(values); });
    return space;
}

void take_values(SearchSpace& space, const SearchSpace& from, std::string_view field)
{
    SearchSpace source = from;
    each_size_list(space, [&](std::string_view name, auto& values, int, int) {
        using List = std::decay_t<decltype(values)>;
        if (name != field)
            return;
        each_size_list(source, [&](std::string_view other, auto& list, int, int) {
            if constexpr (std::is_same_v<List, std::decay_t<decltype(list)>>)
                if (other == field)
                    values = list;
        });
    });
    if (field == schedule_field)
        space.schedules = from.schedules;
    if (field == zero_field) {
        space.zero_with_stages = from.zero_with_stages;
        space.zero_with_experts = from.zero_with_experts;
    }
    if (field == recompute_field)
        space.recompute = from.recompute;
}

std::string value_of(const LayoutChoice& choice, std::string_view field)
{
    SearchSpace space;
    space.tp = {choice.tp};
    space.cp = {choice.cp};
    space.pp = {choice.pp};
    space.vpp = {choice.vpp};
    space.ep = {choice.ep};
    space.etp = {choice.etp};
    space.zero = {choice.zero};
    space.global_batches = {choice.global_batch};
    space.micro_batches = {choice.micro_batch};
    std::string out;
    each_size_list(space, [&](std::string_view name, const auto& values, int, int) {
        if (name == field)
            out = std::to_string(values.front());
    });
    if (field == schedule_field)
        return std::string(choice.schedule->name());
    if (field == recompute_field)
        return std::string(to_name(choice.recompute.kind));
    return out;
}

Problems restrict(SearchSpace& space, const SweepAxis& axis)
{
    const std::vector<std::string> fields = searched_fields();
    if (std::ranges::find(fields, axis.field) == fields.end())
        return {unknown_field(axis, fields)};
    if (std::ranges::find(axis.values, auto_size) != axis.values.end())
        return axis.values.size() == 1
                   ? Problems{}
                   : Problems{problem(
                         axis, "\"auto\" is all the usual values and stands for itself alone",
                         fmt::format("--grid {}=auto, or values alone", axis.field))};
    std::optional<Problems> done;
    each_size_list(space, [&](std::string_view field, auto& values, int least, int most) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if (field == axis.field)
            done = take_sizes(values, axis, static_cast<T>(least), static_cast<T>(most));
    });
    if (axis.field == zero_field)
        space.zero_with_stages = space.zero_with_experts = 3;
    if (axis.field == schedule_field)
        done = take(space.schedules, axis, "schedule", [](const std::string& text) {
            const PipelineSchedule* const known = find_schedule(text);
            return known != nullptr ? std::optional(known) : std::nullopt;
        });
    if (axis.field == recompute_field)
        done = take(space.recompute, axis, "way to recompute (none, selective, full, full:4)",
                    recompute_of);
    return *done;
}

std::vector<std::string> searched_fields()
{
    std::vector<std::string> out{std::string(schedule_field), std::string(recompute_field)};
    SearchSpace space;
    each_size_list(space, [&](const char* field, auto&, int, int) { out.emplace_back(field); });
    return out;
}

} // namespace trainyard
