#include "sim/study/ranks/message.h"

namespace trainyard {

void MessageWriter::put(const std::string& text)
{
    put(text.size());
    bytes_ += text;
}

template <>
std::string MessageReader::get<std::string>()
{
    const auto size = raw<std::size_t>();
    std::string text = bytes_.substr(at_, size);
    at_ += size;
    return text;
}

// A schedule lies elsewhere in another process.
void MessageWriter::put(const LayoutChoice& choice)
{
    for (const int size : {choice.tp, choice.cp, choice.pp, choice.vpp, choice.ep, choice.etp,
                           choice.zero, choice.recompute.layers.value_or(0)})
        put(size);
    put(choice.recompute.kind);
    put(choice.global_batch);
    put(choice.micro_batch);
    put(std::string(choice.schedule != nullptr ? choice.schedule->name() : ""));
}

template <>
LayoutChoice MessageReader::get<LayoutChoice>()
{
    LayoutChoice choice;
    for (int* const size :
         {&choice.tp, &choice.cp, &choice.pp, &choice.vpp, &choice.ep, &choice.etp, &choice.zero})
        *size = raw<int>();
    const int layers = raw<int>();
    if (layers > 0)
        choice.recompute.layers = layers;
    choice.recompute.kind = raw<Recompute>();
    choice.global_batch = raw<std::int64_t>();
    choice.micro_batch = raw<std::int64_t>();
    choice.schedule = find_schedule(get<std::string>());
    return choice;
}

void MessageWriter::put(const PossibleLayout& layout)
{
    put(layout.choice);
    put(layout.least.time);
    put(layout.least.memory);
    put(layout.number);
}

template <>
PossibleLayout MessageReader::get<PossibleLayout>()
{
    PossibleLayout layout;
    layout.choice = get<LayoutChoice>();
    layout.least.time = raw<Seconds>();
    layout.least.memory = raw<Bytes>();
    layout.number = raw<std::uint64_t>();
    return layout;
}

void MessageWriter::put(const LargeLayout& layout)
{
    put(layout.choice);
    put(layout.memory);
    put(layout.number);
}

template <>
LargeLayout MessageReader::get<LargeLayout>()
{
    LargeLayout layout;
    layout.choice = get<LayoutChoice>();
    layout.memory = raw<Bytes>();
    layout.number = raw<std::uint64_t>();
    return layout;
}

void MessageWriter::put(const PossibleLayouts& found)
{
    put(found.layouts.size());
    for (const PossibleLayout& layout : found.layouts)
        put(layout);
    put(found.excluded.size());
    for (const auto& [why, count] : found.excluded) {
        put(why.first);
        put(why.second);
        put(count.points);
        put(count.example);
        put(count.first);
    }
    put(found.nearest);
    put(found.whole);
}

template <>
PossibleLayouts MessageReader::get<PossibleLayouts>()
{
    PossibleLayouts found;
    found.layouts.resize(raw<std::size_t>());
    for (PossibleLayout& layout : found.layouts)
        layout = get<PossibleLayout>();
    for (auto left = raw<std::size_t>(); left > 0; --left) {
        const auto why = raw<Exclusion>();
        std::string field = get<std::string>();
        ExclusionCount count;
        count.points = raw<std::uint64_t>();
        count.example = get<std::string>();
        count.first = raw<std::uint64_t>();
        found.excluded[{why, std::move(field)}] = std::move(count);
    }
    found.nearest = optional<LargeLayout>();
    found.whole = raw<bool>();
    return found;
}

void MessageWriter::put(const PointFacts& facts)
{
    put(facts.kind);
    put(facts.step_time);
    put(facts.peak);
    put(facts.capacity);
    put(facts.reserved);
    put(facts.pointer);
}

template <>
PointFacts MessageReader::get<PointFacts>()
{
    PointFacts facts;
    facts.kind = raw<PointFacts::Kind>();
    facts.step_time = raw<Seconds>();
    facts.peak = raw<Bytes>();
    facts.capacity = raw<Bytes>();
    facts.reserved = optional<Bytes>();
    facts.pointer = get<std::string>();
    return facts;
}

template <>
std::optional<PointFacts> MessageReader::get<std::optional<PointFacts>>()
{
    return optional<PointFacts>();
}

} // namespace trainyard
