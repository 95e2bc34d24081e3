#pragma once

// Problems of a scenario's perturbations while they are gone through one by one.

#include "sim/base/diagnostic.h"

#include <fmt/core.h>

#include <utility>

namespace trainyard {

class EntryProblems {
public:
    // Those from now on are of this entry.
    void enter(std::size_t entry)
    {
        entry_ = entry;
        wrong_ = false;
    }
    std::size_t entry() const { return entry_; }
    // Whether this entry has an error; what it lacks or leaves undone is then no news.
    bool wrong() const { return wrong_; }

    // At a field of the entry ("/link"), or at all of it ("").
    void error(const char* field, std::string message, std::string hint)
    {
        wrong_ = true;
        any_wrong_ = true;
        report(Severity::error, field, std::move(message), std::move(hint));
    }
    void warn(const char* field, std::string message, std::string hint = "")
    {
        report(Severity::warning, field, std::move(message), std::move(hint));
    }

    // Whether any entry so far has an error.
    bool any_wrong() const { return any_wrong_; }
    Problems take() && { return std::move(problems_); }

private:
    void report(Severity severity, const char* field, std::string message, std::string hint)
    {
        problems_.push_back({"", 0, fmt::format("/perturbations/{}{}", entry_, field),
                             std::move(message), std::move(hint), severity});
    }

    std::size_t entry_ = 0;
    bool wrong_ = false;
    bool any_wrong_ = false;
    Problems problems_;
};

} // namespace trainyard
