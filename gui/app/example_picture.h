#pragma once

#include "sim/base/progress.h"

#include <QFont>
#include <QImage>
#include <QPalette>
#include <string>

namespace trainyard::gui {

struct PictureStyle {
    QSize size;
    double scale = 1; // pixels of the screen to one of `size`
    QPalette palette;
    QFont font;
};

// The cluster of a scenario, drawn small from what its files say. Empty where they cannot be read.
// For the background. Throws Cancelled.
QImage example_picture(const std::string& file, const PictureStyle& style, const WorkControl& work);

} // namespace trainyard::gui
