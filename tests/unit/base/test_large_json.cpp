#include "sim/base/json.h"
#include "tests/catch.h"

#include <sys/resource.h>

#include <chrono>

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

Effort effort_of_parsing(const std::string& text, bool readable)
{
    const auto began = std::chrono::steady_clock::now();
    CHECK(parse_json(text, "large.json").has_value() == readable);
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(),
            static_cast<double>(usage.ru_maxrss) * 1024 / 1e9};
}

} // namespace

TEST_CASE("a file of 100 MB is read or refused within seconds and 3 GB, whatever it holds")
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
        CHECK(effort.seconds < 10);
        CHECK(effort.peak_gb < 3); // the four texts together are 0.4
    }
}
