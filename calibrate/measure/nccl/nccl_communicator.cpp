#include "calibrate/measure/nccl/nccl_communicator.h"

#include "calibrate/measure/nccl/topology_dump.h"

#include <fmt/core.h>

#include <thread>

namespace trainyard {

namespace {

constexpr const char* start_again =
    "the call never came back: start this process again; NCCL_DEBUG=INFO shows where it hangs";

} // namespace

void run_bounded(DeviceThread& thread, const BoundedCall& bounds, std::function<void()> call,
                 const std::atomic<bool>& stop, std::function<void()> unblock)
{
    if (thread.busy())
        throw MeasureFailure{FailureKind::broken,
                             fmt::format("{}: an earlier call still hangs", bounds.doing),
                             start_again};
    const std::atomic<bool> never{false};
    thread.start(std::move(call));
    const CallEnd ended = thread.finish(bounds.limit, stop);
    if (ended == CallEnd::returned)
        return;
    // Sessions end by themselves, with better words, where their libraries come back.
    if (thread.finish(bounds.grace, never) == CallEnd::returned)
        return;
    std::thread(std::move(unblock)).detach();
    CallEnd last = CallEnd::late;
    try {
        last = thread.finish(bounds.grace, never);
    } catch (const MeasureFailure&) { // of being aborted
        last = CallEnd::returned;
    }
    throw MeasureFailure{
        ended == CallEnd::stopped ? FailureKind::aborted : FailureKind::timed_out,
        ended == CallEnd::stopped ? fmt::format("{}: aborted", bounds.doing)
                                  : fmt::format("{}: the library did not come back within {}",
                                                bounds.doing, seconds_text(bounds.limit)),
        last == CallEnd::returned ? "a peer or a link hangs: see which rank has no such message"
                                  : start_again};
}

NcclCommunicator::NcclCommunicator(std::shared_ptr<DeviceThread> thread,
                                   std::shared_ptr<MeasureSession> session,
                                   const NcclLimits& limits)
    : thread_(std::move(thread)), session_(std::move(session)), limits_(limits)
{}

// On the device thread, bounded as everything else: freeing memory waits for the device. A thread
// that hangs keeps the session as it is.
NcclCommunicator::~NcclCommunicator()
{
    if (thread_->busy())
        return;
    const std::string doing = session_->group().who() + ", ending";
    try {
        auto last = std::make_shared<std::shared_ptr<MeasureSession>>(std::move(session_));
        const std::atomic<bool> never{false};
        run_bounded(
            *thread_, {doing, limits_.batch, limits_.grace}, [last] { last->reset(); }, never,
            [] {});
    } catch (const MeasureFailure&) {
        // Nobody can do anything about it; the next call on the thread says that it hangs.
    }
}

void NcclCommunicator::call(const std::string& doing, std::chrono::milliseconds limit,
                            std::function<void(MeasureSession&)> action)
{
    std::shared_ptr<MeasureSession> session = session_;
    run_bounded(
        *thread_, {doing, limit, limits_.grace}, [session, action] { action(*session); },
        session_->stopped(), [session] { session->group().abort(); });
}

void NcclCommunicator::connect(const NcclId& id)
{
    call(session_->group().who() + ", making the communicator", limits_.create,
         [id](MeasureSession& session) { session.connect(id); });
}

std::string NcclCommunicator::connect_and_dump(const NcclId& id)
{
    const auto text = std::make_shared<std::string>();
    call(session_->group().who() + ", making the communicator", limits_.create,
         [id, text](MeasureSession& session) {
             if (session.group().alone())
                 return session.connect(id);
             const TopologyDump dump(session.group().api(), session.group().rank());
             session.connect(id);
             *text = dump.text();
         });
    return *text;
}

void NcclCommunicator::prepare(const TimedWork& work)
{
    doing_ = session_->group().who() + ", " + describe(work);
    call(doing_, limits_.batch, [work](MeasureSession& session) { session.prepare(work); });
}

BatchTime NcclCommunicator::run(int ops)
{
    const auto time = std::make_shared<BatchTime>();
    // A batch may take the session's limit once for every chunk of ops; what hangs inside a call
    // is noticed a little later than what hangs on the device.
    const int chunks = ops / 64 + 2;
    call(doing_, limits_.batch * chunks,
         [time, ops](MeasureSession& session) { *time = session.run(ops); });
    return *time;
}

std::optional<std::int64_t> NcclCommunicator::wrong_elements()
{
    const auto wrong = std::make_shared<std::optional<std::int64_t>>();
    call(doing_, 2 * limits_.batch,
         [wrong](MeasureSession& session) { *wrong = session.wrong_elements(); });
    return *wrong;
}

} // namespace trainyard
