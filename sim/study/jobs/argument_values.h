#pragma once

// Values of arguments, with what is wrong with them told to the draft.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {

class ArgumentValues {
public:
    ArgumentValues(Arguments& arguments, JobDraft& draft) : arguments_(arguments), draft_(draft) {}

    // Nothing when absent, or not known here because a variable is not set (which is flagged).
    std::optional<std::int64_t> whole(std::string_view name);
    std::optional<double> number(std::string_view name);
    std::string text(std::string_view name);               // empty when absent
    std::string last_of_path(std::string_view name);       // as far as known; empty when absent
    std::vector<std::string> words(std::string_view name); // all of its values
    bool on(std::string_view name); // a switch; "false" and "0" switch it off

    Origin origin(std::string_view name);

    // An argument that must be there has no value: it is missing, or a variable in it is not set.
    void refuse_unknown(std::string_view name); // only where a variable in it is not set
    void refuse_missing(std::string_view name, const std::string& hint);

    // The first of the names that is there; the first when none is.
    std::string_view either(std::string_view one, std::string_view other);

    // Sets a field from a whole number, where there is one. One that stands there and is not known
    // is refused: the framework's default would be another job.
    template <class T>
    void take(std::string_view name, T& field, std::string_view place)
    {
        if (const std::optional<std::int64_t> value = whole(name))
            draft_.take(field, *value, place, origin(name));
        else
            refuse_unknown(name);
    }

private:
    // The single value of the argument; null when there is none or it is not known.
    const std::string* value(std::string_view name);
    std::string define_hint(const std::string& variable) const;

    Arguments& arguments_;
    JobDraft& draft_;
};

} // namespace trainyard
