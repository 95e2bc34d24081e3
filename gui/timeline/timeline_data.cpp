#include "gui/timeline/timeline_data.h"

#include "sim/base/parallel.h"
#include "sim/report/text/describe.h"
#include "sim/report/timeline/timeline.h"
#include "sim/study/breakdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard::gui {

namespace {

std::uint64_t key_of(std::uint8_t run, LaneId lane, StreamId stream)
{
    return std::uint64_t{run} << 40 | std::uint64_t{lane.value} << 8 | stream.value;
}

bool is_transfer(const OpRecord& record)
{
    return record.kind == OpKind::collective || record.kind == OpKind::exchange;
}

// Of a transfer: when its data begins to move.
SimTime moving_from(const OpRecord& record)
{
    return is_transfer(record) ? std::clamp(record.transfer_start, record.start, record.end)
                               : record.start;
}

std::uint32_t slices_of(const OpRecord& record)
{
    const SimTime moving = moving_from(record);
    return (moving > record.start ? 1U : 0U) + (record.end > moving ? 1U : 0U);
}

// One stream of a lane, over all steps.
struct StreamPart {
    StreamId stream;
    std::span<const std::uint32_t> records;
    std::uint32_t slices = 0;
    std::uint32_t first = 0; // into the columns
};

struct LanePart {
    std::uint8_t run = 0;
    LaneId lane;
    RankId rank;
    NodeId node;
    std::vector<TimePiece> pieces;
    std::uint32_t first_piece = 0; // into the columns
    std::vector<StreamPart> streams;
};

// The order in which the streams of a rank are shown.
int place_of(StreamKind kind)
{
    switch (kind) {
    case StreamKind::compute:
        return 0;
    case StreamKind::communication:
        return 1;
    case StreamKind::copy:
        return 2;
    case StreamKind::worker:
        return 3;
    case StreamKind::host:
        break;
    }
    return 4;
}

class Builder {
public:
    Builder(std::span<const RecordedRun* const> runs, const WorkControl& work)
        : runs_(runs), work_(work)
    {}

    TimelineData build() &&
    {
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            data_.shift[run] = runs_[0]->origin - runs_[run]->origin;
            find_parts(static_cast<std::uint8_t>(run));
            name_labels(*runs_[run]);
        }
        name_kinds();
        for_each_index(parts_.size(), usable_threads(), [&](std::size_t i) { measure(parts_[i]); });
        std::erase_if(parts_, [](const LanePart& part) { return part.streams.empty(); });
        std::stable_sort(parts_.begin(), parts_.end(), [](const LanePart& a, const LanePart& b) {
            return std::tie(a.node, a.rank, a.run) < std::tie(b.node, b.rank, b.run);
        });
        lay_out();
        for_each_index(parts_.size(), usable_threads(), [&](std::size_t i) { fill(parts_[i]); });
        find_span();
        return std::move(data_);
    }

private:
    void find_parts(std::uint8_t run)
    {
        const RecordedRun& recorded = *runs_[run];
        const auto& all = recorded.graph.queues();
        for (const RecordQueue& queue : all.queues) {
            if (parts_.empty() || parts_.back().lane != queue.lane || parts_.back().run != run)
                add_part(run, queue.lane);
            auto& streams = parts_.back().streams;
            if (streams.empty() || streams.back().stream != queue.stream)
                streams.push_back({queue.stream, all.of(queue)});
            else // the next step, right behind
                streams.back().records =
                    std::span(all.records)
                        .subspan(static_cast<std::size_t>(streams.back().records.data() -
                                                          all.records.data()),
                                 streams.back().records.size() + queue.count);
        }
    }

    void add_part(std::uint8_t run, LaneId id)
    {
        const Outcome& outcome = *runs_[run]->outcome;
        const RankId rank = outcome.binding->lanes[id.value].rank;
        parts_.push_back(
            {run, id, rank, outcome.topology->device(DeviceId{rank.value}).node, {}, 0, {}});
    }

    std::uint32_t name_id(const std::string& name)
    {
        const auto [at, fresh] =
            names_.try_emplace(name, static_cast<std::uint32_t>(data_.names.size()));
        if (fresh)
            data_.names.push_back(name);
        return at->second;
    }

    void name_labels(const RecordedRun& run)
    {
        auto& names = label_names_.emplace_back();
        auto& kinds = label_kinds_.emplace_back();
        for (const Label& label : run.outcome->plan->program.labels) {
            names.push_back(name_id(label.name));
            std::array<TimeKind, 5> of{}; // by OpKind
            for (std::size_t k = 0; k < of.size(); ++k)
                of[k] = slice_kind_of(OpRecord{.kind = static_cast<OpKind>(k)}, label);
            kinds.push_back(of);
        }
    }

