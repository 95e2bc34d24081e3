#include "sim/workload/model_reader.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (const auto json = fuzz::json_of(data, size)) {
        const Checked<Model> model = read_model(*json, "fuzz.json");
        fuzz::require(model || !model.error().empty(), "a refused model has a reason");
    }
    return 0;
}
