#include "calibrate/measure/backend/backend.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<FailureKind>> enum_names<FailureKind>()
{
    using enum FailureKind;
    return {{missing, "missing"},
            {refused, "refused"},
            {broken, "broken"},
            {timed_out, "timed_out"},
            {aborted, "aborted"}};
}

template <>
const FieldTable<LaunchPlace>& fields_of<LaunchPlace>()
{
    using P = LaunchPlace;
    static const auto table =
        FieldTable<P>("place", "Which rank of the job.")
            .field("rank", &P::rank, {.help = "world rank"})
            .field("ranks", &P::ranks, {.help = "of the job"})
            .field("local_rank", &P::local_rank, {.help = "among the ranks of its host"})
            .field("local_ranks", &P::local_ranks, {.help = "of its host"});
    return table;
}

template <>
const FieldTable<GroupSpec>& fields_of<GroupSpec>()
{
    using G = GroupSpec;
    static const auto table =
        FieldTable<G>("group", "Ranks that communicate.")
            .field("name", &G::name, {.help = "for people"})
            .field("members", &G::members, {.help = "world ranks in the order of the group"})
            .field("algorithm", &G::algorithm, {.help = "forced on the library"})
            .field("protocol", &G::protocol, {.help = "forced on the library"});
    return table;
}

template <>
const FieldTable<BackendFacts>& fields_of<BackendFacts>()
{
    using F = BackendFacts;
    static const auto table =
        FieldTable<F>("facts", "Where a rank ran.")
            .field("name", &F::name, {.help = "of the back end"})
            .field("version", &F::version, {.help = "of its library"})
            .field("device", &F::device, {.help = "as the driver words it"})
            .field("device_id", &F::device_id, {.help = "the same for two ranks of one device"})
            .field("driver", &F::driver, {.help = "version"})
            .field("cuda", &F::cuda, {.help = "version of the runtime"})
            .field("memory", &F::memory, {.help = "of the device"})
            .field("properties", &F::properties, {.help = "clocks, cores, power limit, ..."})
            .field("warnings", &F::warnings, {.help = "what makes numbers doubtful"});
    return table;
}

template <>
const FieldTable<MeasureFailure>& fields_of<MeasureFailure>()
{
    using F = MeasureFailure;
    static const auto table = FieldTable<F>("failure", "Why something was not measured.")
                                  .field("kind", &F::kind, {.help = "what sort of failure"})
                                  .field("message", &F::message, {.help = "what failed"})
                                  .field("fix", &F::fix, {.help = "what to do about it"});
    return table;
}

} // namespace trainyard