    void name_kinds()
    {
        for (std::size_t k = 0; k < time_kind_count; ++k)
            kind_names_[k] = name_id(std::string(title_of(static_cast<TimeKind>(k))));
    }

    // How many slices each row of the part has.
    void measure(LanePart& part) const
    {
        work_.check();
        const RecordedRun& run = *runs_[part.run];
        part.pieces = time_pieces(run.graph, part.lane);
        const auto& records = run.graph.records();
        for (StreamPart& stream : part.streams)
            for (const std::uint32_t index : stream.records)
                stream.slices += slices_of(records[index]);
        std::erase_if(part.streams, [](const StreamPart& stream) { return stream.slices == 0; });
        const auto& streams = run.graph.program().streams;
        std::stable_sort(part.streams.begin(), part.streams.end(),
                         [&](const StreamPart& a, const StreamPart& b) {
                             return place_of(streams[a.stream.value].kind) <
                                    place_of(streams[b.stream.value].kind);
                         });
    }

    // Nodes are lines of their own where they hold several of the ranks shown.
    bool shows_nodes() const
    {
        std::map<NodeId, std::set<RankId>> ranks;
        for (const LanePart& part : parts_)
            ranks[part.node].insert(part.rank);
        return ranks.size() > 1 && ranks.size() < parts_.size() / runs_.size();
    }

    void lay_out()
    {
        const bool nodes = shows_nodes();
        std::uint32_t node = nothing;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (nodes && (i == 0 || parts_[i].node != parts_[i - 1].node)) {
                close(node);
                node = add_track({.kind = TrackKind::node,
                                  .name = fmt::format("node {}", parts_[i].node.value)});
            }
            add_rank(parts_[i], node);
        }
        close(node);
        data_.slices.resize(slice_count_);
    }

    std::uint32_t add_track(Track track)
    {
        data_.tracks.push_back(std::move(track));
        return static_cast<std::uint32_t>(data_.tracks.size() - 1);
    }

    void close(std::uint32_t track)
    {
        if (track != nothing)
            data_.tracks[track].end = static_cast<std::uint32_t>(data_.tracks.size());
    }

    std::uint32_t add_row(std::uint32_t track, std::uint32_t count)
    {
        data_.rows.push_back({slice_count_, count, track});
        slice_count_ += count;
        return static_cast<std::uint32_t>(data_.rows.size() - 1);
    }

    void add_rank(LanePart& part, std::uint32_t node)
    {
        const RecordedRun& run = *runs_[part.run];
        const std::uint8_t depth = node == nothing ? 0 : 1;
        Track track{.kind = TrackKind::rank,
                    .name = fmt::format("rank {}", part.rank.value),
                    .detail = rank_detail(part),
                    .parent = node,
                    .depth = depth,
                    .run = part.run,
                    .rank = part.rank,
                    .lane = part.lane,
                    .stream = StreamId::none()};
        const std::uint32_t rank = add_track(track);
        if (!part.pieces.empty()) {
            part.first_piece = slice_count_;
            data_.tracks[rank].row = add_row(rank, static_cast<std::uint32_t>(part.pieces.size()));
            data_.row_index[key_of(part.run, part.lane, StreamId::none())] = data_.tracks[rank].row;
        }
        for (StreamPart& stream : part.streams) {
            track.kind = TrackKind::stream;
            track.name = run.graph.program().streams[stream.stream.value].name;
            track.detail.clear();
            track.parent = rank;
            track.depth = static_cast<std::uint8_t>(depth + 1);
            track.stream = stream.stream;
            const std::uint32_t line = add_track(track);
            stream.first = slice_count_;
            data_.tracks[line].row = add_row(line, stream.slices);
            data_.row_index[key_of(part.run, part.lane, stream.stream)] = data_.tracks[line].row;
            close(line);
        }
        close(rank);
    }

    std::string rank_detail(const LanePart& part) const
    {
        const Outcome& outcome = *runs_[part.run]->outcome;
        const Lane& lane = outcome.binding->lanes[part.lane.value];
        std::string detail = outcome.plan->program.roles.size() > 1
                                 ? stage_name(outcome.plan->program, lane.role) + ", "
                                 : std::string();
        detail += fmt::format("node {}", part.node.value);
        if (lane.multiplicity > 1)
            detail += fmt::format(", stands for {} ranks", lane.multiplicity);
        return detail;
    }

    void put(std::uint32_t at, const TimePiece& slice, std::uint32_t name, std::uint8_t run)
    {
        data_.slices.start[at] = slice.from + data_.shift[run];
        data_.slices.end[at] = slice.to + data_.shift[run];
        data_.slices.kind[at] = slice.kind;
        data_.slices.name[at] = name;
        data_.slices.record[at] = slice.record;
    }

    void fill(const LanePart& part)
    {
        work_.check();
        std::uint32_t at = part.first_piece;
        for (const TimePiece& piece : part.pieces)
            put(at++, piece, kind_names_[static_cast<std::size_t>(piece.kind)], part.run);
        for (const StreamPart& stream : part.streams)
            fill(part, stream);
    }

    void fill(const LanePart& part, const StreamPart& stream)
    {
        const auto& records = runs_[part.run]->graph.records();
        std::uint32_t at = stream.first;
        bool messages = false;
        for (const std::uint32_t index : stream.records) {
            const OpRecord& record = records[index];
            const std::uint32_t name = label_names_[part.run][record.label.value];
            const SimTime moving = moving_from(record);
            messages = messages || record.kind == OpKind::exchange;
            if (moving > record.start)
                put(at++, {record.start, moving, TimeKind::waiting, index}, name, part.run);
            if (record.end > moving)
                put(at++,
                    {moving, record.end,
                     label_kinds_[part.run][record.label.value]
                                 [static_cast<std::size_t>(record.kind)],
                     index},
                    name, part.run);
        }
        data_.rows[data_.row_of(part.run, part.lane, stream.stream)].messages = messages;
    }

    void find_span()
    {
        bool first = true;
        for (const SliceRow& row : data_.rows) {
            const TimeRange span{data_.slices.start[row.first], data_.slices.end[row.end() - 1]};
            data_.whole = first ? span
                                : TimeRange{std::min(data_.whole.from, span.from),
                                            std::max(data_.whole.to, span.to)};
            first = false;
        }
        data_.origin = runs_[0]->origin;
        if (runs_.size() > 1)
            data_.run_names = {"run A", "run B"};
    }

    std::span<const RecordedRun* const> runs_;
    const WorkControl& work_;
    TimelineData data_;
    std::vector<LanePart> parts_;
    std::unordered_map<std::string, std::uint32_t> names_;
    std::vector<std::vector<std::uint32_t>> label_names_;           // by run, LabelId
    std::vector<std::vector<std::array<TimeKind, 5>>> label_kinds_; // by run, LabelId, OpKind
    std::array<std::uint32_t, time_kind_count> kind_names_{};
    std::uint32_t slice_count_ = 0;
};

