#pragma once

// What kinds of time and of memory are called beside their names in files, and how they are
// painted: told apart by colour-blind readers (Okabe and Ito 2008) and in print, since
// communication is hatched and no two hatches agree.

#include "sim/engine/engine.h"
#include "sim/program/memory.h"

#include <array>
#include <string_view>

namespace trainyard {

enum class Hatch : std::uint8_t { none, slash, backslash, vertical, horizontal, cross, dots };

struct Fill {
    std::string_view colour; // "#rrggbb"; empty: the colour of idle time on that background
    Hatch hatch = Hatch::none;
    std::string_view ink = "#000000"; // of the hatch
};

// What a picosecond was spent on, coarsely.
enum class TimeClass : std::uint8_t {
    compute,       // of the model, optimizer included
    communication, // exposed, and the compute time lost to communication beside it
    idle           // waiting, bubble, host, data
};

struct TimeKindWords {
    TimeClass time_class = TimeClass::idle;
    std::string_view title; // "exposed TP"
    std::string_view slice; // in a timeline, where compute may go on beside it: "TP"
    std::string_view css;   // "tp"
    Fill fill;
};
const TimeKindWords& words_of(TimeKind kind);

inline TimeClass class_of(TimeKind kind)
{
    return words_of(kind).time_class;
}

inline std::string_view title_of(TimeKind kind)
{
    return words_of(kind).title;
}

// In a sentence about what time goes to: "exposed TP", "compute slowed by communication".
std::string_view noun_of(TimeKind kind);

inline std::string_view slice_title_of(TimeKind kind)
{
    return words_of(kind).slice;
}

inline const Fill& fill_of(TimeKind kind)
{
    return words_of(kind).fill;
}

// The kind, apart from kernels, that most of a step is lost in.
TimeKind largest_loss(const std::array<Seconds, time_kind_count>& step);

// Of what a device holds.
const Fill& fill_of(MemoryKind kind);

// Of series without a meaning of their own; Paul Tol's muted scheme: apart from each other and
// from the kinds of time.
inline constexpr std::array<std::string_view, 8> series_colours{
    "#88ccee", "#cc6677", "#ddcc77", "#117733", "#aa4499", "#44aa99", "#999933", "#882255"};

} // namespace trainyard
