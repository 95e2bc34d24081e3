#include "sim/cost/own_steps_mark.h"

#include "sim/base/fields.h"

#include <algorithm>

namespace trainyard {
namespace {

// Jobs that differ by more than this in devices or in length are told nothing by one another.
constexpr double near = 4;

bool within(double a, double b)
{
    return a == b || (std::min(a, b) > 0 && std::max(a, b) <= near * std::min(a, b));
}

} // namespace

template <>
const FieldTable<JobClass>& fields_of<JobClass>()
{
    using J = JobClass;
    static const auto table =
        FieldTable<J>("job", "What own steps were measured of.")
            .field("model", &J::model, {.help = "its name", .required = true})
            .field("framework", &J::framework, {.help = "that ran it", .required = true})
            .field("precision", &J::precision, {.help = "number format", .required = true})
            .field("devices", &J::devices, {.help = "of the job", .min = 1, .required = true})
            .field("sequence_length", &J::sequence_length, {.help = "tokens", .min = 0})
            .field("recipe", &J::recipe,
                   {.help = "dispatcher of experts, dropped tokens, graphs, fused experts"});
    return table;
}

template <>
const FieldTable<OwnStepsMark>& fields_of<OwnStepsMark>()
{
    using M = OwnStepsMark;
    static const auto table =
        FieldTable<M>("own_steps", "The own steps that a profile was fitted to.")
            .field("base", &M::base, {.help = "profile whose rates were the prior"})
            .field("ids", &M::ids, {.help = "of the steps", .required = true})
            .field("jobs", &M::jobs, {.help = "what they were of", .required = true})
            .field("rates", &M::rates, {.help = "that they solved"})
            .field("unexplained", &M::unexplained,
                   {.help = "standard deviation of a step's logarithm that no rate explains",
                    .min = 0,
                    .max = 10})
            .field("reach", &M::reach,
                   {.help = "log(high / value) of a like job's 90 % interval",
                    .min = 0,
                    .max = 10,
                    .required = true});
    return table;
}

bool alike(const JobClass& a, const JobClass& b)
{
    return a.model == b.model && a.framework == b.framework && a.precision == b.precision &&
           a.recipe == b.recipe && within(a.devices, b.devices) &&
           within(static_cast<double>(a.sequence_length), static_cast<double>(b.sequence_length));
}

} // namespace trainyard
