#include "gui/timeline/lane_parts.h"
#include "sim/base/parallel.h"
#include "sim/report/kinds.h"
#include "sim/report/text/describe.h"
#include "sim/report/timeline/timeline.h"
#include "sim/study/breakdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard::gui {

namespace {

class Builder {
public:
    Builder(std::span<const RecordedRun* const> runs, const WorkControl& work, LaneOrder order)
        : runs_(runs), work_(work), order_(order)
    {
        if (order_ == LaneOrder::stage && runs_[0]->outcome->plan->program.roles.size() < 2)
            order_ = LaneOrder::rank;
    }

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
        sort_parts(parts_, order_);
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
        const Lane& lane = outcome.binding->lanes[id.value];
        parts_.push_back({.run = run,
                          .lane = id,
                          .rank = lane.rank,
                          .stage = lane.role,
                          .node = outcome.topology->device(DeviceId{lane.rank.value}).node,
                          .pieces = {},
                          .passes = {},
                          .streams = {}});
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
        part.idle = idle_share(part.pieces);
        const auto& records = run.graph.records();
        for (StreamPart& stream : part.streams)
            for (const std::uint32_t index : stream.records)
                stream.slices += slices_of(records[index]);
        std::erase_if(part.streams, [](const StreamPart& stream) { return stream.slices == 0; });
        const auto& streams = run.graph.program().streams;
        std::stable_sort(part.streams.begin(), part.streams.end(),
                         [&](const StreamPart& a, const StreamPart& b) {
                             return stream_place(streams[a.stream.value].kind) <
                                    stream_place(streams[b.stream.value].kind);
                         });
        if (!part.streams.empty() &&
            streams[part.streams.front().stream.value].kind == StreamKind::compute)
            for (std::size_t level = 0; level < pass_level_count; ++level)
                part.passes[level] = passes_of(run.graph, part.streams.front().records,
                                               static_cast<PassLevel>(level));
    }

    std::string group_of(const LanePart& part) const
    {
        return order_ == LaneOrder::stage
                   ? stage_name(runs_[part.run]->outcome->plan->program, part.stage)
                   : fmt::format("node {}", part.node.value);
    }

    // Groups are lines of their own where they hold several of the ranks shown.
    bool shows_groups() const
    {
        if (order_ == LaneOrder::idle)
            return false;
        std::map<std::string, std::set<RankId>> ranks;
        for (const LanePart& part : parts_)
            ranks[group_of(part)].insert(part.rank);
        return ranks.size() > 1 && ranks.size() < parts_.size() / runs_.size();
    }

    void lay_out()
    {
        const bool groups = shows_groups();
        std::uint32_t group = nothing;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (groups && (i == 0 || group_of(parts_[i]) != group_of(parts_[i - 1]))) {
                close(group);
                group = add_track({.kind = TrackKind::group, .name = group_of(parts_[i])});
            }
            add_rank(parts_[i], group);
        }
        close(group);
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

    void add_rank(LanePart& part, std::uint32_t group)
    {
        const RecordedRun& run = *runs_[part.run];
        const std::uint8_t depth = group == nothing ? 0 : 1;
        Track track{.kind = TrackKind::rank,
                    .name = fmt::format("rank {}", part.rank.value),
                    .detail = rank_detail(part),
                    .parent = group,
                    .depth = depth,
                    .run = part.run,
                    .rank = part.rank,
                    .lane = part.lane,
                    .stream = StreamId::none()};
        const std::uint32_t rank = add_track(track);
        if (!part.pieces.empty()) {
            part.first_piece = slice_count_;
            data_.tracks[rank].row = add_row(rank, static_cast<std::uint32_t>(part.pieces.size()));
            data_.row_index[row_key(part.run, part.lane, StreamId::none())] =
                data_.tracks[rank].row;
        }
        track.parent = rank;
        track.detail.clear();
        track.depth = static_cast<std::uint8_t>(depth + 1);
        add_passes(part, track);
        for (StreamPart& stream : part.streams) {
            track.kind = TrackKind::stream;
            track.name = run.graph.program().streams[stream.stream.value].name;
            track.stream = stream.stream;
            const std::uint32_t line = add_track(track);
            stream.first = slice_count_;
            data_.tracks[line].row = add_row(line, stream.slices);
            data_.row_index[row_key(part.run, part.lane, stream.stream)] = data_.tracks[line].row;
            close(line);
        }
        close(rank);
    }

    // One line for passes, one for the layers in them.
    void add_passes(LanePart& part, Track track)
    {
        for (std::size_t level = 0; level < pass_level_count; ++level) {
            const auto& passes = part.passes[level];
            if (passes.empty())
                continue;
            track.kind = TrackKind::passes;
            track.name = static_cast<PassLevel>(level) == PassLevel::pass ? "passes" : "layers";
            const std::uint32_t line = add_track(track);
            part.first_pass[level] = slice_count_;
            data_.tracks[line].row = add_row(line, static_cast<std::uint32_t>(passes.size()));
            close(line);
            for (const PassPiece& pass : passes)
                name_id(pass.name);
        }
    }

    std::string rank_detail(const LanePart& part) const
    {
        const Outcome& outcome = *runs_[part.run]->outcome;
        const Lane& lane = outcome.binding->lanes[part.lane.value];
        std::string detail = outcome.plan->program.roles.size() > 1
                                 ? stage_name(outcome.plan->program, lane.role) + ", "
                                 : std::string();
        detail += fmt::format("node {}", part.node.value);
        if (order_ == LaneOrder::idle)
            detail += fmt::format(", idle {:.1f} %", 100 * part.idle);
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
        for (std::size_t level = 0; level < pass_level_count; ++level) {
            at = part.first_pass[level];
            for (const PassPiece& pass : part.passes[level])
                put(at++, {pass.from, pass.to, pass.kind, pass.first}, names_.at(pass.name),
                    part.run);
        }
        for (const StreamPart& stream : part.streams)
            fill(part, stream);
    }

    void fill(const LanePart& part, const StreamPart& stream)
    {
        const RecordGraph& graph = runs_[part.run]->graph;
        const auto& records = graph.records();
        std::uint32_t at = stream.first;
        bool messages = false;
        for (const std::uint32_t index : stream.records) {
            const OpRecord& record = records[index];
            const std::uint32_t name = label_names_[part.run][record.label.value];
            const SimTime moving = moving_from(record);
            messages = messages || record.kind == OpKind::exchange;
            if (moving > record.start)
                put(at++, {record.start, moving, graph.waiting_kind(record), index}, name,
                    part.run);
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
    LaneOrder order_;
    TimelineData data_;
    std::vector<LanePart> parts_;
    std::unordered_map<std::string, std::uint32_t> names_;
    std::vector<std::vector<std::uint32_t>> label_names_;           // by run, LabelId
    std::vector<std::vector<std::array<TimeKind, 5>>> label_kinds_; // by run, LabelId, OpKind
    std::array<std::uint32_t, time_kind_count> kind_names_{};
    std::uint32_t slice_count_ = 0;
};

} // namespace

TimelineData make_timeline_data(std::span<const RecordedRun* const> runs, const WorkControl& work,
                                LaneOrder order)
{
    return Builder(runs, work, order).build();
}

} // namespace trainyard::gui
