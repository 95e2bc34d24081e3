#include "tests/validation/loop/gloo_group.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>

namespace trainyard::loop {
namespace {

using Combine = void (*)(void*, const void*, const void*, std::size_t);

template <class T>
void all_reduce(const std::shared_ptr<gloo::Context>& context, std::span<T> values, Combine combine,
                std::uint32_t tag)
{
    gloo::AllreduceOptions options(context);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(combine);
    options.setTag(tag);
    gloo::allreduce(options);
}

} // namespace

GlooGroup::GlooGroup(int rank, int ranks, const std::string& store)
{
    gloo::transport::tcp::attr attributes;
    const char* named = std::getenv("GLOO_SOCKET_IFNAME");
    attributes.iface = named != nullptr ? named : "lo";
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
    gloo::rendezvous::FileStore files(store);
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    context->connectFullMesh(files, device);
    context_ = context;
}

int GlooGroup::rank() const
{
    return context_->rank;
}

int GlooGroup::ranks() const
{
    return context_->size;
}

void GlooGroup::sum(std::span<float> values)
{
    all_reduce(context_, values, static_cast<Combine>(&gloo::sum<float>), tag_++);
}

void GlooGroup::largest(std::span<double> values)
{
    all_reduce(context_, values, static_cast<Combine>(&gloo::max<double>), tag_++);
}

} // namespace trainyard::loop
