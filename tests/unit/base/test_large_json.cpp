#include "sim/base/json.h"
#include "tests/catch.h"

#include <sys/resource.h>

using namespace trainyard;

namespace {

constexpr std::size_t size = 100U << 20;

// `unit` again and again between the two ends.
std::string repeated(std::string_view open, std::string_view unit, std::string_view close)
{
    std::string text(open);
    while (text.size() < size)
        text += unit;
    text += close;
    return text;
}

struct Effort {
    double seconds = 0;
    double peak_gb = 0;
};

rusage usage_so_far()
{
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage;
}

// Of this process, whatever else the machine does.
double processor_seconds(const rusage& usage)
{
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Effort effort_of_parsing(const std::string& text, bool readable)
{
    const rusage before = usage_so_far();
    CHECK(parse_json(text, "large.json").has_value() == readable);
    const rusage after = usage_so_far();
    return {processor_seconds(after) - processor_seconds(before),
            static_cast<double>(after.ru_maxrss) * 1024 / 1e9};
}

} // namespace

TEST_CASE("a file of 100 MB is read or refused with work in proportion and 3 GB, whatever it holds")
{
    const std::string records =
        repeated("[", R"({"id": 17, "name": "a run that was measured", "step_time": "1.53 s"},
)",
                 "{}]");
    const std::string numbers = repeated("[", "1,", "1]");
    const std::string same_keys = repeated("{", "\"a\":1,", "\"a\":1}");
    const std::string one_text = repeated("\"", "0123456789", "\"");
    for (const auto& [text, readable] :
         {std::pair{&records, true}, {&numbers, false}, {&same_keys, false}, {&one_text, true}})
    {
        const Effort effort = effort_of_parsing(*text, readable);
        INFO(text->substr(0, 20) << ": " << effort.seconds << " s, " << effort.peak_gb << " GB");
        // About 2 s; what compares every key with all others would take hours.
        CHECK(effort.seconds < 60);
        CHECK(effort.peak_gb < 3); // the four texts together are 0.4
    }
}
