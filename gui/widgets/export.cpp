#include "gui/widgets/export.h"

#include "gui/widgets/svg_picture.h"
#include "sim/base/diagnostic.h"
#include "sim/base/files.h"

#include <QBuffer>
#include <QPainter>

namespace trainyard::gui {

QImage picture_of(Panel& panel, const QSize& size, double scale)
{
    QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(panel.palette().color(QPalette::Base));
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(panel.font());
    panel.paint_to(painter, size);
    return image;
}

void write_image(const QImage& image, const std::filesystem::path& file)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    image.save(&buffer, "PNG");
    write_file(file, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

void export_view(Panel& panel, const QSize& size, const std::filesystem::path& file)
{
    const std::string ending = file.extension().string();
    if (ending == ".png")
        write_image(picture_of(panel, size), file);
    else if (ending == ".svg") {
        const QByteArray text = svg_of(panel, size);
        write_file(file, std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
    } else if (ending == ".csv")
        write_file(file, to_csv(panel.table()).toStdString());
    else
        throw WorldError{file.string() + ": views are written as .png, .svg or .csv"};
}

} // namespace trainyard::gui
