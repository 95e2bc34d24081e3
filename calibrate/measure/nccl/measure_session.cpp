#include "calibrate/measure/nccl/measure_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

namespace trainyard {

namespace {

enum EventUse : std::size_t { begin_event, end_event, other_begin, other_end, throttle_first };

constexpr int chunk = 64; // ops between two events of the throttle
constexpr std::size_t chunks_queued = 4;
constexpr Bytes scratch_size{512};

} // namespace

class MeasureSession::Throttle {
public:
    Throttle(MeasureSession& session, CudaStream stream) : session_(session), stream_(stream) {}

    void issued()
    {
        if (++ops_ % chunk != 0)
            return;
        const std::size_t at = throttle_first + chunks_++ % chunks_queued;
        if (chunks_ > chunks_queued) // the event still stands for the chunk four before this
            session_.await(session_.events_[at]);
        session_.record(session_.events_[at], stream_);
    }

private:
    MeasureSession& session_;
    CudaStream stream_;
    int ops_ = 0;
    std::size_t chunks_ = 0;
};

MeasureSession::MeasureSession(std::shared_ptr<DeviceLibraries> libraries, const GroupSpec& group,
                               int rank, const NcclLimits& limits)
    : libraries_(libraries), group_(std::move(libraries), group, rank), limits_(limits)
{}

MeasureSession::~MeasureSession()
{
    timed_ = {};
    beside_ = {};
    if (scratch_)
        cuda().release(scratch_);
    for (const CudaEvent event : events_)
        cuda().destroy(event);
    for (const CudaStream stream : {main_, side_})
        if (stream)
            cuda().destroy(stream);
}

void MeasureSession::connect(const NcclId& id)
{
    doing_ = "making the communicator";
    last_cache_ = require(cuda(), cuda().device(), "reading the device").last_cache;
    main_ = require(cuda(), cuda().make_stream(), "making a stream");
    side_ = require(cuda(), cuda().make_stream(), "making a stream");
    for (std::size_t i = 0; i < throttle_first + chunks_queued; ++i)
        events_.push_back(require(cuda(), cuda().make_event(), "making an event"));
    scratch_ = require(cuda(), cuda().allocate(scratch_size), "allocating a little memory");
    group_.connect(id);
}

MeasureSession::Lane MeasureSession::make_lane(std::unique_ptr<PreparedWork> work,
                                               CudaStream stream)
{
    Lane lane;
    lane.arena = DeviceArena(cuda(), work->slot(), last_cache_);
    lane.arena.fill_random(work->type(), stream);
    lane.work = std::move(work);
    lane.stream = stream;
    return lane;
}

void MeasureSession::prepare(const TimedWork& work)
{
    timed_ = {}; // its memory is needed for what comes
    beside_ = {};
    repeats_ = 0;
    doing_ = describe(work);
    if (const std::string why = not_with_forced(group_.spec(), work); !why.empty())
        throw MeasureFailure{FailureKind::refused, why, "measure it with algorithm auto"};
    if (const auto* both = std::get_if<BesideWork>(&work)) {
        Lane collective = make_lane(prepare_collective(cuda(), group_, both->collective), main_);
        Lane local = make_lane(prepare_local(cuda(), both->local), side_);
        timed_ = std::move(both->times_collective ? collective : local);
        beside_ = std::move(both->times_collective ? local : collective);
        repeats_ = both->repeats;
    } else if (const auto* collective = std::get_if<CollectiveWork>(&work)) {
        timed_ = make_lane(prepare_collective(cuda(), group_, *collective), main_);
    } else if (const auto* exchange = std::get_if<ExchangeWork>(&work)) {
        timed_ = make_lane(prepare_exchange(cuda(), group_, *exchange), main_);
    } else if (const auto* ping_pong = std::get_if<PingPongWork>(&work)) {
        timed_ = make_lane(prepare_ping_pong(cuda(), group_, *ping_pong), main_);
    } else {
        timed_ = make_lane(prepare_local(cuda(), std::get<LocalWork>(work)), main_);
    }
    for (const CudaStream stream : {main_, side_}) {
        record(events_[end_event], stream);
        await(events_[end_event]);
    }
}

BatchTime MeasureSession::run(int ops)
{
    if (!timed_.work)
        throw MeasureFailure{FailureKind::refused, group_.who() + ": nothing is prepared", ""};
    if (beside_.work)
        return run_beside(ops);
    switch (timed_.work->style()) {
    case TimingStyle::waited:
        return {run_waited(ops)};
    case TimingStyle::host_issue:
        return {run_issue(ops)};
    case TimingStyle::graph:
        return {run_graph(ops)};
    case TimingStyle::queued:
        break;
    }
    return {run_queued(ops)};
}

// On the device: ranks are together when its last kernel ends, and what is queued behind it starts
// without the host.
void MeasureSession::barrier()
{
    if (group_.alone())
        return;
    group_.require(group_.api().all_reduce(scratch_, scratch_, 1, NcclType::uint8,
                                           NcclOperator::sum, group_.comm(), main_),
                   "the barrier");
}

Seconds MeasureSession::run_queued(int ops)
{
    barrier();
    Throttle throttle(*this, main_);
    record(events_[begin_event], main_);
    for (int op = 0; op < ops; ++op) {
        timed_.issue(op);
        throttle.issued();
    }
    record(events_[end_event], main_);
    await(events_[end_event]);
    return require(cuda(), cuda().elapsed(events_[begin_event], events_[end_event]),
                   "reading the time");
}

Seconds MeasureSession::run_waited(int ops)
{
    barrier();
    require(cuda(), cuda().synchronize(main_), "waiting for the barrier");
    const Seconds start = cuda().host_time();
    for (int op = 0; op < ops; ++op) {
        timed_.issue(op);
        require(cuda(), cuda().synchronize(main_), doing_);
    }
    return cuda().host_time() - start;
}

// A queue that is full would make the host wait for the device: chunks start with an empty one.
Seconds MeasureSession::run_issue(int ops)
{
    barrier();
    Seconds spent(0);
    for (int first = 0; first < ops; first += chunk) {
        record(events_[begin_event], main_);
        await(events_[begin_event]);
        const Seconds start = cuda().host_time();
        for (int op = first; op < std::min(ops, first + chunk); ++op)
            timed_.issue(op);
        spent += cuda().host_time() - start;
    }
    record(events_[end_event], main_);
    await(events_[end_event]);
    return spent;
}

Seconds MeasureSession::run_graph(int ops)
{
    const auto issue_all = [&] {
        for (int op = 0; op < ops; ++op)
            timed_.issue(op);
    };
    const CudaGraph graph = require(cuda(), cuda().capture(main_, issue_all), "capturing a graph");
    // The first replay also loads it.
    require(cuda(), cuda().replay(graph, main_), doing_);
    barrier();
    record(events_[begin_event], main_);
    require(cuda(), cuda().replay(graph, main_), doing_);
    record(events_[end_event], main_);
    await(events_[end_event]);
    require(cuda(), cuda().destroy(graph), "freeing a graph");
    return require(cuda(), cuda().elapsed(events_[begin_event], events_[end_event]),
                   "reading the time");
}

// The other work starts first and the timed one waits for that; both are queued in turn, so that
// neither waits for the host while the other is queued.
BatchTime MeasureSession::run_beside(int ops)
{
    barrier();
    record(events_[begin_event], main_);
    require(cuda(), cuda().wait(side_, events_[begin_event]), "ordering streams");
    record(events_[other_begin], beside_.stream);
    require(cuda(), cuda().wait(timed_.stream, events_[other_begin]), "ordering streams");
    record(events_[begin_event], timed_.stream);

    Throttle throttle(*this, timed_.stream);
    int others = 0;
    const auto issue_others = [&](std::int64_t until) {
        for (; others < until; ++others)
            beside_.issue(others);
    };
    for (int op = 0; op < ops; ++op) {
        const std::int64_t share = (static_cast<std::int64_t>(op) + 1) * repeats_ / ops;
        issue_others(std::clamp<std::int64_t>(share, 1, repeats_));
        timed_.issue(op);
        throttle.issued();
    }
    issue_others(repeats_);
    record(events_[end_event], timed_.stream);
    record(events_[other_end], beside_.stream);
    await(events_[end_event]);
    await(events_[other_end]);
    const auto since_begin = [&](EventUse event) {
        return require(cuda(), cuda().elapsed(events_[begin_event], events_[event]),
                       "reading the time");
    };
    return {since_begin(end_event), since_begin(other_end) >= since_begin(end_event)};
}

std::optional<std::int64_t> MeasureSession::wrong_elements()
{
    if (!timed_.work)
        throw MeasureFailure{FailureKind::refused, group_.who() + ": nothing is prepared", ""};
    std::byte* slot = timed_.arena.slot(0);
    timed_.work->fill_known(slot, timed_.stream);
    for (int op = 0; op < timed_.work->checked_ops(); ++op)
        timed_.work->issue(op, slot, timed_.stream);
    record(events_[end_event], timed_.stream);
    await(events_[end_event]);
    const std::optional<std::int64_t> wrong = timed_.work->wrong(slot, timed_.stream);
    timed_.arena.fill_random(timed_.work->type(), timed_.stream);
    return wrong;
}

void MeasureSession::record(CudaEvent event, CudaStream stream)
{
    require(cuda(), cuda().record(event, stream), "recording an event");
}

void MeasureSession::await(CudaEvent event)
{
    const auto deadline = std::chrono::steady_clock::now() + limits_.batch;
    for (int looks = 0; !require(cuda(), cuda().done(event), doing_); ++looks) {
        if (stop_)
            give_up(FailureKind::aborted, "aborted");
        if (looks % 64 == 0) {
            try {
                group_.check(doing_);
            } catch (const MeasureFailure&) {
                group_.abort();
                throw;
            }
            if (std::chrono::steady_clock::now() >= deadline)
                give_up(FailureKind::timed_out, "not done after " + seconds_text(limits_.batch));
        }
        if (looks > 2000) // a long batch: leave the core to others
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

void MeasureSession::give_up(FailureKind kind, const std::string& why)
{
    group_.abort();
    throw MeasureFailure{
        kind, fmt::format("{}, {}: {}", group_.who(), doing_, why),
        kind == FailureKind::timed_out
            ? "a peer or a link hangs: see which rank has no such message, and run "
              "again with NCCL_DEBUG=INFO"
            : ""};
}

} // namespace trainyard
