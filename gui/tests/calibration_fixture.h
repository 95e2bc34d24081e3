#pragma once

// A window that shows measured files.

#include "gui/calibration/calibration_panel.h"
#include "gui/tests/window_fixture.h"

namespace trainyard::gui::test {

inline const std::string logs = "tests/golden/data/nccl_logs/";
inline const std::string reduce_log = logs + "h100_1x8_allreduce_dgxc.txt";

class CalibrationFixture : public WindowFixture {
    Q_OBJECT

protected:
    bool settled() override;
    CalibrationPanel& panel();
    CurvePlot& plot() { return panel().curve().plot(); }
    QUndoStack& undo() { return window_->workspace().document().undo_stack(); }
};

} // namespace trainyard::gui::test
