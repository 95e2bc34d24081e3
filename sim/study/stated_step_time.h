#pragma once

// A step's time as files of measured runs state it, in s or in ms, perhaps in several places.

#include "sim/study/member_taker.h"

#include <algorithm>

namespace trainyard {

class StatedStepTime {
public:
    // Takes "step_time_s" and "step_time_ms" of an object. What was taken first counts; a time that
    // contradicts it by more than is lost in rounding is reported where it stands.
    void take(MemberTaker from)
    {
        constexpr double milli = 1e-3;
        take(from, "step_time_s", 1);
        take(from, "step_time_ms", milli);
    }

    const std::optional<double>& seconds() const { return seconds_; }

private:
    void take(MemberTaker& from, std::string_view key, double unit)
    {
        constexpr double rounding = 0.01;
        std::optional<double> value;
        from.take(key, value);
        if (!value)
            return;
        const double seconds = *value * unit;
        const Reader at = from.reader().member(key);
        if (!seconds_) {
            seconds_ = seconds;
            pointer_ = at.pointer();
        } else if (std::abs(seconds - *seconds_) > rounding * std::max(seconds, *seconds_)) {
            at.error(fmt::format("a step of {:g} s contradicts {} ({:g} s)", seconds, pointer_,
                                 *seconds_),
                     "leave the one out that is wrong");
        }
    }

    std::optional<double> seconds_;
    std::string pointer_;
};

} // namespace trainyard
