#pragma once

// What the files of the module share.

#include "sim/api/trainyard.h"

#include <nanobind/nanobind.h>

namespace trainyard::python {

// What all calls of this process remember together. After a fork the child has one of its own.
std::shared_ptr<Session> session();
void forget_session();

// A scenario never changes once it is made: threads may share it.
struct ScenarioCore {
    std::shared_ptr<const ScenarioFile> file;
};

ScenarioCore core_of(ScenarioFile file);

// What a study answers: as the command line's `--json` prints it, for people, as a page, as a
// table. What it has not is null.
struct Answer {
    std::function<std::string()> json;
    std::function<std::string(std::size_t width)> text;
    std::function<std::string()> html;
    std::function<std::string()> csv;
    std::vector<ScenarioCore> scenarios; // that it names, best first
    std::string profile;                 // the file of a fit's profile; empty: none
    Problems warnings;
    std::function<std::string()> notes; // lists of a fit's notes by what they are, as JSON
    bool interrupted = false;           // by Ctrl-C: what was found until then
};

// Text from files of others may be no UTF-8.
nanobind::str python_text(const std::string& text);

void add_scenarios(nanobind::module_& module);
void add_simulations(nanobind::module_& module);
void add_studies(nanobind::module_& module);
void add_imports(nanobind::module_& module);

} // namespace trainyard::python
