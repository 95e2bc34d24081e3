#pragma once

// Writes what brings the samples of each micro-batch to the device: storage reads, the loader's
// work, copies, and the host waiting for them.
//
// Reading and making batches, and copies that run ahead, are workers' ops: they start by themselves
// once their batch has a place. A place falls free when the host takes a batch: with n batches
// ahead a batch is begun when the one n before it has been taken. Waits reach one step back and,
// relayed once, two; a longer queue changes nothing once steps repeat: making, copying and
// computing a batch one after the other take at most three times the slowest of them, in which
// three batches are taken. Reading is let run free of making unless only one batch may be under
// way.

#include "sim/strategy/lower/stage_writer.h"

namespace trainyard {

class DataLoader {
public:
    // `positions`: passes of this stage and step that begin with the input. None: nothing is
    // loaded. The writer must outlive the loader.
    DataLoader(StageWriter& writer, int positions);

    // Before a pass that begins with the input.
    void before_pass();

private:
    bool runs() const { return positions_ > 0 && writer_.job().data.has_value(); }
    void load();
    void load_on_host();
    void send_ahead();
    void send();
    void host_op(std::string name, LoaderPart part, std::vector<EventId> waits, EventId record);
    void compute_stream_op(std::string name, LoaderPart part, std::vector<EventId> waits,
                           bool blocks_host);
    void worker_op(const char* stream, std::string name, LoaderPart part,
                   std::vector<EventId> waits, EventId record);
    // Gives the place that falls free when the batch `earlier` before this one is taken.
    EventId place(std::int64_t earlier);
    // Written behind those who wait for what it relayed a step ago.
    void relay();
    // The event of this position, or of the one `earlier` before it.
    EventId at(const std::vector<EventId>& events, int earlier = 0) const;

    StageWriter& writer_;
    int positions_;
    int position_ = 0;
    // By position.
    std::vector<EventId> read_;
    std::vector<EventId> made_;
    std::vector<EventId> sent_;
    std::vector<EventId> taken_;
    std::vector<EventId> relayed_; // taken a step ago
    bool relays_ = false;
};

} // namespace trainyard
