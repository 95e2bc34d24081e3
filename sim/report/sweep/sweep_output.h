#pragma once

// Sweeps as text, CSV and JSON.

#include "sim/report/sweep/sweep_row.h"
#include "sim/report/text/paint.h"

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace trainyard {

inline constexpr std::string_view sweep_format = "trainyard.sweep/1";

// Rows in the order of the grid, each as soon as all before it are there. Points finish nearly in
// that order, so few wait.
class GridOrder {
public:
    using Sink = std::function<void(const PointRow&)>;
    // `points`: those that come, in order; absent: all.
    explicit GridOrder(Sink sink, std::optional<std::vector<std::size_t>> points = {})
        : sink_(std::move(sink)), points_(std::move(points))
    {}

    void add(PointRow row);
    // What is left when points before it never came.
    void finish();

private:
    bool is_next(std::size_t index) const;

    Sink sink_;
    std::optional<std::vector<std::size_t>> points_;
    std::map<std::size_t, PointRow> waiting_;
    std::size_t next_ = 0; // place among the points
};

// One line per point: the fields of the grid, then figures in SI units. "leaves_room" says whether
// `headroom`, a share of the device's memory, stays free.
std::string sweep_csv_head(const SweepGrid& grid);
std::string sweep_csv_line(const SweepGrid& grid, const PointRow& row, double headroom);

// One point as JSON; what cannot be has a "reason", its kind, the field at fault or the memory that
// it would need, and no other figures.
Json to_json(const SweepGrid& grid, const PointRow& row, double headroom);
// The same with those figures alone: of rows that know no others (those of a window's sweep).
Json to_json(const SweepGrid& grid, const PointRow& row, double headroom,
             std::span<const Figure* const> figures);

// What a sweep was asked.
struct SweepTitle {
    std::string scenario; // as the user named it
    SweepGrid grid;
    std::vector<FollowingField> following;
    SweepMeasure measure = SweepMeasure::throughput;
    SweepEnd end = {};
    Json asked = {}; // the scenario as it was asked, before any field follows; null: not known
};

// The document around the points, in parts that can be written as points come: head, points with
// commas between them, tail.
std::string sweep_json_head(const SweepTitle& title, double headroom);
std::string sweep_json_tail(const SweepTitle& title, const SweepBest& best);
// The same with points written as the others of the document are.
std::string sweep_json_tail(const SweepTitle& title, const SweepBest& best,
                            const std::function<Json(const PointRow&)>& point);

// Best first, with what to paste; then why the rest cannot be: a line per reason.
std::string sweep_text(const SweepTitle& title, const SweepBest& best, const Paint& paint,
                       std::size_t width = 100);

// "1 point", "12 points"
std::string points_text(std::size_t points);

// "12 points in 350 ms (34.3 points/s)"
std::string speed_text(std::size_t points, Seconds time);

} // namespace trainyard
