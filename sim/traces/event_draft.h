#pragma once

// One event of Kineto's JSON while its members come in, and what is kept of it.

#include "sim/traces/kineto_fields.h"
#include "sim/traces/rank_trace.h"

namespace trainyard {

class EventDraft {
public:
    void clear();

    // A member's value; numbers come as they are written, too.
    void text(KinetoField field, std::string_view value);
    void number(KinetoField field, double value, std::string_view written);
    void integer(KinetoField field, std::int64_t value);
    // Of an id that is beyond integers; false: it is no id.
    bool take_id(KinetoField field, std::uint64_t value);

    // Text of an argument that is a list: "[[8, 512], []]".
    std::string& list_of(KinetoField field)
    {
        return field == KinetoField::types ? types_ : shapes_;
    }

    KinetoCategory category() const { return category_; }
    std::int64_t process() const { return process_; }
    bool on_device() const;
    bool good_times() const { return good_times_; }         // none is out of range
    bool readable_times() const { return readable_times_; } // each is a number
    TraceSpan span() const { return {start_, start_ + length_}; }
    bool kept() const; // by `keep`

    // Adds it to what was read of the rank, if it is of a kind that is kept.
    void keep(RankTrace& rank) const;

private:
    void time(KinetoField field, TraceTime value);
    void number_as_text(KinetoField field, std::string_view value);
    std::uint32_t keep_message(RankTrace& rank) const;
    void keep_device_event(RankTrace& rank) const;
    void keep_host_event(RankTrace& rank) const;

    bool complete_ = false; // "X": with a duration
    bool good_times_ = true;
    bool readable_times_ = true;
    bool backwards_ = false; // its duration is less than nothing
    KinetoCategory category_ = KinetoCategory::not_kept;
    std::int64_t process_ = 0;
    std::uint64_t thread_ = 0;
    TraceTime start_;
    TraceTime length_;
    std::optional<std::int64_t> stream_;
    std::optional<std::int64_t> device_;
    std::uint64_t correlation_ = 0;
    std::uint64_t external_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t in_elements_ = 0;
    std::uint64_t out_elements_ = 0;
    int group_size_ = 0;
    int peer_ = -1;
    TraceTime moving_from_;
    std::optional<Phase> phase_;
    std::string name_;
    std::string shapes_;
    std::string types_;
    std::string collective_;
    std::string dtype_;
    std::string group_;
    std::string purpose_;
    std::string ranks_;
};

// Microseconds as text in nanoseconds; nothing beyond 2.5e18, which no clock shows.
std::optional<TraceTime> nanoseconds(std::string_view microseconds);

} // namespace trainyard
