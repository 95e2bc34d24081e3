#include "calibrate/import/nccl_text.h"

#include "calibrate/import/bus_ratio.h"
#include "calibrate/import/log_text.h"
#include "calibrate/import/nccl_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::size_t most_sweeps = 10'000;
constexpr std::size_t most_rows = 200'000; // of a file
constexpr int patience = 200;              // lines that an interrupted row waits for its values

class LogReader {
public:
    void read(int number, const std::string& line);
    std::vector<RawSweep> finish(ImportNotes& notes);

private:
    // The rows of one table that belong together.
    struct Table {
        int line = 0;
        std::vector<NcclRow> rows;
    };

    NcclColumns columns_of(const NcclRow& row) const
    {
        return columns_ ? *columns_ : columns_like(row);
    }
    void take_row(int number, NcclRow row);
    void keep(NcclRow row);
    void give_up_pending();
    void read_closing(std::string_view line);
    void close();

    std::optional<NcclColumns> columns_;
    NcclContext context_;
    Table table_;
    std::optional<NcclRow> pending_;
    int waited_ = 0;
    int lost_ = 0;
    std::size_t rows_ = 0;
    std::size_t dropped_rows_ = 0;
    std::vector<RawSweep> sweeps_;
};

// Old tests print milliseconds; the rates tell.
double unit_of_times(const std::vector<NcclRow>& rows, const NcclColumns& columns)
{
    constexpr std::array<double, 2> units{1e-6, 1e-3};
    for (const NcclRow& row : rows) {
        NcclColumns tried = columns;
        for (const double unit : units) {
            tried.seconds_per_unit = unit;
            const auto sweep = sweep_row(row, tried);
            const auto timing = sweep ? sweep->out_of_place : std::nullopt;
            if (timing && timing->algorithm_bandwidth.value() > 0.5e9 &&
                rate_agrees(sweep->size, *timing))
                return unit;
        }
    }
    return columns.seconds_per_unit;
}

bool continues(const NcclRow& before, const NcclRow& row)
{
    return before.data_type == row.data_type && before.reduction == row.reduction &&
           before.root == row.root && row.size >= before.size;
}

void LogReader::read(int number, const std::string& line)
{
    if (const auto heading = read_heading(line)) {
        close();
        columns_ = heading;
        return;
    }
    if (auto row = read_row(line, columns_)) {
        take_row(number, std::move(*row));
        return;
    }
    if (pending_ && continue_row(*pending_, line)) {
        if (is_complete(*pending_, columns_of(*pending_)))
            keep(*std::exchange(pending_, std::nullopt));
        return;
    }
    if (pending_ && ++waited_ > patience)
        give_up_pending();
    read_closing(line);
    read_context(context_, line);
}

void LogReader::take_row(int number, NcclRow row)
{
    give_up_pending();
    if (!table_.rows.empty() && !continues(table_.rows.back(), row))
        close();
    if (table_.rows.empty())
        table_.line = number;
    if (is_complete(row, columns_of(row))) {
        keep(std::move(row));
    } else {
        pending_ = std::move(row);
        waited_ = 0;
    }
}

void LogReader::keep(NcclRow row)
{
    if (rows_ >= most_rows) {
        ++dropped_rows_;
        return;
    }
    ++rows_;
    table_.rows.push_back(std::move(row));
}

void LogReader::give_up_pending()
{
    lost_ += pending_ ? 1 : 0;
    pending_.reset();
}

// The lines below a table: "Avg bus bandwidth    : 2.05774", "Out of bounds values : 0 OK",
// "Collective test concluded: all_reduce_perf".
void LogReader::read_closing(std::string_view line)
{
    const auto bounds = integer_after(line, "Out of bounds values");
    const auto average = number_after(line, "Avg bus bandwidth");
    if (bounds || average)
        close();
    if (sweeps_.empty())
        return;
    RawSweep& last = sweeps_.back();
    if (bounds && !last.out_of_bounds) {
        last.out_of_bounds = bounds;
        last.ended = true;
    }
    if (average && !last.average_bus_bandwidth) {
        last.average_bus_bandwidth = *average * 1e9;
        last.ended = true;
    }
    if (line.find("test concluded") != std::string_view::npos && last.context.program.empty())
        last.context.program = program_in(line);
}

void LogReader::close()
{
    give_up_pending();
    const int lost = std::exchange(lost_, 0);
    Table table = std::exchange(table_, {});
    if (table.rows.empty() || sweeps_.size() >= most_sweeps)
        return;
    NcclColumns columns = columns_of(table.rows.front());
    const double stated =
        std::exchange(columns.seconds_per_unit, unit_of_times(table.rows, columns));
    RawSweep raw;
    raw.where = fmt::format("line {}", table.line);
    raw.lost_rows = lost;
    for (const NcclRow& row : table.rows)
        if (auto values = sweep_row(row, columns))
            raw.rows.push_back(std::move(*values));
        else
            ++raw.lost_rows;
    raw.data_type = table.rows.front().data_type;
    raw.reduction = table.rows.front().reduction;
    raw.root = table.rows.front().root;
    raw.host_time = columns.host_time;
    raw.context = context_;
    if (columns_ && columns.seconds_per_unit != stated)
        raw.context.flags.push_back(
            fmt::format("times taken as {}, which the bandwidths say",
                        columns.seconds_per_unit == 1e-3 ? "milliseconds" : "microseconds"));
    context_.used = true;
    sweeps_.push_back(std::move(raw));
}

std::vector<RawSweep> LogReader::finish(ImportNotes& notes)
{
    close();
    if (dropped_rows_ > 0)
        add_note(notes.ignored,
                 fmt::format("{} rows beyond the first {}", dropped_rows_, most_rows));
    return std::move(sweeps_);
}

} // namespace

std::vector<RawSweep> read_nccl_text(std::string_view text, ImportNotes& notes)
{
    if (text.size() > most_log_bytes) {
        add_note(notes.ignored,
                 fmt::format("what stands behind the first {} MiB", most_log_bytes >> 20));
        text = text.substr(0, most_log_bytes);
    }
    LogReader reader;
    for_each_line(text,
                  [&reader](int number, const std::string& line) { reader.read(number, line); });
    return reader.finish(notes);
}

} // namespace trainyard
