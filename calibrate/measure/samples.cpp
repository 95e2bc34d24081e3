#include "calibrate/measure/samples.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
const FieldTable<Point>& fields_of<Point>()
{
    static const auto table =
        FieldTable<Point>("point", "Something that was timed.")
            .field("group", &Point::group, {.help = "of ranks"})
            .field("work", &Point::work, {.help = "what they did", .required = true})
            .field("launch", &Point::launch, {.help = "which of the run's launches"});
    return table;
}

template <>
const FieldTable<MeasuredPoint>& fields_of<MeasuredPoint>()
{
    using P = MeasuredPoint;
    static const auto table =
        FieldTable<P>("measured_point", "What was timed, and its times.")
            .field("point", &P::point, {.help = "what", .required = true})
            .field("ops_per_batch", &P::ops_per_batch, {.help = "back to back"})
            .field("batches [s/op]", &P::batches, {.help = "of the slowest rank, in order of time"})
            .field("isolated [s]", &P::isolated, {.help = "ops each behind a barrier"})
            .field("by_rank [s/op]", &P::by_rank, {.help = "median of each member"})
            .field("wrong", &P::wrong, {.help = "elements, over all ranks"})
            .field("slowest_rank", &P::slowest_rank, {.help = "last in most batches, of the group"})
            .field("slowest_share", &P::slowest_share, {.help = "of batches in which it was last"})
            .field("flags", &P::flags, {.help = "what makes it doubtful"});
    return table;
}

template <>
const FieldTable<CreationTime>& fields_of<CreationTime>()
{
    using C = CreationTime;
    static const auto table =
        FieldTable<C>("creation", "Making a communicator.")
            .field("group", &C::group, {.help = "of ranks"})
            .field("launch", &C::launch, {.help = "which of the run's launches"})
            .field("time", &C::time, {.help = "of the slowest rank"});
    return table;
}

template <>
const FieldTable<UnresolvedJump>& fields_of<UnresolvedJump>()
{
    using J = UnresolvedJump;
    static const auto table =
        FieldTable<J>("jump", "Where a curve is not known well.")
            .field("group", &J::group, {.help = "of ranks"})
            .field("curve", &J::curve, {.help = "what they did, of any size"})
            .field("launch", &J::launch, {.help = "which of the run's launches"})
            .field("from", &J::from, {.help = "size below it"})
            .field("to", &J::to, {.help = "size above it"})
            .field("miss", &J::miss, {.help = "of the fit, as a share of the time"});
    return table;
}

template <>
const FieldTable<RankFacts>& fields_of<RankFacts>()
{
    using R = RankFacts;
    static const auto table = FieldTable<R>("rank", "Where a rank ran.")
                                  .field("place", &R::place, {.help = "in the job"})
                                  .field("host", &R::host, {.help = "its machine"})
                                  .field("facts", &R::facts, {.help = "of its back end"});
    return table;
}

template <>
const FieldTable<MeasuredRun>& fields_of<MeasuredRun>()
{
    using R = MeasuredRun;
    static const auto table =
        FieldTable<R>("run", "What a run measured.")
            .field("backend", &R::backend, {.help = "nccl, mpi or gloo"})
            .field("started", &R::started, {.help = "UTC"})
            .field("launch_style", &R::launch_style, {.help = "who started the ranks"})
            .field("ranks", &R::ranks, {.help = "by world rank"})
            .field("variables", &R::variables, {.help = "that change paths"})
            .field("kernel", &R::kernel, {.help = "release of Linux"})
            .field("machine", &R::machine, {.help = "the first host, as it was"})
            .field("nodes", &R::nodes, {.help = "what the hosts are made of"})
            .field("doubts", &R::doubts, {.help = "what makes the numbers doubtful"})
            .field("points", &R::points, {.help = "measured"})
            .field("creations", &R::creations, {.help = "of communicators"})
            .field("jumps", &R::jumps, {.help = "where curves are not known well"})
            .field("left_out", &R::left_out, {.help = "what was not measured, and why"})
            .field("ended", &R::ended, {.help = "why it stopped early"});
    return table;
}

} // namespace trainyard
