// Sweeps as `trainyard sweep --csv` writes them: the fields of the grid, then figures by name.

#include "sim/api/saved_sweep_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

namespace trainyard {

namespace {

using Cells = std::vector<std::string>;

// Lines of RFC 4180: a quoted cell may hold commas, quotes and line breaks.
class CsvLines {
public:
    explicit CsvLines(std::string_view text) : rest_(text) {}

    // False at the end.
    bool next(Cells& cells)
    {
        cells.clear();
        if (rest_.empty())
            return false;
        begun_ = line_;
        while (true) {
            cells.push_back(cell());
            const char end = rest_.empty() ? '\n' : rest_.front();
            if (!rest_.empty())
                rest_.remove_prefix(1);
            if (end == ',')
                continue;
            ++line_;
            return true;
        }
    }

    int line() const { return begun_; } // of what `next` gave, from one on

private:
    std::string cell()
    {
        std::string out;
        if (!rest_.starts_with('"')) {
            const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
            out = rest_.substr(0, end);
            rest_.remove_prefix(end);
            if (out.ends_with('\r'))
                out.pop_back();
            return out;
        }
        rest_.remove_prefix(1);
        while (!rest_.empty()) {
            const std::size_t quote = std::min(rest_.find('"'), rest_.size());
            out += rest_.substr(0, quote);
            rest_.remove_prefix(std::min(quote + 1, rest_.size()));
            if (!rest_.starts_with('"'))
                break;
            out += '"';
            rest_.remove_prefix(1);
        }
        line_ += static_cast<int>(std::ranges::count(out, '\n'));
        const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
        rest_.remove_prefix(end); // of a quoted cell nothing follows
        return out;
    }

    std::string_view rest_;
    int line_ = 1;
    int begun_ = 1;
};

struct Columns {
    std::vector<std::string> names;
    std::size_t axes = 0; // from the second column on
    std::optional<std::size_t> find(std::string_view name) const
    {
        const auto at = std::ranges::find(names, name);
        return at == names.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(at - names.begin()));
    }
};

std::optional<Columns> columns_of(const Cells& head)
{
    Columns out{head, 0};
    const std::optional<std::size_t> feasible = out.find("feasible");
    const bool known = !head.empty() && head.front() == "point" && feasible && *feasible >= 2 &&
                       out.find("step_time_s") && out.find("reason");
    if (!known)
        return {};
    out.axes = *feasible - 1;
    return out;
}

class CsvRow {
public:
    CsvRow(const Columns& columns, const Cells& cells) : columns_(columns), cells_(cells) {}

    std::string text(std::string_view column) const
    {
        const auto at = columns_.find(column);
        return at ? cells_[*at] : std::string();
    }

    // The values of the axes; of a batch that was moved the one that was asked for.
    std::vector<std::string> values() const
    {
        std::vector<std::string> out(
            cells_.begin() + 1, cells_.begin() + 1 + static_cast<std::ptrdiff_t>(columns_.axes));
        const std::string asked = text("global_batch_asked");
        for (std::size_t axis = 0; axis < columns_.axes && !asked.empty(); ++axis)
            if (columns_.names[axis + 1] == batch_field)
                out[axis] = asked;
        return out;
    }

    std::optional<std::string> read(PointRow& row) const
    {
        row = unknown_row();
        for (std::size_t i = columns_.axes + 1; i < cells_.size(); ++i)
            if (!cells_[i].empty()) {
                char* end = nullptr;
                const double value = std::strtod(cells_[i].c_str(), &end);
                if (*end == '\0')
                    set_figure(row, columns_.names[i], value);
                else if (columns_.names[i] == "step_time_s")
                    return fmt::format("\"step_time_s\" is \"{}\", no number", cells_[i]);
            }
        const std::string feasible = text("feasible");
        if (feasible != "true" && feasible != "false")
            return fmt::format("\"feasible\" is \"{}\", neither true nor false", feasible);
        if (feasible == "true") {
            if (!(row.step_time.value.value() >= 0))
                return "a point that can be, without \"step_time_s\"";
            row.global_batch = std::atoll(text("global_batch").c_str());
            return {};
        }
        row.reason = text("reason");
        if (row.reason.empty())
            row.reason = "cannot be";
        row.hint = text("hint");
        const std::string field = text("at");
        row.hindrance = {field.empty() ? Hindrance::Kind::memory : Hindrance::Kind::input, field};
        return {};
    }

private:
    const Columns& columns_;
    const Cells& cells_;
};

} // namespace

bool begins_as_sweep_csv(std::string_view text)
{
    Cells head;
    return CsvLines(text.substr(0, text.find('\n'))).next(head) && columns_of(head).has_value();
}

Checked<SavedSweep> sweep_from_csv(std::string_view text, const std::string& file,
                                   const WorkControl& work)
{
    CsvLines lines(text);
    Cells cells;
    lines.next(cells);
    const std::optional<Columns> columns = columns_of(cells);
    if (!columns)
        return rejected(file, "no CSV of a sweep: its first line names no fields and figures",
                        "trainyard sweep --csv writes one", 1);
    SavedSweep out;
    out.file = file;
    const auto first = columns->names.begin() + 1;
    GridOfValues places({first, first + static_cast<std::ptrdiff_t>(columns->axes)});
    std::vector<std::vector<std::string>> values;
    while (lines.next(cells)) {
        work.check();
        if (cells.size() == 1 && cells.front().empty())
            continue;
        if (cells.size() != columns->names.size())
            return rejected(file,
                            fmt::format("{} cells where the first line names {}", cells.size(),
                                        columns->names.size()),
                            "the file was cut, or another program has changed it: leave out the "
                            "line, or sweep again",
                            lines.line());
        const CsvRow line(*columns, cells);
        PointRow row;
        if (std::optional<std::string> wrong = line.read(row))
            return rejected(file, std::move(*wrong),
                            "mend the line or leave it out, or sweep again", lines.line());
        values.push_back(line.values());
        places.add(values.back());
        out.rows.push_back(std::move(row));
    }
    std::optional<SweepGrid> grid = places.grid();
    if (!grid && !out.rows.empty())
        return rejected(file, "its fields have more combinations of values than can be counted", "",
                        1);
    if (!grid)
        return rejected(file, "a sweep without points", "", 1);
    // What is "auto" may have come to a value that is asked for as well: the same point.
    std::set<std::size_t> seen;
    std::vector<PointRow> rows;
    for (std::size_t i = 0; i < out.rows.size(); ++i) {
        out.rows[i].index = places.index_of(values[i]);
        if (seen.insert(out.rows[i].index).second)
            rows.push_back(std::move(out.rows[i]));
    }
    if (const std::size_t repeated = out.rows.size() - rows.size(); repeated > 0)
        out.notes = {{file, 0, "",
                      fmt::format("{} of its {} rows repeat the settings of one before them",
                                  repeated, out.rows.size()),
                      "the first of each is taken; a file for each sweep keeps them apart",
                      Severity::warning}};
    out.rows = std::move(rows);
    out.title.grid = std::move(*grid);
    out.title.end = {out.rows.size(), out.rows.size(), false};
    return out;
}

} // namespace trainyard
