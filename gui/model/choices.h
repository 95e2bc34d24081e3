#pragma once

// Which values the sliders offer: those that can go with the devices there are.

#include "gui/model/document.h"
#include "gui/model/live_run.h"

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::gui {

// A setting with a slider.
struct Slider {
    std::string field; // "strategy.tp"
    QString name;      // "tp"
};
const std::vector<Slider>& sliders();

// Small to large; the field's own default first where nothing else is known of it. `run`: the
// latest outcome, whose cluster the sizes of groups divide; null before there is one.
QStringList slider_values(const std::string& field, const RunView* run);

// Whether it says anything about the job: experts are only spread where there are some, stages only
// cut where there are several. `given`: what the scenario says, or null.
bool slider_applies(const std::string& field, const RunView* run, const Json* given);

// What the user did when a slider shows `text`. A number of replicas that no longer fits the other
// groups is left to what remains of the cluster. `dp`: what the scenario gives there, or null.
std::vector<Edit> slider_edits(const std::string& field, const QString& text, const Json* dp);

// What a scenario's value is to a slider: a number that is left to the rest shows as "auto".
QString slider_text(const std::string& field, const Json* given);

// Of "8", "25 MiB" and "400 Gb/s"; nothing of "auto".
std::optional<double> number_in(const std::string& value);

// Where a value belongs among others in their order: a number before the first that is larger,
// another text at the end.
std::size_t place_among(const std::vector<std::string>& values, const std::string& value);

} // namespace trainyard::gui
