#include "gui/timeline/slice_facts.h"

#include "gui/timeline/time_text.h"
#include "sim/base/units.h"
#include "sim/cost/algorithms/algorithm.h"
#include "sim/report/collectives.h"
#include "sim/report/kinds.h"
#include "sim/report/text/describe.h"
#include "sim/report/timeline/op_facts.h"
#include "sim/study/breakdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr std::size_t most_effects = 6;
constexpr std::size_t most_ranks = 12;

std::string rank_list(const std::vector<RankId>& ranks)
{
    std::vector<std::uint32_t> shown;
    for (const RankId rank : ranks)
        if (shown.size() < most_ranks)
            shown.push_back(rank.value);
    return fmt::format("{}{}", fmt::join(shown, ", "), ranks.size() > most_ranks ? ", ..." : "");
}

class Facts {
public:
    Facts(const TimelineModel& model, std::uint32_t slice)
        : model_(model), slice_(slice), row_(model.row_at(slice)), run_(model.run_of(row_))
    {}

    SliceFacts collect() &&
    {
        const TimelineData& data = model_.data;
        const std::string& name = data.names[data.slices.name[slice_]];
        const std::string kind(slice_title_of(data.slices.kind[slice_]));
        out_.title = data.tracks[row_.track].kind == TrackKind::stream
                         ? fmt::format("{}, {}", name, kind)
                         : name;
        out_.place = place_text(model_, row_);
        const SimTime start = data.slices.start[slice_];
        add("starts", moment_text(start - data.origin));
        add("takes", time_text(data.slices.end[slice_] - start));
        const RecordIndex record = data.slices.record[slice_];
        if (record == no_record || run_ == nullptr)
            return std::move(out_);
        if (data.tracks[row_.track].kind == TrackKind::stream)
            add_op(record);
        else
            add_piece(record);
        return std::move(out_);
    }

private:
    void add(std::string name, std::string value, std::uint32_t slice = nothing)
    {
        out_.facts.push_back({std::move(name), std::move(value), slice});
    }

    std::string words_for(std::uint32_t slice) const
    {
        const SliceRow& row = model_.row_at(slice);
        const std::string& name = model_.data.names[model_.data.slices.name[slice]];
        return row.track == row_.track ? name
                                       : fmt::format("{} ({})", name, place_text(model_, row));
    }

    // Where a rank's time goes: to this op.
    void add_piece(RecordIndex record)
    {
        const std::uint32_t op = model_.slice_of(model_.run_number(row_), record);
        if (op == nothing)
            return;
        const TimeKind kind = model_.data.slices.kind[slice_];
        if (kind == TimeKind::host && run_->graph.records()[record].kind != OpKind::host) {
            add("the host has not issued", words_for(op), op);
            return;
        }
        switch (class_of(kind)) {
        case TimeClass::compute:
            add("first op", words_for(op), op);
            break;
        case TimeClass::communication:
            add("nothing computes until", words_for(op), op);
            break;
        case TimeClass::idle:
            add("waits for", words_for(op), op);
            break;
        }
    }

    void add_op(RecordIndex index)
    {
        const OpRecord& record = run_->graph.records()[index];
        const OpFacts facts = op_facts(*run_->outcome, run_->graph, index);
        if (facts.transfer)
            add_transfer(record, *facts.transfer);
        else
            add_work(record, facts);
        add_where(record);
        add_reasons(record);
    }

    void add_transfer(const OpRecord& record, const TransferFacts& facts)
    {
        if (record.transfer_start > record.start)
            add("waits", fmt::format("{}, then moves data for {}",
                                     time_text(record.transfer_start - record.start),
                                     time_text(record.end - record.transfer_start)));
        add("transfer",
            fmt::format("{} of {}", title_of(facts.collective), to_display(facts.bytes)));
        add("group",
            record.kind == OpKind::collective
                ? fmt::format("{}, {} ranks: {}", title_of(facts.group), facts.ranks.size(),
                              rank_list(facts.ranks))
                : fmt::format("{}, ranks {}", title_of(facts.group), rank_list(facts.ranks)));
        if (record.kind == OpKind::collective)
            add("algorithm",
                facts.algorithm == nullptr ? "as measured" : std::string(facts.algorithm->name));
        if (facts.bus_bandwidth.value() > 0)
            add("bus bandwidth", fmt::format("{} (algorithm {})", to_display(facts.bus_bandwidth),
                                             to_display(facts.algorithm_bandwidth)));
    }

