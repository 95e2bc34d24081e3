#include "sim/report/text/memory_text.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/headline.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

Bytes together(const PeakTensor& tensor)
{
    return tensor.bytes * static_cast<std::uint64_t>(tensor.count);
}

Bytes bytes_of(std::int64_t bytes)
{
    return Bytes(static_cast<std::uint64_t>(bytes));
}

std::string tensor_table(const StageMemory& stage, std::size_t most, std::size_t width)
{
    TextTable table({Align::left, Align::left, Align::right, Align::right, Align::right});
    table.add({"tensor", "kind", "each", "count", "together"});
    Bytes rest;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < stage.tensors.size(); ++i) {
        const PeakTensor& tensor = stage.tensors[i];
        if (i < most) {
            table.add({tensor.name, std::string(to_name(tensor.kind)), to_display(tensor.bytes),
                       fmt::format("{}", tensor.count), to_display(together(tensor))});
            continue;
        }
        rest += together(tensor);
        ++left_out;
    }
    std::string out = table.text_within(width);
    if (left_out > 0)
        out += fmt::format("  and {} more, {} together\n", left_out, to_display(rest));
    return out;
}

std::string outside_text(const StageMemory& stage, std::size_t width)
{
    std::string out;
    for (const char* kind : {"communicators", "context"})
        if (const auto found = stage.kinds.find(kind); found != stage.kinds.end())
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", kind, to_display(found->second));
    return out.empty() ? "" : hung("  ", "outside the allocator: " + out, width);
}

std::string allocator_text(const AllocatorReplay& replay, const MemoryTextOptions& options)
{
    const double reserved = static_cast<double>(replay.peak.reserved);
    std::string out = hung(
        "  ",
        fmt::format("reserved {} in {} segments over {} step{}, at most {} allocated: {} ({}) used "
                    "by nobody",
                    to_display(bytes_of(replay.peak.reserved)), replay.peak.segments, options.steps,
                    options.steps == 1 ? "" : "s", to_display(bytes_of(replay.peak.allocated)),
                    to_display(bytes_of(replay.unused())),
                    percent(reserved > 0 ? static_cast<double>(replay.unused()) / reserved : 0.0)),
        options.width);
    if (replay.retries > 0)
        out += fmt::format("  gave cached segments back {} time{} to find room\n", replay.retries,
                           replay.retries == 1 ? "" : "s");
    if (replay.failed)
        out += fmt::format("  no room for a request of {}\n",
                           to_display(bytes_of(replay.failed_bytes)));
    std::string by_step = "by step, allocated at most of reserved at the end: ";
    for (std::size_t i = 0; i < replay.steps.size(); ++i)
        by_step += fmt::format("{}{} of {}", i == 0 ? "" : ", ",
                               to_display(bytes_of(replay.steps[i].allocated)),
                               to_display(bytes_of(replay.steps[i].reserved)));
    return out + hung("  ", by_step, options.width);
}

Json place_json(const PeakPlace& place)
{
    Json out = Json::object();
    out["op"] = place.op;
    out["phase"] = to_name(place.phase);
    if (place.micro_batch)
        out["micro_batch"] = *place.micro_batch;
    if (place.layer)
        out["layer"] = *place.layer;
    return out;
}

Json tensors_json(const std::vector<PeakTensor>& tensors)
{
    Json out = Json::array();
    for (const PeakTensor& tensor : tensors) {
        Json entry = Json::object();
        entry["name"] = tensor.name;
        entry["kind"] = to_name(tensor.kind);
        entry["bytes"] = tensor.bytes.value();
        entry["count"] = tensor.count;
        out.push_back(std::move(entry));
    }
    return out;
}

