#include "gui/calibration/measurements.h"

#include "calibrate/import/read_node.h"
#include "calibrate/import/read_pairs.h"
#include "calibrate/import/recognise.h"
#include "calibrate/measure/output/machine_study.h"
#include "calibrate/measure/output/sweeps.h"
#include "calibrate/measure/run/journal.h"
#include "sim/base/files.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

bool is_journal(std::string_view text)
{
    return text.substr(0, text.find('\n')).find(samples_format) != std::string_view::npos;
}

Checked<Measurements> of_journal(const std::string& file)
{
    Checked<MeasuredRun> run = read_journal(file);
    if (!run)
        return tl::unexpected(std::move(run.error()));
    Measurements out;
    out.input.sweeps = collective_sweeps(*run);
    for (PairMatrix& matrix : study_of(*run, std::nullopt).pairs)
        out.pairs.push_back({file, std::move(matrix)});
    for (const std::string& doubt : run->doubts)
        add_note(out.input.notes.flagged, doubt);
    if (!run->ended.empty())
        add_note(out.input.notes.flagged, "the run ended early: " + run->ended);
    if (out.input.sweeps.empty() && out.pairs.empty())
        return rejected(file, "its run measured no collective and no pair",
                        "trainyard calibrate says what it measures");
    return out;
}

bool holds(const std::vector<ImportKind>& kinds, ImportKind kind)
{
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Pairs of a text, and its topology where it has one beside.
Checked<Measurements> of_pairs(const std::string& text, const std::string& file,
                               const std::vector<ImportKind>& kinds)
{
    Checked<ImportedPairs> pairs = read_pairs(text, file);
    if (!pairs)
        return tl::unexpected(std::move(pairs.error()));
    Measurements out;
    for (PairMatrix& matrix : pairs->matrices)
        out.pairs.push_back({file, std::move(matrix)});
    out.input.notes = std::move(pairs->notes);
    if (holds(kinds, ImportKind::topology))
        if (Checked<ImportedTopology> topology = read_node_topology(text, file))
            out.input.node = std::move(topology->map);
    return out;
}

} // namespace

bool is_measurement(const std::string& text)
{
    return is_journal(text) || is_compressed(text) || !recognise_import(text).empty();
}

Checked<Measurements> read_measurements(const std::string& file, const WorkControl& work)
{
    const std::string text = read_file(file);
    work.check();
    const std::vector<ImportKind> kinds = recognise_import(text);
    work.check();
    Measurements out;
    if (is_journal(text)) {
        Checked<Measurements> journal = of_journal(file);
        if (!journal)
            return journal;
        out = std::move(*journal);
    } else if (holds(kinds, ImportKind::nvbandwidth) || holds(kinds, ImportKind::p2p)) {
        Checked<Measurements> pairs = of_pairs(text, file, kinds);
        if (!pairs)
            return pairs;
        out = std::move(*pairs);
        if (holds(kinds, ImportKind::nccl_tests))
            if (Checked<FitInput> sweeps = read_fit_file(file))
                append(out.input, std::move(*sweeps));
    } else {
        Checked<FitInput> sweeps = read_fit_file(file);
        if (!sweeps)
            return tl::unexpected(std::move(sweeps.error()));
        out.input = std::move(*sweeps);
    }
    work.check();
    out.files.push_back(file);
    return out;
}

void append(Measurements& to, Measurements more)
{
    for (std::string& file : more.files)
        if (std::find(to.files.begin(), to.files.end(), file) == to.files.end())
            to.files.push_back(std::move(file));
    for (MeasuredPairs& pairs : more.pairs)
        if (std::none_of(to.pairs.begin(), to.pairs.end(),
                         [&](const MeasuredPairs& one) { return one.matrix == pairs.matrix; }))
            to.pairs.push_back(std::move(pairs));
    append(to.input, std::move(more.input));
}

MatrixVerdicts judge(const Measurements& measured, const PairMatrix& matrix)
{
    return trainyard::judge(matrix,
                            measured.input.node ? classes_of(*measured.input.node) : Words{});
}

} // namespace trainyard::gui
