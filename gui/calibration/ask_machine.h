#pragma once

// Asks what measurements do not say of the machine that they are of.

#include "calibrate/fit/fit_profile.h"

#include <optional>

class QWidget;

namespace trainyard::gui {

// What the files leave open.
struct MachineQuestion {
    bool device = false;  // the GPU
    bool network = false; // between nodes: its class, the NICs of a node and their rate

    bool any() const { return device || network; }
    bool operator==(const MachineQuestion&) const = default;
};

// The device is one of known_devices(), none proposed: a profile of the wrong one gives wrong times
// everywhere. Of the network nothing need be said. Nothing: cancelled.
std::optional<FitRequest> ask_machine(QWidget* parent, const MachineQuestion& question);

} // namespace trainyard::gui
