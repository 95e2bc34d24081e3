#include "sim/strategy/lower/data_loader.h"

#include <algorithm>

namespace trainyard {

DataLoader::DataLoader(StageWriter& writer, int positions) : writer_(writer), positions_(positions)
{
    if (!runs())
        return;
    for (std::vector<EventId>* events : {&read_, &made_, &sent_, &taken_, &relayed_})
        for (int i = 0; i < positions_; ++i)
            events->push_back(writer_.event());
}

EventId DataLoader::at(const std::vector<EventId>& events, int earlier) const
{
    return events[static_cast<std::size_t>((position_ + positions_ - earlier) % positions_)];
}

void DataLoader::before_pass()
{
    if (!runs())
        return;
    if (writer_.job().data->loading.workers == 0)
        load_on_host();
    else
        load();
    send();
    ++position_;
}

// The training process reads and makes the batch itself.
void DataLoader::load_on_host()
{
    host_op("load batch", LoaderPart::read_and_make, {}, at(made_));
    send_ahead();
}

// Places for batches: those being read, being made, and waiting to be taken. One alone is read and
// then made; without any the host asks first.
void DataLoader::load()
{
    const DataLoading& loading = writer_.job().data->loading;
    const std::int64_t places = std::int64_t{loading.workers} * loading.prefetch;
    std::vector<EventId> free;
    if (places == 0) {
        free = {writer_.event()};
        host_op("ask for batch", LoaderPart::wait, {}, free.front());
    } else {
        free = {place(std::max<std::int64_t>(places - 1, 1))};
    }
    const bool serial = places <= 1;
    worker_op("storage", "read batch", LoaderPart::read, serial ? free : std::vector<EventId>{},
              at(read_));
    free.push_back(at(read_));
    worker_op("loader", "make batch", LoaderPart::make, std::move(free), at(made_));
    relay();
    send_ahead();
    host_op("wait for batch", LoaderPart::wait, {at(made_)}, at(taken_));
}

EventId DataLoader::place(std::int64_t earlier)
{
    relays_ = earlier > positions_;
    if (!relays_)
        return at(taken_, static_cast<int>(earlier));
    return at(relayed_, static_cast<int>(std::min<std::int64_t>(earlier - positions_, positions_)));
}

void DataLoader::relay()
{
    if (relays_)
        worker_op("loader queue", "free place", LoaderPart::wait, {at(taken_)}, at(relayed_));
}

// By a thread, once the batch before has been taken: written before the host takes this one.
void DataLoader::send_ahead()
{
    if (writer_.job().data->loading.copy == HostCopy::ahead)
        worker_op("h2d data", "copy batch", LoaderPart::copy, {at(made_), at(taken_, 1)},
                  at(sent_));
}

// In order with compute, or compute waits for the thread's copy.
void DataLoader::send()
{
    const HostCopy copy = writer_.job().data->loading.copy;
    if (copy == HostCopy::ahead)
        compute_stream_op("wait for copy", LoaderPart::wait, {at(sent_)}, false);
    else
        compute_stream_op("copy batch", LoaderPart::copy, {}, copy == HostCopy::blocking);
}

void DataLoader::compute_stream_op(std::string name, LoaderPart part, std::vector<EventId> waits,
                                   bool blocks_host)
{
    PlanBuilder& plan = writer_.plan();
    writer_.op({.op = {.kind = OpKind::copy,
                       .stream = plan.compute_stream(),
                       .kernels = static_cast<std::uint16_t>(part == LoaderPart::copy ? 1 : 0),
                       .label = plan.label(name, Phase::data),
                       .cost = plan.compute({.phase = Phase::data, .loader = part}),
                       .blocks_host = blocks_host},
                .name = name,
                .waits = std::move(waits)});
}

void DataLoader::host_op(std::string name, LoaderPart part, std::vector<EventId> waits,
                         EventId record)
{
    PlanBuilder& plan = writer_.plan();
    writer_.op({.op = {.kind = OpKind::host,
                       .stream = host_stream,
                       .label = plan.label(name, Phase::data),
                       .cost = plan.compute({.phase = Phase::data, .loader = part})},
                .name = name,
                .waits = std::move(waits),
                .record = record});
}

void DataLoader::worker_op(const char* stream, std::string name, LoaderPart part,
                           std::vector<EventId> waits, EventId record)
{
    PlanBuilder& plan = writer_.plan();
    writer_.op({.op = {.kind = OpKind::copy,
                       .stream = plan.worker_stream(stream),
                       .kernels = 0,
                       .label = plan.label(name, Phase::data),
                       .cost = plan.compute({.phase = Phase::data, .loader = part})},
                .name = name,
                .waits = std::move(waits),
                .record = record});
}

} // namespace trainyard