    void add_work(const OpRecord& record, const OpFacts& facts)
    {
        if (facts.kernels > 1)
            add("kernels", fmt::format("{}", facts.kernels));
        if (facts.flops.value() > 0 && record.end > record.start)
            add("work",
                fmt::format("{}, {}", to_display(facts.flops),
                            to_display(facts.flops / to_seconds(record.end - record.start))));
    }

    void add_where(const OpRecord& record)
    {
        std::string where(to_name(run_->graph.program().labels[record.label.value].phase));
        std::replace(where.begin(), where.end(), '_', ' ');
        if (record.micro_batch != BlockUse::no_index)
            where += fmt::format(", micro-batch {}", record.micro_batch);
        if (record.layer != BlockUse::no_index)
            where += ", " + layer_name(run_->graph.program(), record.layer);
        where += fmt::format(", step {}", record.step);
        add("part", where);
        if (record.start > record.issued)
            add("issued",
                fmt::format("{} before it started", time_text(record.start - record.issued)));
    }

    void add_reasons(const OpRecord& record)
    {
        const Relations relations = relations_of(model_, slice_);
        const bool known = relations.caused_by != nothing;
        switch (relations.cause) {
        case StartCause::stream:
            if (known)
                add("started behind", words_for(relations.caused_by), relations.caused_by);
            break;
        case StartCause::event:
            if (known)
                add("started when this ended", words_for(relations.caused_by), relations.caused_by);
            break;
        case StartCause::host:
            add("started when", "the host had issued it");
            if (known)
                add("the host had awaited", words_for(relations.caused_by), relations.caused_by);
            break;
        case StartCause::nothing:
            break;
        }
        if (relations.last_to_come != nothing)
            add("data moved when this came", words_for(relations.last_to_come),
                relations.last_to_come);
        else if (record.kind == OpKind::collective && record.last_arriver.valid() &&
                 record.last_arriver != record.lane)
            add("last to come",
                fmt::format("rank {}",
                            run_->outcome->binding->lanes[record.last_arriver.value].rank.value));
        add_others(relations);
    }

    void add_others(const Relations& relations)
    {
        for (const Arrow& arrow : relations.messages) {
            const bool sends = model_.data.row_of_slice(arrow.from) == row_index();
            const std::uint32_t other = sends ? arrow.to : arrow.from;
            add(sends ? "sends to" : "receives from", words_for(other), other);
        }
        for (std::size_t i = 0; i < std::min(relations.effects.size(), most_effects); ++i)
            add("lets start", words_for(relations.effects[i]), relations.effects[i]);
        if (relations.effects.size() > most_effects)
            add("", fmt::format("and {} more", relations.effects.size() - most_effects));
        for (std::size_t i = 0; i < std::min(relations.peers.size(), most_effects); ++i)
            add("peer", words_for(relations.peers[i]), relations.peers[i]);
    }

    std::uint32_t row_index() const { return model_.data.tracks[row_.track].row; }

    const TimelineModel& model_;
    std::uint32_t slice_;
    const SliceRow& row_;
    const RecordedRun* run_; // null: none
    SliceFacts out_;
};

} // namespace

SliceFacts facts_of(const TimelineModel& model, std::uint32_t slice)
{
    return Facts(model, slice).collect();
}

std::string place_text(const TimelineModel& model, const SliceRow& row)
{
    const Track& track = model.data.tracks[row.track];
    std::string place = fmt::format("rank {}", track.rank.value);
    if (track.kind == TrackKind::stream || track.kind == TrackKind::passes)
        place += ", " + track.name;
    if (model.data.run_names.size() > 1)
        place += ", " + model.data.run_names[track.run];
    return place;
}

} // namespace trainyard::gui
