#include "sim/study/record_schedule.h"

#include "sim/study/record_words.h"

#include <array>

namespace trainyard {

const PipelineSchedule* schedule_named_in(std::string_view words)
{
    struct Words {
        const char* said;
        const char* schedule;
    };
    // The longer name before the one it begins with. A zero bubble without more is ZB1P, which is
    // ZB-H1.
    static constexpr std::array<Words, 14> known = {{{"gpipe", "gpipe"},
                                                     {"dualpipev", "dualpipev"},
                                                     {"dualpipe-v", "dualpipev"},
                                                     {"dualpipe", "dualpipe"},
                                                     {"zb-v", "zb-v"},
                                                     {"zbv", "zb-v"},
                                                     {"zb-h2", "zb-h2"},
                                                     {"zb-h1", "zb-h1"},
                                                     {"zb1p", "zb-h1"},
                                                     {"zero bubble", "zb-h1"},
                                                     {"zero-bubble", "zb-h1"},
                                                     {"breadth-first", "breadth-first"},
                                                     {"breadth first", "breadth-first"},
                                                     {"loopedbfs", "breadth-first"}}};
    for (const Words& one : known)
        if (mentions(words, {one.said}))
            return find_schedule(one.schedule);
    return nullptr;
}

} // namespace trainyard
