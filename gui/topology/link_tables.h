#pragma once

// Tables beside the topology: links by how busy they are, and the flows on one.

#include "gui/topology/topology_picture.h"
#include "gui/widgets/panel.h"

#include <QAbstractTableModel>

namespace trainyard::gui {

// A table of rows that are made when they are shown.
class LinkTable : public QAbstractTableModel {
    Q_OBJECT

public:
    static constexpr int sort_role = Qt::UserRole; // numbers as numbers

    using QAbstractTableModel::QAbstractTableModel;

    // The busiest of it; null: none.
    void set_picture(std::shared_ptr<const TopologyPicture> picture);
    LinkId link(int row) const { return picture_->busiest[static_cast<std::size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::shared_ptr<const TopologyPicture> picture_;
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