SimTime start_of_last_step(const StepResult& result)
{
    return result.step_ends.size() > 1 ? result.step_ends[result.step_ends.size() - 2] : SimTime();
}

} // namespace

void SliceColumns::resize(std::size_t count)
{
    start.resize(count);
    end.resize(count);
    kind.resize(count);
    name.resize(count);
    record.resize(count);
}

RecordedRun::RecordedRun(std::shared_ptr<const Outcome> of)
    : outcome(std::move(of)),
      graph(outcome->plan->program, *outcome->binding, outcome->result->records),
      origin(start_of_last_step(*outcome->result))
{}

std::uint32_t TimelineData::row_of(std::uint8_t run, LaneId lane, StreamId stream) const
{
    const auto found = row_index.find(key_of(run, lane, stream));
    return found == row_index.end() ? nothing : found->second;
}

std::uint32_t TimelineData::row_of_slice(std::uint32_t slice) const
{
    const auto behind = std::partition_point(
        rows.begin(), rows.end(), [&](const SliceRow& row) { return row.end() <= slice; });
    return static_cast<std::uint32_t>(behind - rows.begin());
}

std::uint32_t TimelineData::first_ending_after(const SliceRow& row, SimTime time) const
{
    const auto first = slices.end.begin() + row.first;
    return row.first +
           static_cast<std::uint32_t>(std::upper_bound(first, first + row.count, time) - first);
}

std::uint32_t TimelineData::slice_at(const SliceRow& row, SimTime time) const
{
    const std::uint32_t slice = first_ending_after(row, time);
    return slice < row.end() && slices.start[slice] <= time ? slice : nothing;
}

std::uint32_t TimelineData::slice_of(std::uint8_t run, const OpRecord& record) const
{
    const std::uint32_t row = row_of(run, record.lane, record.stream);
    return row == nothing ? nothing : slice_at(rows[row], record.end + shift[run] - SimTime(1));
}

TimelineData make_timeline_data(std::span<const RecordedRun* const> runs, const WorkControl& work)
{
    return Builder(runs, work).build();
}

} // namespace trainyard::gui
