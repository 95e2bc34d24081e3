#include "gui/tests/calibration_fixture.h"

namespace trainyard::gui::test {

bool CalibrationFixture::settled()
{
    const bool done = WindowFixture::settled();
    QTest::qWait(30); // queued replots
    return done;
}

CalibrationPanel& CalibrationFixture::panel()
{
    return *static_cast<CalibrationPanel*>(window_->panel(QStringLiteral("calibration")));
}

} // namespace trainyard::gui::test
