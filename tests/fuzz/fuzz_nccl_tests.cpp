#include "calibrate/import/read_sweeps.h"
#include "calibrate/import/recognise.h"
#include "calibrate/import/sweep_collection.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fuzz::text_of(data, size);
    recognise_import(text);
    const Checked<ImportedSweeps> imported = read_sweeps(text, "fuzz.log");
    if (!imported) {
        fuzz::require(!imported.error().empty(), "a refused log has a reason");
        return 0;
    }
    describe(imported->notes);
    for (const Sweep& sweep : imported->sweeps) {
        fuzz::require(sweep.ranks >= 2, "nobody communicates alone");
        fuzz::require(sweep.nodes >= 1, "ranks sit on a node");
        fuzz::require(!sweep.rows.empty(), "a sweep has rows");
        for (const SweepRow& row : sweep.rows)
            fuzz::require(row.out_of_place || row.in_place, "a row has a time");
    }
    const Checked<ImportedSweeps> back =
        read_sweeps(to_text(to_json(imported->sweeps)), "written.json");
    fuzz::require(back.has_value(), "what was written can be read");
    fuzz::require(back->sweeps.size() == imported->sweeps.size(), "no sweep is lost when written");
    return 0;
}
