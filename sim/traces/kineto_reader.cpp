#include "sim/traces/kineto_reader.h"

#include "sim/traces/event_draft.h"
#include "sim/traces/host_ops.h"
#include "sim/traces/kineto_header.h"
#include "sim/traces/list_text.h"
#include "sim/traces/trace_sax.h"

#include <fmt/core.h>

#include <limits>
#include <map>

namespace trainyard {
namespace {

constexpr std::size_t longest_list = 4096; // characters of an argument that is kept

// Takes nlohmann's events: the members of the file to the header, those of an event to its draft.
class KinetoEvents final : public TraceSax {
public:
    KinetoEvents(const JsonStream& stream, const std::string& file) : TraceSax(stream, file) {}

    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t value) override { return integer(value); }
    bool number_unsigned(number_unsigned_t value) override
    {
        constexpr number_unsigned_t most = std::numeric_limits<std::int64_t>::max();
        if (value > most && in_event() && draft_.take_id(field_, value))
            return true;
        return integer(static_cast<std::int64_t>(std::min(value, most)));
    }
    bool number_float(number_float_t value, const string_t& written) override
    {
        if (in_event())
            draft_.number(field_, value, written);
        return true;
    }
    bool string(string_t& value) override
    {
        if (list_.active())
            list_.add(value);
        else if (in_event())
            draft_.text(field_, value);
        else if (!events_depth_)
            header_.text(place_, value);
        return true;
    }

    bool key(string_t& name) override
    {
        field_ = in_event() || !events_depth_ ? kineto_field(name) : KinetoField::other;
        if (events_depth_ && is_argument(field_) != in_arguments())
            field_ = KinetoField::other;
        if (!events_depth_)
            place_.back() = field_;
        return true;
    }

    bool start_object(std::size_t) override
    {
        if (!events_depth_) {
            header_.begin_object(std::span(place_).first(depth_ == 0 ? 0 : place_.size()));
            place_.push_back(KinetoField::other);
        } else if (depth_ == *events_depth_) {
            draft_.clear();
        }
        return deeper();
    }
    bool end_object() override
    {
        --depth_;
        if (!events_depth_)
            place_.pop_back();
        else if (depth_ == *events_depth_)
            return keep();
        return true;
    }
    bool start_array(std::size_t) override
    {
        const bool all = depth_ == 0 || (depth_ == 1 && field_ == KinetoField::trace_events);
        if (all && !events_depth_)
            events_depth_ = depth_ + 1;
        else if (in_arguments() && !list_.active() &&
                 (field_ == KinetoField::shapes || field_ == KinetoField::types))
            list_.begin(draft_.list_of(field_), depth_);
        if (list_.active())
            list_.open();
        return deeper();
    }
    bool end_array() override
    {
        --depth_;
        if (list_.active())
            list_.close(depth_);
        if (events_depth_ && depth_ < *events_depth_)
            events_depth_.reset();
        return true;
    }

    // What the file as a whole says goes to each of its ranks. Requires that all was read.
    std::vector<RankTrace> take_ranks()
    {
        std::vector<RankTrace> out;
        for (auto& [process, rank] : ranks_) {
            rank.file = file();
            rank.events = events_;
            if (header_.simulated())
                rank.rank = static_cast<int>(process);
            header_.describe(rank);
            const TraceTime base = header_.base();
            for (DeviceEvent& event : rank.device_events)
                event.span = {event.span.start + base, event.span.end + base};
            for (HostEvent& event : rank.host_events)
                event.span = {event.span.start + base, event.span.end + base};
            for (TraceMessage& message : rank.messages)
                if (message.moving_from > TraceTime())
                    message.moving_from += base;
            out.push_back(std::move(rank));
        }
        return out;
    }
    std::uint64_t known_events() const { return known_; }

private:
    // Within the members of an event or of its arguments.
    bool in_event() const
    {
        return events_depth_ && (depth_ == *events_depth_ + 1 || in_arguments());
    }
    bool in_arguments() const { return events_depth_ && depth_ == *events_depth_ + 2; }

    bool integer(std::int64_t value)
    {
        if (list_.active())
            list_.add(fmt::format("{}", value));
        else if (in_event())
            draft_.integer(field_, value);
        else if (!events_depth_)
            header_.integer(place_, value);
        return true;
    }

    bool keep()
    {
        ++events_;
        known_ += draft_.kept() ? 1 : 0;
        if (draft_.kept() && !draft_.readable_times())
            return refuse("a time that is no number", "ts and dur are microseconds");
        if (!draft_.good_times())
            return refuse("a time beyond any clock's", "ts and dur are microseconds");
        if (draft_.kept() && !within_a_year(draft_.span()))
            return refuse("an event more than a year from others of its file",
                          "ts and dur are microseconds");
        draft_.keep(ranks_[header_.simulated() ? draft_.process() : 0]);
        return true;
    }

    bool within_a_year(const TraceSpan& span)
    {
        constexpr TraceTime year(31'556'952'000'000'000);
        recorded_ = recorded_ ? TraceSpan{std::min(recorded_->start, span.start),
                                          std::max(recorded_->end, span.end)}
                              : span;
        return recorded_->length() <= year;
    }

    KinetoHeader header_;
    EventDraft draft_;
    std::map<std::int64_t, RankTrace> ranks_; // by process; one where the trace was recorded
    std::vector<KinetoField> place_;          // members from the file's on, outside the events
    KinetoField field_ = KinetoField::other;
    std::optional<std::size_t> events_depth_; // inside the list of events: the depth of each
    ListText list_{longest_list};
    std::optional<TraceSpan> recorded_; // from the first event's start to the last one's end
    std::uint64_t events_ = 0;
    std::uint64_t known_ = 0;
};

} // namespace

Checked<std::vector<RankTrace>> read_kineto(TraceBytes& bytes)
{
    const std::string& file = bytes.file();
    KinetoEvents events(bytes.stream(), file);
    const bool whole = nlohmann::json::sax_parse(JsonStreamIterator(bytes.stream()),
                                                 JsonStreamIterator(), &events);
    if (Problems cut = bytes.cut(); !cut.empty())
        return tl::unexpected(std::move(cut));
    if (!whole)
        return tl::unexpected(std::move(events.problems()));
    if (events.known_events() == 0)
        return rejected(file, "holds no event of PyTorch's profiler",
                        "a trace that torch.profiler exported is expected (events of the "
                        "categories cpu_op, kernel, cuda_runtime, ...), or an execution trace");
    std::vector<RankTrace> ranks = events.take_ranks();
    std::erase_if(
        ranks, [](RankTrace& rank) { return rank.device_events.empty() && !take_host_ops(rank); });
    if (ranks.empty())
        return rejected(file, "holds no event of a GPU, nor an op that the host's cores computed",
                        "profile with ProfilerActivity.CUDA; the host's part of a GPU's job, or of "
                        "another accelerator's, does not tell where a step's time goes");
    return ranks;
}

Checked<std::vector<RankTrace>> read_kineto(const std::string& file, const WorkControl& work)
{
    TraceBytes bytes(file, work);
    if (Problems problems = bytes.unreadable(); !problems.empty())
        return tl::unexpected(std::move(problems));
    return read_kineto(bytes);
}

} // namespace trainyard
