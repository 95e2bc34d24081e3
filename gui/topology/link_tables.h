#pragma once

// Tables beside the topology: links by how busy they are, and the flows on one.

#include "gui/topology/topology_run.h"
#include "gui/widgets/panel.h"

#include <QAbstractTableModel>

namespace trainyard::gui {

// A table of rows that are made when they are shown.
class LinkTable : public QAbstractTableModel {
    Q_OBJECT

public:
    static constexpr int sort_role = Qt::UserRole; // numbers as numbers
    static constexpr std::size_t most = 500;       // the busiest

    using QAbstractTableModel::QAbstractTableModel;

    // `loads`: by link.
    void set_loads(std::shared_ptr<const TopologyRun> run, std::vector<double> loads);
    LinkId link(int row) const { return links_[static_cast<std::size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    double share(LinkId link) const;

    std::shared_ptr<const TopologyRun> run_;
    std::vector<double> loads_;
    std::vector<LinkId> links_;
};

class FlowTable : public QAbstractTableModel {
    Q_OBJECT

public:
    static constexpr int sort_role = Qt::UserRole;
    static constexpr std::size_t most = 500;

    using QAbstractTableModel::QAbstractTableModel;

    void set_flows(std::shared_ptr<const TopologyRun> run, LinkFlows flows);
    const LinkFlows& flows() const { return flows_; }
    TableData table() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const LinkFlow& flow, int column) const;
    QVariant number(const LinkFlow& flow, int column) const;

    std::shared_ptr<const TopologyRun> run_;
    LinkFlows flows_;
};

// What the picture shows, bundle by bundle.
struct TopologyScene;
TableData table_of(const TopologyScene& scene);

} // namespace trainyard::gui
