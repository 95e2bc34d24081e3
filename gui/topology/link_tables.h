#pragma once

// Tables beside the topology: links by how busy they are, and the flows on one.

#include "gui/topology/topology_picture.h"
#include "gui/widgets/columns_model.h"

namespace trainyard::gui {

class LinkTable : public ColumnsModel {
    Q_OBJECT

public:
    explicit LinkTable(QObject* parent);

    // The busiest of it; null: none.
    void set_picture(std::shared_ptr<const TopologyPicture> picture);
    LinkId link(int row) const { return link_of(static_cast<std::size_t>(row)); }

protected:
    std::size_t rows() const override { return picture_ ? picture_->busiest.size() : 0; }

private:
    LinkId link_of(std::size_t row) const { return picture_->busiest[row]; }

    std::shared_ptr<const TopologyPicture> picture_;
};

class FlowTable : public ColumnsModel {
    Q_OBJECT

public:
    static constexpr std::size_t most = 500;

    explicit FlowTable(QObject* parent);

    void set_flows(std::shared_ptr<const TopologyRun> run, LinkFlows flows);
    const LinkFlows& flows() const { return flows_; }

protected:
    std::size_t rows() const override { return flows_.largest.size(); }

private:
    QString operation_of(const LinkFlow& flow) const;
    QString group_of(const LinkFlow& flow) const;
    const Label& label_of(const LinkFlow& flow) const;

    std::shared_ptr<const TopologyRun> run_;
    LinkFlows flows_;
};

// What the picture shows, bundle by bundle.
struct TopologyScene;
TableData table_of(const TopologyScene& scene);

} // namespace trainyard::gui
