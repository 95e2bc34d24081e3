#include "sim/study/record.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (const auto json = fuzz::json_of(data, size)) {
        const Checked<RecordFile> records = records_from(*json, "fuzz.json");
        fuzz::require(records || !records.error().empty(), "refused records have a reason");
    }
    return 0;
}
