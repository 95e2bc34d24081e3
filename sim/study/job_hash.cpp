#include "sim/study/job_hash.h"

#include "sim/base/fields.h"
#include "sim/base/files.h"
#include "sim/base/random.h"

#include <bit>

namespace trainyard {
namespace {

// In files all members of a part have a field.
template <class Part>
std::uint64_t hash_of_part(const Part& part)
{
    return json_hash(fields_of<Part>().write(part));
}

} // namespace

// Members are named one by one: with one more this does not compile until it counts.
std::uint64_t hash_of(const Job& job, std::uint64_t model_hash)
{
    const auto& [model, training, strategy, software, gpus_per_node, cuda_graphs, launches,
                 communicator_creation, data] = job;
    const auto& [blocking, ordered] = launches;
    std::uint64_t parts =
        hash_key(hash_of_part(training), hash_of_part(strategy), hash_of_part(software));
    if (data) {
        const auto& [loading, storage, host] = *data;
        parts = hash_key(parts, hash_of_part(loading), hash_of_part(storage), hash_of_part(host));
    }
    return hash_key(hash_key(parts, model_hash, static_cast<std::uint64_t>(gpus_per_node),
                             std::uint64_t{cuda_graphs}),
                    std::uint64_t{blocking}, std::uint64_t{ordered},
                    std::bit_cast<std::uint64_t>(communicator_creation.value()));
}

} // namespace trainyard
