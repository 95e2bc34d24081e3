#include "calibrate/import/read_pairs.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const Checked<ImportedPairs> pairs = read_pairs(fuzz::text_of(data, size), "fuzz.txt");
    if (!pairs) {
        fuzz::require(!pairs.error().empty(), "a refused file has a reason");
        return 0;
    }
    describe(pairs->notes);
    for (const PairMatrix& matrix : pairs->matrices)
        for (const auto& row : matrix.values)
            for (const auto& value : row)
                fuzz::require(!value || *value > 0, "a value is above zero");
    const Checked<ImportedPairs> back =
        read_pairs(to_text(to_json(pairs->matrices)), "written.json");
    fuzz::require(back && back->matrices.size() == pairs->matrices.size(),
                  "what was written reads back");
    return 0;
}
