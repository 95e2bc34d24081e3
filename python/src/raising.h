#pragma once

// What goes wrong, as Python's exceptions.

#include "sim/base/diagnostic.h"
#include "sim/study/stuck.h"

#include <nanobind/nanobind.h>

namespace trainyard::python {

// The input is wrong: trainyard.InputError, with every problem.
struct InputError {
    Problems problems;
};

// The value, or an InputError.
template <class T>
T value_or_raise(Checked<T> checked)
{
    if (!checked)
        throw InputError{std::move(checked.error())};
    return std::move(*checked);
}

// A problem as trainyard.errors.Problem is made of: (severity, message, file, line, pointer, fix).
nanobind::list problem_tuples(const Problems& problems);

// Has what the library throws raised as an exception of trainyard.errors.
void add_exceptions();

} // namespace trainyard::python
