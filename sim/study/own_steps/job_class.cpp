#include "sim/study/own_steps/job_class.h"

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
            .field("sequence_length", &J::sequence_length, {.help = "tokens", .min = 0});
    return table;
}

JobClass job_class(const Scenario& scenario, const Job& job)
{
    return {.model = job.model.name,
            .framework = scenario.software.framework,
            .precision = std::string(to_name(job.training.precision)),
            .devices = job.world(),
            .sequence_length =
                job.model.is_transformer() ? job.training.sequence_length : std::int64_t{0}};
}

bool alike(const JobClass& a, const JobClass& b)
{
    return a.model == b.model && a.framework == b.framework && a.precision == b.precision &&
           within(a.devices, b.devices) &&
           within(static_cast<double>(a.sequence_length), static_cast<double>(b.sequence_length));
}

} // namespace trainyard
