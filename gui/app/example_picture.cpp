#include "gui/app/example_picture.h"

#include "gui/new/cluster_sketch.h"
#include "sim/study/inputs.h"

#include <QPainter>

namespace trainyard::gui {

namespace {

std::shared_ptr<const Topology> cluster_of(const std::string& file)
{
    const Checked<ScenarioFile> scenario = read_scenario_file(file);
    if (!scenario)
        return nullptr;
    const Checked<Input> input =
        find_input(scenario->scenario.topology, InputKind::topology, *scenario);
    return input ? check_cluster(input->json, input->file).topology : nullptr;
}

} // namespace

QImage example_picture(const std::string& file, const PictureStyle& style, const WorkControl& work)
{
    std::shared_ptr<const Topology> cluster;
    try {
        cluster = cluster_of(file);
    } catch (const WorldError&) { // whoever opens it says why
        return {};
    }
    if (cluster == nullptr)
        return {};
    const ClusterPicture picture = picture_of(std::move(cluster), work);
    QImage image(style.size * style.scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(style.scale);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    painter.setFont(style.font);
    paint_sketch(painter, picture, style.size, style.palette, SketchDetail::brief);
    return image;
}

} // namespace trainyard::gui
