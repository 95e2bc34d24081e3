#include "calibrate/import/read_sweeps.h"

#include "calibrate/import/log_text.h"
#include "calibrate/import/nccl_json.h"
#include "calibrate/import/nccl_text.h"
#include "calibrate/import/settle.h"
#include "calibrate/import/sweep_checks.h"
#include "calibrate/import/sweep_collection.h"
#include "sim/base/files.h"
#include "sim/base/units.h"
#include "sim/cost/collective_form.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{256} << 20;

ImportedSweeps settle_all(const std::vector<RawSweep>& raws, const SweepHints& hints,
                          const std::string& file, ImportNotes notes)
{
    ImportedSweeps out;
    out.notes = std::move(notes);
    for (const RawSweep& raw : raws) {
        if (auto sweep = settle(raw, hints, file, out.notes))
            out.sweeps.push_back(std::move(*sweep));
        else
            add_note(out.notes.flagged, fmt::format("{}: refused: {}", raw.where, sweep.error()));
    }
    return out;
}

// The notes that come of the sweeps themselves; problems when there are none.
Checked<ImportedSweeps> concluded(ImportedSweeps imported, std::string_view kind,
                                  const std::string& file)
{
    if (imported.sweeps.empty()) {
        Problems problems;
        for (const std::string& flag : imported.notes.flagged)
            problems.push_back({file, 0, "", flag, "", Severity::error});
        if (problems.empty())
            problems = problem_with(file, "no rows of nccl-tests were found",
                                    "a row has size, count, type, time, algbw, busbw");
        return tl::make_unexpected(std::move(problems));
    }
    ImportNotes own;
    add_note(own.understood, fmt::format("{}: {} sweep{}", kind, imported.sweeps.size(),
                                         imported.sweeps.size() == 1 ? "" : "s"));
    for (const Sweep& sweep : imported.sweeps) {
        add_note(own.understood, describe(sweep));
        for (const std::string& flag : sweep.flags)
            add_note(own.flagged, flag);
    }
    for (std::string& flag : disagreements(imported.sweeps))
        add_note(own.flagged, std::move(flag));
    append(own, imported.notes);
    imported.notes = std::move(own);
    return imported;
}

Seconds time_of(const SweepRow& row)
{
    return row.out_of_place ? row.out_of_place->time
           : row.in_place   ? row.in_place->time
                            : Seconds(0);
}

// Collections without printed rates: from size and time.
Bandwidth best_bus_bandwidth(const Sweep& sweep)
{
    Bandwidth best(0);
    const double factor = bus_factor(sweep.collective, sweep.ranks);
    for (const SweepRow& row : sweep.rows)
        for (const auto& timing : {row.out_of_place, row.in_place})
            if (timing)
                best = std::max({best, timing->bus_bandwidth, row.size / timing->time * factor});
    return best;
}

bool looks_like_json(std::string_view text)
{
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
}

Checked<ImportedSweeps> read_json(const Json& json, const std::string& file,
                                  const SweepHints& hints)
{
    if (is_sweep_collection(json))
        return concluded(read_sweep_collection(json, file), "collection of sweeps", file);
    if (is_nccl_json(json)) {
        ImportNotes notes;
        const std::vector<RawSweep> raws = read_nccl_json(json, notes);
        return concluded(settle_all(raws, hints, file, std::move(notes)), "nccl-tests JSON", file);
    }
    return tl::make_unexpected(problem_with(file, "this JSON holds no sweeps of nccl-tests",
                                            "wanted: the output of nccl-tests -J"));
}

} // namespace

Checked<ImportedSweeps> read_sweeps(std::string_view text, const std::string& file,
                                    const SweepHints& hints)
{
    // A log may begin with a bracket ("[1,0]<stdout>:"): what does not parse as JSON is text.
    Problems json_problems;
    if (looks_like_json(text)) {
        Checked<Json> json = parse_json(text, file);
        if (json)
            return read_json(*json, file, hints);
        json_problems = std::move(json.error());
    }
    ImportNotes notes;
    const std::vector<RawSweep> raws = read_nccl_text(text, notes);
    if (raws.empty() && !json_problems.empty() && trimmed(text).starts_with('{'))
        return tl::make_unexpected(std::move(json_problems));
    return concluded(settle_all(raws, hints, file, std::move(notes)), "nccl-tests text", file);
}

Checked<ImportedSweeps> read_sweeps_file(const std::string& path, const SweepHints& hints)
{
    return read_sweeps(read_file(path, most_file_bytes), path, hints);
}

std::string describe(const Sweep& sweep)
{
    const auto [least, most] =
        std::minmax_element(sweep.rows.begin(), sweep.rows.end(),
                            [](const SweepRow& a, const SweepRow& b) { return a.size < b.size; });
    std::string out =
        fmt::format("{} among {} ranks on {} node{}: {} size{}", to_name(sweep.collective),
                    sweep.ranks, sweep.nodes, sweep.nodes == 1 ? "" : "s", sweep.rows.size(),
                    sweep.rows.size() == 1 ? "" : "s");
    if (!sweep.rows.empty())
        out += fmt::format(", {} to {}", to_text(least->size), to_text(most->size));
    if (!sweep.rows.empty())
        out += fmt::format(", {} to {}", to_display(time_of(*least)),
                           to_display(best_bus_bandwidth(sweep)));
    for (const std::string& word : {sweep.data_type, sweep.device})
        if (!word.empty())
            out += ", " + word;
    if (!sweep.nccl_version.empty())
        out += ", NCCL " + sweep.nccl_version;
    return out;
}

} // namespace trainyard