Json allocator_json(const AllocatorReplay& replay)
{
    Json out = Json::object();
    out["allocated"] = replay.peak.allocated;
    out["reserved"] = replay.peak.reserved;
    out["fragmentation"] = replay.unused();
    out["segments"] = replay.peak.segments;
    out["retries"] = replay.retries;
    out["steps"] = Json::array();
    for (const AllocatorStep& step : replay.steps) {
        Json entry = Json::object();
        entry["allocated"] = step.allocated;
        entry["reserved"] = step.reserved;
        out["steps"].push_back(std::move(entry));
    }
    if (replay.failed)
        out["no_room_for"] = replay.failed_bytes;
    return out;
}

} // namespace

std::string to_text(const PeakPlace& place)
{
    if (place.op.empty())
        return "at all times";
    std::string text = place.op;
    const std::string phase(to_name(place.phase));
    if (place.phase != Phase::other && place.op.find(phase) == std::string::npos)
        text = phase + " " + text;
    if (place.micro_batch)
        text += fmt::format(", micro-batch {}", *place.micro_batch);
    if (place.layer && place.op.find(place.layer_name) == std::string::npos)
        text += ", " + place.layer_name;
    return text;
}

std::string memory_text(const MemoryEstimate& memory, const PeakPrediction& peak,
                        const MemoryTextOptions& options, const Paint& paint)
{
    const auto number = static_cast<std::size_t>(options.stage.value_or(memory.fullest_stage));
    const StageMemory& stage = memory.stages[number];
    const MemoryFit fit = fit_of(peak, memory.capacity);
    const std::string verdict(to_name(fit));
    std::string out =
        paint.bold(fmt::format("Stage {} of {}", number, memory.stages.size())) +
        fmt::format("{}: {} of {}, {}\n",
                    static_cast<int>(number) == memory.fullest_stage ? ", the fullest" : "",
                    to_display(stage.total()), to_display(memory.capacity),
                    fit == MemoryFit::fits || fit == MemoryFit::probably_fits
                        ? paint.good(verdict)
                        : paint.alarm(verdict));
    if (peak.has_interval())
        out += fmt::format("Interval {}\n", peak_interval_text(peak));
    out += fmt::format("\n{} {}\n", paint.bold("Peak"), to_text(stage.place));
    out += tensor_table(stage, options.tensors, options.width);
    out += outside_text(stage, options.width);
    if (stage.pinned_host.value() > 0)
        out += fmt::format("  pinned host memory: {}\n", to_display(stage.pinned_host));
    if (stage.allocator)
        out += "\n" + paint.bold("Allocator") + "\n" + allocator_text(*stage.allocator, options);
    return out;
}

Json memory_json(const MemoryEstimate& memory, MemoryDetail detail)
{
    Json out = Json::object();
    out["peak"] = memory.peak().value();
    out["capacity"] = memory.capacity.value();
    out["fullest_stage"] = memory.fullest_stage;
    out["stages"] = Json::array();
    for (const StageMemory& stage : memory.stages) {
        Json entry = Json::object();
        entry["total"] = stage.total().value();
        entry["kinds"] = Json::object();
        for (const auto& [name, bytes] : stage.kinds)
            entry["kinds"][name] = bytes.value();
        entry["at"] = place_json(stage.place);
        if (stage.pinned_host.value() > 0)
            entry["pinned_host"] = stage.pinned_host.value();
        if (detail == MemoryDetail::tensors)
            entry["tensors"] = tensors_json(stage.tensors);
        if (stage.allocator)
            entry["allocator"] = allocator_json(*stage.allocator);
        out["stages"].push_back(std::move(entry));
    }
    return out;
}

Json memory_json(const MemoryEstimate& memory, const PeakPrediction& peak)
{
    Json out = memory_json(memory, MemoryDetail::tensors);
    out["memory_fit"] = to_name(fit_of(peak, memory.capacity));
    if (peak.has_interval()) {
        out["peak_memory_interval_bytes"] = Json::Array{peak.low.value(), peak.high.value()};
        out["peak_memory_interval_share"] = peak.share;
        out["memory_grade"] = to_name(peak.grade);
    }
    return out;
}

} // namespace trainyard
