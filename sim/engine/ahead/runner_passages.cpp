// Skips passages whose times were learned: all that they leave behind is known from their start.

#include "sim/engine/ahead/runner.h"
#include "sim/engine/host_issue.h"

#include <algorithm>
#include <bit>

namespace trainyard::engine::ahead {

namespace {

constexpr std::uint8_t most_failures = 8;

// Sums up what is taken of the device until the compute of the passage is over, as no other compute
// begins before that.
void sum_up_takes(PassageTimes& learned, const PassageShape& shape)
{
    const Time over = learned.end[shape.streams[0].ops - 1];
    std::int64_t sum = 0;
    std::erase_if(learned.takes, [&](const DeviceLoad::Change& change) {
        sum += change.at <= over ? change.amount : 0;
        return change.at <= over;
    });
    if (sum != 0)
        learned.takes.push_back({over, sum});
}

} // namespace

// The passage that begins with the head of a stream that computes; null if none does.
const Passage* Runner::passage_at(LaneRun& lane, const StreamRun& stream)
{
    if (!lane.skips_passages)
        return nullptr;
    const std::vector<Passage>& all = lane.passages->all;
    const std::uint32_t o = op_index(stream);
    std::uint32_t& next = lane.next_passage;
    if (next > 0 && all[next - 1].begin >= o)
        next = 0; // another step
    while (next < all.size() && all[next].begin < o)
        ++next;
    return next < all.size() && all[next].begin == o ? &all[next] : nullptr;
}

// Skips the passage at the head of a stream that computes, whose start is known, and those behind
// it. False, and nothing done, if no known passage begins there or something may hold it up.
bool Runner::skip_passages(StreamRun& root)
{
    LaneRun& lane = lanes_[root.lane];
    if (lane.watch.passage != nullptr)
        return false;
    const Passage* const first = passage_at(lane, root);
    if (!skip_passage(root, first)) {
        if (first != nullptr && all_begin(root, *first) &&
            lane.learned[first->shape].state == PassageTimes::State::nothing)
            watch(root, *first);
        return false;
    }
    while (root.state == State::waits && root.op->kind == OpKind::compute && ready(lane, root)) {
        root.start = std::max(root.ready, issued(lane, root));
        if (!skip_passage(root, passage_at(lane, root)))
            break;
    }
    return true;
}

// The same for the first of them, if it is one.
bool Runner::skip_passage(StreamRun& root, const Passage* passage)
{
    LaneRun& lane = lanes_[root.lane];
    // What is beside the passage must have been looked at.
    if (passage == nullptr || !all_begin(root, *passage) ||
        (interferes_ && (lane.open & ~lane.passages->shapes[passage->shape].mask) != 0))
        return false;
    PassageTimes& learned = lane.learned[passage->shape];
    if (learned.state != PassageTimes::State::all || !goes_alike(root, *passage, learned))
        return false;
    const PassageShape& shape = lane.passages->shapes[passage->shape];
    lane.draining &= ~(StreamMask{1} << root.index);
    ++root.version;
    const Time begin = root.start;
    const bool counts = measured(root);
    learned.uses += counts ? times_counted(root) : 0;
    if (interferes_)
        for (const DeviceLoad::Change& change : learned.takes)
            lane.loads.add(begin + change.at, change.amount);
    for (std::size_t s = 0, at = 0; s < shape.streams.size(); at += shape.streams[s++].ops) {
        StreamRun& stream = stream_at(root.lane, shape.streams[s].stream);
        const std::uint32_t ops = shape.streams[s].ops;
        write_times(stream, {learned, at, ops, begin, counts});
        advance_past(stream, ops, begin + learned.end[at + ops - 1]);
    }
    if (interferes_)
        forget(root.lane);
    return true;
}

// Whether all streams of the passage stand at its begin.
bool Runner::all_begin(const StreamRun& root, const Passage& passage) const
{
    const LaneRun& lane = lanes_[root.lane];
    const PassageShape& shape = lane.passages->shapes[passage.shape];
    for (std::size_t s = 1; s < shape.streams.size(); ++s) {
        const StreamRun& stream = stream_at(root.lane, shape.streams[s].stream);
        if (stream.state != State::waits || stream.step != root.step ||
            op_index(stream) != lane.passages->first_of(passage, s))
            return false;
    }
    return true;
}

// Whether nothing from before or beside the passage holds it up.
bool Runner::goes_alike(const StreamRun& root, const Passage& passage,
                        const PassageTimes& learned) const
{
    const LaneRun& lane = lanes_[root.lane];
    const PassageShape& shape = lane.passages->shapes[passage.shape];
    const Time begin = root.start;
    // What is charged from the begin of the measured step on is looked at op by op.
    if (measured(root) && (lane.opened == never || begin < lane.opened))
        return false;
    if (issued(lane, root) + learned.host > begin)
        return false;
    for (std::size_t s = 0, at = 0; s < shape.streams.size(); at += shape.streams[s++].ops) {
        if (s > 0 &&
            stream_at(root.lane, shape.streams[s].stream).ready > begin + learned.start[at])
            return false;
        if (begin + learned.end[at + shape.streams[s].ops - 1] >= longest_sim_time.value())
            return false;
    }
    const Time computed = begin + learned.computed;
    return !interferes_ ||
           (lane.loads.idle(begin, computed) && quiet_beside(root, passage, learned) >= computed);
}

// Until when nothing but the passage takes anything from its compute.
Time Runner::quiet_beside(const StreamRun& root, const Passage& passage,
                          const PassageTimes& learned) const
{
    const LaneRun& lane = lanes_[root.lane];
    const Passages& passages = *lane.passages;
    const PassageShape& shape = passages.shapes[passage.shape];
    Time until = never;
    for (StreamMask left = lane.slowing & ~shape.mask; left != 0; left &= left - 1) {
        const StreamRun& stream =
            stream_at(root.lane, static_cast<std::size_t>(std::countr_zero(left)));
        until = std::min(until, quiet_until(stream, {root, shape, learned}));
    }
    // What follows on its own streams.
    for (std::size_t s = 1, at = shape.streams[0].ops; s < shape.streams.size();
         at += shape.streams[s++].ops)
    {
        const StreamRun& stream = stream_at(root.lane, shape.streams[s].stream);
        if ((lane.slowing >> stream.index & 1) == 0)
            continue;
        const std::uint32_t ops = shape.streams[s].ops;
        const Time over = learned.end[at + ops - 1];
        if (over < learned.computed && !waits_for_all(stream, passages.first_of(passage, s) + ops,
                                                      passage.begin + shape.streams[0].ops))
            until = std::min(until, root.start + over);
    }
    return until;
}

// Whether op `o` of a stream waits for the op before `behind`, of the stream that computes, or for
// a later one.
bool Runner::waits_for_all(const StreamRun& stream, std::uint32_t o, std::uint32_t behind) const
{
    const LaneKind& kind = *lanes_[stream.lane].kind;
    const StreamPlan& plan = kind.streams[stream.index];
    if (o == plan.op_first + plan.op_count)
        return stream.step + 1 == run_.steps;
    if (begins_passage(stream, o))
        return true; // whose first op follows
    const FlatOp& op = kind.ops[o];
    return std::any_of(kind.waits.begin() + op.wait_first,
                       kind.waits.begin() + op.wait_first + op.wait_count,
                       [&](const StepWait& wait) {
                           return !wait.previous_step &&
                                  (lanes_[stream.lane].computing >> wait.stream & 1) != 0 &&
                                  kind.streams[wait.stream].op_first + wait.position + 1 >= behind;
                       });
}

// Whether an op of a stream is the first there of the passage that follows the one at hand.
bool Runner::begins_passage(const StreamRun& stream, std::uint32_t o) const
{
    const LaneRun& lane = lanes_[stream.lane];
    const Passages& passages = *lane.passages;
    if (lane.next_passage + 1 >= passages.all.size())
        return false;
    const Passage& next = passages.all[lane.next_passage + 1];
    const auto& streams = passages.shapes[next.shape].streams;
    for (std::size_t s = 0; s < streams.size(); ++s)
        if (streams[s].stream == stream.index)
            return passages.first_of(next, s) == o;
    return false;
}

// Until when all is known of a stream beside a passage: it follows what the head waits for.
Time Runner::quiet_until(const StreamRun& transfers, const KnownPassage& passage) const
{
    const LaneRun& lane = lanes_[transfers.lane];
    const HostPlan& host = lane.kind->host;
    Time known = 0;
    for (const StreamRun* stream = &transfers;;) {
        if (stream->state == State::finished)
            return never;
        if (stream->state == State::joined)
            return std::max(known, stream->quiet);
        known = std::max(known, stream->ready);
        if (stream->blocked_by != BlockedBy::op && stream->blocked_by != BlockedBy::host)
            return known;
        const bool by_op = stream->blocked_by == BlockedBy::op;
        const std::uint32_t next =
            by_op ? stream->blocking_stream
                  : host.barrier_streams[(lane.bases.size() - 1) % host.barriers];
        const StreamRun& blocking = stream_at(transfers.lane, next);
        if ((passage.shape.mask >> next & 1) != 0)
            return std::max(known, end_in(passage, blocking, by_op ? stream->needed : nobody));
        stream = &blocking;
    }
}

// When a stream of a passage has done so many ops, or all of the passage.
Time Runner::end_in(const KnownPassage& passage, const StreamRun& stream, std::uint32_t done) const
{
    std::size_t at = 0;
    std::size_t s = 0;
    for (; passage.shape.streams[s].stream != stream.index; ++s)
        at += passage.shape.streams[s].ops;
    const std::uint32_t ops = std::min(done - stream.done, passage.shape.streams[s].ops);
    return passage.root.start + passage.learned.end[at + ops - 1];
}

void Runner::write_times(StreamRun& stream, const SkippedOps& skipped)
{
    LaneRun& lane = lanes_[stream.lane];
    const LaneKind& kind = *lane.kind;
    const std::uint32_t o = op_index(stream);
    const std::uint32_t ops = skipped.ops;
    const PassageTimes& learned = skipped.learned;
    const auto put = [&](Time* to, const std::vector<Time>& from) {
        for (std::uint32_t i = 0; i < ops; ++i)
            to[i] = skipped.begin + from[skipped.at + i];
    };
    put(lane.ends.data() + std::size_t{stream.step & step_mask_} * kind.op_count + o, learned.end);
    if (!skipped.measured)
        return;
    replay::LaneTimes& times = accounting_->times(stream.lane);
    put(times.start.data() + o, learned.start);
    put(times.begin.data() + o, learned.start); // nobody is waited for
    put(times.end.data() + o, learned.end);
    put(times.device.data() + o, learned.end); // nor the host
    std::copy_n(learned.work.data() + skipped.at, ops, times.left.data() + o);
    if (interferes_)
        std::copy_n(learned.loads.data() + skipped.at, ops, times.loads.data() + o);
}

// Watches the passage that begins, to learn it, if nothing older or beside it holds it up.
void Runner::watch(const StreamRun& root, const Passage& passage)
{
    LaneRun& lane = lanes_[root.lane];
    const PassageShape& shape = lane.passages->shapes[passage.shape];
    for (std::size_t s = 1; s < shape.streams.size(); ++s)
        if (stream_at(root.lane, shape.streams[s].stream).ready > root.start)
            return;
    if (interferes_ && !lane.loads.idle(root.start, never))
        return;
    PassageTimes& learned = lane.learned[passage.shape];
    learned.ops.resize(shape.ops);
    learned.start.resize(shape.ops);
    learned.end.resize(shape.ops);
    learned.takes.clear();
    lane.watch = {&passage, root.step, shape.ops, root.start};
}

// The place in the shape of a head that is watched; none if it is not.
std::optional<std::size_t> Runner::watched(const StreamRun& stream) const
{
    const LaneRun& lane = lanes_[stream.lane];
    const Passage* const passage = lane.watch.passage;
    if (passage == nullptr || stream.step != lane.watch.step)
        return std::nullopt;
    const PassageShape& shape = lane.passages->shapes[passage->shape];
    for (std::size_t s = 0, at = 0; s < shape.streams.size(); at += shape.streams[s++].ops) {
        const std::uint32_t o = op_index(stream) - lane.passages->first_of(*passage, s);
        if (shape.streams[s].stream == stream.index)
            return o < shape.streams[s].ops ? std::optional(at + o) : std::nullopt;
    }
    return std::nullopt;
}

// Stops watching a passage that something held up.
void Runner::stop_watching(LaneRun& lane)
{
    PassageTimes& learned = lane.learned[lane.watch.passage->shape];
    if (++learned.failures == most_failures)
        learned.state = PassageTimes::State::given_up;
    lane.watch = {};
}

// Notes the times of the head of a stream when it ends, if it is watched.
void Runner::note_watched(const StreamRun& stream, Time end)
{
    LaneRun& lane = lanes_[stream.lane];
    const auto at = watched(stream);
    if (!at)
        return;
    PassageTimes& learned = lane.learned[lane.watch.passage->shape];
    learned.ops[*at] = op_index(stream);
    learned.start[*at] = stream.start - lane.watch.begin;
    learned.end[*at] = end - lane.watch.begin;
    if (--lane.watch.ops_left == 0)
        learn(stream.lane);
}

// Learns the passage that was watched.
void Runner::learn(std::uint32_t l)
{
    LaneRun& lane = lanes_[l];
    const LaneKind& kind = *lane.kind;
    PassageTimes& learned = lane.learned[lane.watch.passage->shape];
    const FlatOp& first = kind.ops[learned.ops[0]];
    learned.computed = 0;
    learned.host = 0;
    learned.work.assign(learned.ops.size(), 0);
    learned.loads.resize(interferes_ ? learned.ops.size() : 0);
    for (std::size_t i = 0; i < learned.ops.size(); ++i) {
        const FlatOp& op = kind.ops[learned.ops[i]];
        const SimTime issue = op.issue_offset - first.issue_offset;
        learned.host = std::max(learned.host, issue.value() - learned.start[i]);
        if (op.kind == OpKind::collective) {
            if (interferes_)
                learned.loads[i] = lane_load(collective_cost(l, op));
            continue;
        }
        const SimTime duration = run_.duration_of(l, op, lane.watch.step);
        learned.host =
            std::max(learned.host, earliest_end(op, issue, duration).value() - learned.end[i]);
        learned.work[i] = static_cast<u128>(duration.value()) * full_share;
        learned.computed = std::max(learned.computed, learned.end[i]);
    }
    if (learned.state != PassageTimes::State::given_up)
        learned.state = PassageTimes::State::all;
    sum_up_takes(learned, lane.passages->shapes[lane.watch.passage->shape]);
    lane.watch = {};
}

// Counts the transfers of the passages that were skipped in the measured step.
void Runner::count_skipped(std::uint32_t l)
{
    LaneRun& lane = lanes_[l];
    for (const PassageTimes& learned : lane.learned) {
        if (learned.uses == 0)
            continue;
        for (std::size_t i = 0; i < learned.ops.size(); ++i) {
            const FlatOp& op = lane.kind->ops[learned.ops[i]];
            if (op.kind != OpKind::collective)
                continue;
            const SimTime start(learned.start[i]);
            accounting_->count_transfer(
                l, op, {start, start, SimTime(learned.end[i]), collective_cost(l, op).bytes},
                learned.uses);
        }
    }
}

} // namespace trainyard::engine::ahead
