#include "sim/study/jobs/structured_text.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const Checked<Json> read = parse_yaml(std::string(fuzz::text_of(data, size)), "fuzz.yaml");
    fuzz::require(read || !read.error().empty(), "a refused text has a reason");
    if (read)
        to_text(*read);
    return 0;
}
