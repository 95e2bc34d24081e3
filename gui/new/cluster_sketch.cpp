#include "gui/new/cluster_sketch.h"

#include "gui/widgets/panel.h"

namespace trainyard::gui {

namespace {

// A picture as small as an icon has no room for letters.
constexpr int letters_of_icons = 1; // pixels

} // namespace

void paint_sketch(QPainter& painter, const ClusterPicture& picture, const QSize& size,
                  const QPalette& palette, SketchDetail detail)
{
    if (!picture.layout) {
        paint_message(painter, size,
                      ClusterSketch::tr("A cluster of so many GPUs is not drawn; it can be used."),
                      palette);
        return;
    }
    TopologyScene scene;
    scene.layout = picture.layout.get();
    scene.uses = picture.uses;
    scene.shown = detail == SketchDetail::brief ? ShownLinks::none : ShownLinks::capacity;
    scene.colours = LinkColours(palette);
    scene.font = painter.font();
    if (detail == SketchDetail::brief)
        scene.font.setPixelSize(letters_of_icons);
    scene.view = fitted(scene, size);
    paint_topology(painter, scene, size);
}

ClusterSketch::ClusterSketch(QWidget* parent) : QWidget(parent)
{
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(280, 160);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Drawing of the cluster"));
}

void ClusterSketch::set_picture(std::shared_ptr<const ClusterPicture> picture)
{
    picture_ = std::move(picture);
    stale_ = false;
    update();
}

void ClusterSketch::set_stale(bool stale)
{
    stale_ = stale;
    update();
}

void ClusterSketch::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setFont(font());
    const LinkColours colours(palette());
    painter.fillRect(rect(), colours.background);
    if (!picture_) {
        paint_message(painter, size(), tr("The cluster is drawn here."), palette());
        return;
    }
    paint_sketch(painter, *picture_, size(), palette(), SketchDetail::full);
    if (stale_) {
        QColor veil = colours.background;
        veil.setAlphaF(0.6F);
        painter.fillRect(rect(), veil);
    }
}

} // namespace trainyard::gui
