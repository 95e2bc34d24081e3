#pragma once

// Links by the names that people read.

#include "sim/base/diagnostic.h"
#include "sim/topology/topology.h"

namespace trainyard {

struct Perturbation;

// By pattern, the links whose name it is, with or without the direction behind the blank
// ("node3/nic2" means "node3/nic2 out" and "node3/nic2 in"); "*" stands for any letters. "fabric":
// all links between switches. The empty pattern names none.
std::vector<std::vector<LinkId>> links_matching(const std::vector<std::string>& patterns,
                                                const Topology& topology);

// By entry; none where it names no link.
std::vector<std::vector<LinkId>> links_by_entry(const std::vector<Perturbation>& perturbations,
                                                const Topology& topology);

// The nearest name for a pattern that matches nothing.
std::string link_name_hint(std::string_view pattern, const Topology& topology);

// Of the entries that name links or the fabric's collisions.
Problems link_problems(const std::vector<Perturbation>& perturbations, const Topology& topology);

} // namespace trainyard
