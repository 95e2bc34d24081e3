#include "gui/new/cluster_picture.h"

#include "gui/model/qt_text.h"
#include "sim/base/units.h"
#include "sim/topology/names.h"
#include "sim/topology/read_topology.h"

#include <QCoreApplication>
#include <QLocale>

namespace trainyard::gui {

namespace {

constexpr int most_drawn = 300'000; // GPUs: some gigabytes of places and links

QString cluster_text(const char* english)
{
    return QCoreApplication::translate("ClusterFacts", english);
}

QString capacity_words(Bandwidth rate)
{
    return text_of(to_display(rate));
}

// "16 of 8 GPUs"
QString sizes_text(const std::map<int, int>& by_size)
{
    QStringList out;
    for (const auto& [size, count] : by_size)
        out << (count == 1 ? cluster_text("one of %L1 GPUs").arg(size)
                           : cluster_text("%L1 of %L2 GPUs").arg(count).arg(size));
    return out.join(QStringLiteral(", "));
}

QString switches_text(const TopologySummary& summary)
{
    QStringList out;
    for (const SwitchLayer& layer : summary.switches)
        out << QStringLiteral("%L1 %2").arg(layer.switches).arg(text_of(layer.name));
    return out.join(QStringLiteral(", "));
}

QString network_words(const TopologySummary& summary)
{
    const NodeNetwork& network = summary.network;
    return cluster_text("%1 per GPU: %2 of %3 a node, %4")
        .arg(capacity_words(summary.network_rate_per_device()))
        .arg(network.nics)
        .arg(capacity_words(network.nic_rate), text_of(network.name));
}

} // namespace

ClusterCheck check_cluster(const Json& topology, const std::string& file)
{
    Checked<TopologyFile> read = inspect_topology(topology, file);
    if (!read)
        return {std::move(read.error()), nullptr};
    return {std::move(read->warnings), std::make_shared<const Topology>(std::move(read->topology))};
}

ClusterPicture picture_of(std::shared_ptr<const Topology> topology, const WorkControl& work)
{
    work.check();
    ClusterPicture out{summarize(*topology), nullptr, {}};
    work.check();
    if (topology->device_count() > most_drawn)
        return out;
    const auto graph = std::make_shared<const ClusterGraph>(std::move(topology));
    work.check();
    out.layout = std::make_shared<const TopologyLayout>(graph);
    out.uses = idle_uses(*out.layout);
    return out;
}

std::vector<ClusterFact> facts_of(const TopologySummary& summary)
{
    std::vector<ClusterFact> out;
    QStringList devices;
    for (const auto& [model, count] : summary.devices_by_model)
        devices << QStringLiteral("%L1 × %2").arg(count).arg(text_of(model));
    out.push_back({cluster_text("GPUs"), devices.join(QStringLiteral(", "))});
    out.push_back({cluster_text("Nodes"), sizes_text(summary.nodes_by_size)});
    out.push_back(
        {cluster_text("NVLink domains"),
         summary.device.nvlink.value() > 0
             ? cluster_text("%1; %2 per GPU each way")
                   .arg(sizes_text(summary.domains_by_size), capacity_words(summary.device.nvlink))
             : cluster_text("none; PCIe %1 per GPU").arg(capacity_words(summary.device.pcie))});
    if (summary.network.transport != Transport::none)
        out.push_back({cluster_text("Network"), network_words(summary)});
    if (!summary.switches.empty())
        out.push_back({cluster_text("Switches"), switches_text(summary)});
    out.push_back({cluster_text("Bisection"),
                   cluster_text("%1 each way").arg(capacity_words(summary.bisection))});
    return out;
}

} // namespace trainyard::gui
