#pragma once

// Views as files. All throw WorldError; nothing half-written is left.

#include "gui/widgets/panel.h"

#include <QImage>
#include <filesystem>

namespace trainyard::gui {

// The view's own picture; at twice the size where `scale` is 2.
QImage picture_of(Panel& panel, const QSize& size, double scale = 1);

// By the file's ending: .png, .svg or .csv. Throws for any other.
void export_view(Panel& panel, const QSize& size, const std::filesystem::path& file);

void write_image(const QImage& image, const std::filesystem::path& file); // PNG

} // namespace trainyard::gui
