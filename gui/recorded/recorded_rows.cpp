#include "gui/recorded/recorded_rows.h"

#include "sim/report/kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

namespace trainyard::gui {

namespace {

class RowsMaker {
public:
    RowsMaker(const JobTrace& job, const TimelineData* simulated) : job_(job), simulated_(simulated)
    {
        if (simulated_ == nullptr)
            return;
        out_.names = simulated_->names;
        out_.origin = simulated_->origin;
        out_.whole = simulated_->whole;
        out_.shift = {simulated_->shift[simulated_run], simulated_->origin};
        out_.run_names = {"simulated", "recorded"};
        for (std::uint32_t n = 0; n < out_.names.size(); ++n)
            names_.emplace(out_.names[n], n);
        row_of_.assign(simulated_->rows.size(), nothing);
    }

    TimelineData make(const RecordedPicture& picture) &&
    {
        std::vector<std::uint32_t> left = blocks(); // of the simulation
        for (const RecordedLane& lane : picture.lanes) {
            add_recorded(lane);
            const RankId rank = rank_of(lane);
            const auto same = std::find_if(left.begin(), left.end(), [&](std::uint32_t track) {
                return simulated_->tracks[track].kind == TrackKind::rank &&
                       simulated_->tracks[track].rank == rank;
            });
            if (same != left.end()) {
                add_simulated(*same);
                left.erase(same);
            }
        }
        for (const std::uint32_t track : left)
            add_simulated(track);
        if (simulated_ != nullptr)
            for (const auto& [key, row] : simulated_->row_index)
                out_.row_index[key] = row_of_[row];
        find_whole(picture);
        return std::move(out_);
    }

private:
    // Tracks that hang in no other.
    std::vector<std::uint32_t> blocks() const
    {
        std::vector<std::uint32_t> out;
        if (simulated_ != nullptr)
            for (std::uint32_t t = 0; t < simulated_->tracks.size(); t = simulated_->tracks[t].end)
                out.push_back(t);
        return out;
    }

    RankId rank_of(const RecordedLane& lane) const
    {
        return make_id<RankId>(static_cast<std::size_t>(job_.ranks[lane.rank].rank));
    }

    std::uint32_t name_id(std::string_view name)
    {
        const auto [at, fresh] =
            names_.try_emplace(std::string(name), static_cast<std::uint32_t>(out_.names.size()));
        if (fresh)
            out_.names.emplace_back(name);
        return at->second;
    }

    std::uint32_t add_row(std::uint32_t track, std::size_t count)
    {
        const auto first = static_cast<std::uint32_t>(out_.slices.size());
        out_.slices.resize(first + count);
        out_.rows.push_back({first, static_cast<std::uint32_t>(count), track});
        return static_cast<std::uint32_t>(out_.rows.size() - 1);
    }

    void put(std::uint32_t at, SimTime start, SimTime end, TimeKind kind)
    {
        out_.slices.start[at] = start + out_.origin;
        out_.slices.end[at] = end + out_.origin;
        out_.slices.kind[at] = kind;
    }

    void add_recorded(const RecordedLane& lane)
    {
        const RankActivity& rank = job_.ranks[lane.rank];
        Track track{.kind = TrackKind::rank,
                    .name = fmt::format("rank {}", rank.rank),
                    .detail = "recorded",
                    .run = recorded_run,
                    .rank = rank_of(lane),
                    .lane = make_id<LaneId>(lane.rank),
                    .stream = StreamId::none()};
        const auto first = static_cast<std::uint32_t>(out_.tracks.size());
        out_.tracks.push_back(track);
        if (!lane.pieces.empty()) {
            const std::uint32_t row = out_.tracks[first].row = add_row(first, lane.pieces.size());
            std::uint32_t at = out_.rows[row].first;
            for (const RecordedPiece& piece : lane.pieces) {
                put(at, piece.start, piece.end, piece.kind);
                out_.slices.name[at] = name_id(title_of(piece.kind));
                out_.slices.record[at++] = no_record;
            }
        }
        track.kind = TrackKind::stream;
        track.detail.clear();
        track.parent = first;
        track.depth = 1;
        for (const RecordedStream& stream : lane.streams)
            if (!stream.slices.empty())
                add_stream(track, rank, stream);
        out_.tracks[first].end = static_cast<std::uint32_t>(out_.tracks.size());
    }

    void add_stream(Track track, const RankActivity& rank, const RecordedStream& stream)
    {
        const auto line = static_cast<std::uint32_t>(out_.tracks.size());
        track.name = fmt::format("stream {}", stream.stream);
        track.end = line + 1;
        track.row = add_row(line, stream.slices.size());
        std::uint32_t at = out_.rows[track.row].first;
        for (const RecordedSlice& slice : stream.slices) {
            put(at, slice.start, slice.end, slice.kind);
            out_.slices.name[at] = name_id(rank.text(rank.ops[slice.op].name));
            out_.slices.record[at++] = slice.op;
        }
        out_.tracks.push_back(std::move(track));
    }

    void add_simulated(std::uint32_t block)
    {
        const std::uint32_t end = simulated_->tracks[block].end;
        const auto shift = static_cast<std::uint32_t>(out_.tracks.size()) - block; // may wrap
        for (std::uint32_t t = block; t < end; ++t) {
            Track track = simulated_->tracks[t];
            track.end += shift;
            if (track.parent != nothing)
                track.parent += shift;
            if (track.kind == TrackKind::rank)
                track.detail = track.detail.empty() ? "simulated" : "simulated, " + track.detail;
            if (track.row != nothing)
                track.row = row_of_[track.row] = copy_row(track.row, t + shift);
            out_.tracks.push_back(std::move(track));
        }
    }

    std::uint32_t copy_row(std::uint32_t of, std::uint32_t track)
    {
        const SliceRow& from = simulated_->rows[of];
        const std::uint32_t row = add_row(track, from.count);
        out_.rows[row].messages = from.messages;
        const auto copy = [&](const auto& source, auto& to) {
            std::copy_n(source.begin() + from.first, from.count, to.begin() + out_.rows[row].first);
        };
        const SliceColumns& source = simulated_->slices;
        copy(source.start, out_.slices.start);
        copy(source.end, out_.slices.end);
        copy(source.kind, out_.slices.kind);
        copy(source.name, out_.slices.name);
        copy(source.record, out_.slices.record);
        return row;
    }

    void find_whole(const RecordedPicture& picture)
    {
        const TimeRange recorded{out_.origin, out_.origin + std::max(picture.end, SimTime(1))};
        out_.whole = simulated_ == nullptr ? recorded
                                           : TimeRange{std::min(out_.whole.from, recorded.from),
                                                       std::max(out_.whole.to, recorded.to)};
    }

    const JobTrace& job_;
    const TimelineData* simulated_; // null: none
    TimelineData out_;
    std::unordered_map<std::string, std::uint32_t> names_;
    std::vector<std::uint32_t> row_of_; // by row of the simulation
};

} // namespace

TimelineData recorded_rows(const JobTrace& job, const RecordedPicture& picture,
                           const TimelineData* simulated)
{
    return RowsMaker(job, simulated).make(picture);
}

} // namespace trainyard::gui
