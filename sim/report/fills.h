#pragma once

// Colours and hatches of kinds of time: told apart by colour-blind readers (Okabe and Ito 2008) and
// in print, since communication is hatched and no two hatches agree.

#include "sim/engine/engine.h"
#include "sim/program/memory.h"
#include "sim/report/timeline/timeline.h"

#include <array>
#include <string_view>

namespace trainyard {

enum class Hatch : std::uint8_t { none, slash, backslash, vertical, horizontal, cross, dots };

struct Fill {
    std::string_view name;
    std::string_view colour; // "#rrggbb"; empty: the colour of idle time on that background
    Hatch hatch = Hatch::none;
    std::string_view ink = "#000000"; // of the hatch
};

// The kind of time that a slice shows; every slice kind has one of its own.
TimeKind time_kind_of(SliceKind kind);

const Fill& fill_of(TimeKind kind);
const Fill& fill_of(SliceKind kind);
// Of what a device holds.
const Fill& fill_of(MemoryKind kind);

// Of series without a meaning of their own; Paul Tol's muted scheme: apart from each other and
// from the kinds of time.
inline constexpr std::array<std::string_view, 8> series_colours{
    "#88ccee", "#cc6677", "#ddcc77", "#117733", "#aa4499", "#44aa99", "#999933", "#882255"};

} // namespace trainyard
