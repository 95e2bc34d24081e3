#pragma once

// The drawing of a cluster that is being described: the topology view's picture without load.

#include "gui/new/cluster_picture.h"
#include "gui/topology/topology_scene.h"

#include <QWidget>

namespace trainyard::gui {

// Fits it into `size`; without words where `brief`.
enum class SketchDetail : std::uint8_t { full, brief };
void paint_sketch(QPainter& painter, const ClusterPicture& picture, const QSize& size,
                  const QPalette& palette, SketchDetail detail);

class ClusterSketch : public QWidget {
    Q_OBJECT

public:
    explicit ClusterSketch(QWidget* parent = nullptr);

    // Null: none yet.
    void set_picture(std::shared_ptr<const ClusterPicture> picture);
    const std::shared_ptr<const ClusterPicture>& picture() const { return picture_; }
    // What is shown is of before.
    void set_stale(bool stale);
    bool stale() const { return stale_; }

    QSize sizeHint() const override { return {560, 360}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::shared_ptr<const ClusterPicture> picture_;
    bool stale_ = false;
};

} // namespace trainyard::gui
