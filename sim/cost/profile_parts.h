#pragma once

// The parts of a profile, one after the other: what reading, writing and overriding share.

#include "sim/base/fields.h"
#include "sim/cost/profile.h"

namespace trainyard {

// Calls visit("hardware.device", part), ... for every part made of constants.
template <class AnyProfile, class Visit>
void for_each_part(AnyProfile& profile, Visit visit)
{
    visit(std::string("hardware.device"), profile.hardware.device);
    visit(std::string("hardware.fabric"), profile.hardware.fabric);
    visit(std::string("hardware.network"), profile.hardware.network);
    visit(std::string("hardware.collectives"), profile.hardware.collectives);
    visit(std::string("hardware.gloo"), profile.hardware.gloo);
    visit(std::string("hardware.ucx"), profile.hardware.ucx);
    visit(std::string("hardware.nvshmem"), profile.hardware.nvshmem);
    visit(std::string("hardware.mpi"), profile.hardware.mpi);
    visit(std::string("hardware.interference"), profile.hardware.interference);
    visit(std::string("hardware.kernels"), profile.hardware.kernels);
    visit(std::string("software"), profile.software);
    visit(std::string("installation"), profile.installation);
}

// Sets the members that the plain tree gives; others keep their values.
template <class Part>
void read_part(const Reader& plain, const ProvenanceMap& provenance, Part& part)
{
    fields_of<Part>().read(plain, part);
    for (const auto& [path, origin] : provenance)
        part.provenance.insert_or_assign(path, origin);
}

// A part with all its constants in the form of files.
template <class Part>
Json part_json(const Part& part)
{
    return with_provenance(fields_of<Part>().write(part), part.provenance,
                           fields_of<Part>().schema());
}

// What is missing or implausible in a part, where the part's type says so.
template <class Part>
void check_part(const Reader& reader, const Part& part)
{
    if constexpr (requires { check(reader, part); })
        check(reader, part);
}

} // namespace trainyard
