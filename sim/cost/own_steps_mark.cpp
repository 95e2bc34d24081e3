#include "sim/cost/own_steps_mark.h"

#include "sim/base/fields.h"

#include <algorithm>

namespace trainyard {
namespace {

// Jobs that differ by more than this in devices or in length are told nothing by one another.
constexpr double near = 4;

bool within(double a, double b, double times = near)
{
    return a == b || (std::min(a, b) > 0 && std::max(a, b) <= times * std::min(a, b));
}

// A name says too little: one model has several, and one name stands for models of many sizes.
bool same_model(const JobClass& a, const JobClass& b)
{
    constexpr double rounding = 1.01;
    if (a.parameters == 0 || b.parameters == 0)
        return a.model == b.model;
    return a.layers == b.layers && a.hidden == b.hidden &&
           within(a.parameters, b.parameters, rounding);
}

bool same_software(const JobClass& a, const JobClass& b)
{
    return a.software.empty() || b.software.empty() ? a.framework == b.framework
                                                    : a.software == b.software;
}

bool same_layout(const JobClass& a, const JobClass& b)
{
    return a.layout.empty() || b.layout.empty() || a.layout == b.layout;
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
                   {.help = "dispatcher of experts, dropped tokens, graphs, fused experts"})
            .field("software", &J::software, {.help = "class of software"})
            .field("parameters", &J::parameters, {.help = "of the model", .min = 0})
            .field("layers", &J::layers, {.help = "of the model", .min = 0})
            .field("hidden", &J::hidden, {.help = "size of the model", .min = 0})
            .field("layout", &J::layout,
                   {.help = "what it is cut by, ZeRO stage, kind of recompute"});
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
    return same_model(a, b) && same_software(a, b) && same_layout(a, b) &&
           a.precision == b.precision && a.recipe == b.recipe && within(a.devices, b.devices) &&
           within(static_cast<double>(a.sequence_length), static_cast<double>(b.sequence_length));
}

} // namespace trainyard
