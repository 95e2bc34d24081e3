#pragma once

// The table of nccl-tests: its heading names the columns, its rows are read by them.
//
//     #  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong
//
// Older tests lack `redop` or `root` where a collective has none and print `error` for `#wrong`;
// newer ones may add a timestamp or four columns per side (times of iterations). Whatever stands
// before the size (tags of launchers, time of the log) is passed over: a row is found by its type.

#include "calibrate/import/log_text.h"
#include "calibrate/import/sweep.h"

namespace trainyard {

struct NcclColumns {
    bool has_reduction = true;
    bool has_root = true;
    int sides = 2;                  // out of place and in place
    int extra_per_side = 0;         // columns after #wrong: of iterations
    bool counts_wrong = true;       // #wrong; false: `error`, the largest deviation
    bool host_time = false;         // `cputime`: how long the host took to launch
    double seconds_per_unit = 1e-6; // of the times

    bool operator==(const NcclColumns&) const = default;
};

// The columns that a heading line names; nothing when it is none.
std::optional<NcclColumns> read_heading(std::string_view line);

// A row as it stands, possibly short of values that another line brings.
struct NcclRow {
    std::int64_t size = 0;
    std::int64_t count = 0;
    std::string data_type;
    std::string reduction;
    int root = -1;
    bool out_of_place_blank = false;           // a wide gap where its values would stand
    std::vector<std::optional<double>> values; // after the root: N/A is empty
};

// The row in this line; nothing when the line has none. Without `columns` they are guessed so that
// size / time gives the algorithm bandwidth.
std::optional<NcclRow> read_row(std::string_view line, const std::optional<NcclColumns>& columns);

// Appends the values that a line starts with to a row that was interrupted. False: it has none.
bool continue_row(NcclRow& row, std::string_view line);

// Whether all values of the columns are there.
bool is_complete(const NcclRow& row, const NcclColumns& columns);

// Its timings. Nothing when values are missing, or are no times and rates.
std::optional<SweepRow> sweep_row(const NcclRow& row, const NcclColumns& columns);

// The columns of rows that came without a heading.
NcclColumns columns_like(const NcclRow& row);

} // namespace trainyard
