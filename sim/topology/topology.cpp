#include "sim/topology/topology.h"

#include "sim/topology/topology_model.h"

namespace trainyard {

const std::string& Topology::name() const
{
    return model_->name();
}

int Topology::device_count() const
{
    return model_->device_count();
}

int Topology::node_count() const
{
    return model_->node_count();
}

int Topology::domain_count() const
{
    return model_->domain_count();
}

DeviceAttachment Topology::device(DeviceId id) const
{
    return model_->device(id);
}

NodeNetwork Topology::network(NodeId id) const
{
    return model_->network(id);
}

std::vector<DeviceId> Topology::devices_of(NodeId node) const
{
    return model_->devices_of(node);
}

std::size_t Topology::link_count() const
{
    return model_->link_count();
}

Link Topology::link(LinkId id) const
{
    return model_->link(id);
}

std::string Topology::link_name(LinkId id) const
{
    return model_->link_name(id);
}

std::vector<LinkId> Topology::path(DeviceId from, DeviceId to, std::uint64_t flow) const
{
    FlowHash choice(model_->ecmp_seed(), from, to, flow);
    return model_->route(from, to, choice);
}

} // namespace trainyard
