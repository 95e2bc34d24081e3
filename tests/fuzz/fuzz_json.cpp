#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto json = fuzz::json_of(data, size);
    if (!json)
        return 0;
    // What is written reads back as the same value.
    const Checked<Json> back = parse_json(to_text(*json), "written.json");
    fuzz::require(back.has_value(), "written JSON can be read");
    fuzz::require(to_text(*back) == to_text(*json), "JSON reads back as it was written");
    return 0;
}
