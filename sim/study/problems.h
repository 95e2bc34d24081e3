#pragma once

// Problems gathered from several parts of a scenario.

#include "sim/base/diagnostic.h"

#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

inline void append(Problems& all, const Problems& more)
{
    all.insert(all.end(), more.begin(), more.end());
}

// What is wrong with a request that no file holds, and a way out.
inline Problems one_problem(std::string message, std::string hint = {})
{
    return {{"", 0, "", std::move(message), std::move(hint), Severity::error}};
}

// Problems of no file are those of the scenario's field `pointer`.
inline Problems placed(Problems problems, std::string_view pointer)
{
    for (Diagnostic& problem : problems)
        if (problem.file.empty())
            problem.pointer = pointer;
    return problems;
}

// The value, or null with its problems added.
template <class T>
T* take(Checked<T>& checked, Problems& problems)
{
    if (checked)
        return &*checked;
    append(problems, checked.error());
    return nullptr;
}

} // namespace trainyard
