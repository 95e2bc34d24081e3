#pragma once

// What can be swept, the values of it that are worth trying on this model and cluster, and which of
// them are chosen.

#include "gui/model/document.h"
#include "gui/new/cluster_draft.h"
#include "sim/study/sweep_space.h"

#include <QStringList>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::gui {

struct AxisRange {
    std::string field; // "strategy.tp"
    QString name;      // "tp"
    QString help;
    std::vector<std::string> values; // as --set takes them; "null": left to the rest
    std::vector<bool> chosen;        // by value
    std::size_t own = 0;             // the scenario's value
    bool swept = false;              // else it stays as the scenario has it

    std::vector<std::string> chosen_values() const;
    bool operator==(const AxisRange&) const = default;
};

// What the scenario has in a field, in the words of `--set`: its default where it says nothing.
// `cluster`: of its topology, where that is generated; else null.
std::string own_value(const Document& document, const std::string& field,
                      const ClusterDraft* cluster);

// The scenario's cluster, where it is a number of nodes of one kind; nothing: its devices are
// listed one by one, or it cannot be read. Reads files.
std::optional<ClusterDraft> cluster_of(const ScenarioFile& file);

// "auto" for what is left to the rest, else the value itself.
QString value_text(const std::string& value);

enum class Preset : std::uint8_t { parallel, memory, cluster, everything };
QString title_of(Preset preset);

// All that the scenario's schema, and that of its cluster, has of what is worth sweeping; nothing
// is swept.
std::vector<AxisRange> ranges_of(const SweepFacts& facts, const Document& document,
                                 const ClusterDraft* cluster = nullptr);

// A sweep of more points is refused: hours, and memory for all of them.
inline constexpr std::size_t most_points = 1'000'000;

// Chooses fields and values; the scenario's own values are always among them. Fields whose values
// would make more than `most_points` of the combinations stay as the scenario has them: their
// names.
QStringList choose(std::vector<AxisRange>& ranges, Preset preset, const SweepFacts& facts);

// A field that is swept, and its values.
struct SweptField {
    std::string field;
    std::vector<std::string> values;

    bool operator==(const SweptField&) const = default;
};
std::vector<SweptField> swept_fields(const std::vector<AxisRange>& ranges);

// Sweeps these fields over these values, as far as they are offered.
void choose_as(std::vector<AxisRange>& ranges, const std::vector<SweptField>& wanted);

} // namespace trainyard::gui
