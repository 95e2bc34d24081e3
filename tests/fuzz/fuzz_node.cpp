#include "calibrate/import/nccl_xml.h"
#include "calibrate/import/read_node.h"
#include "sim/topology/read_topology.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fuzz::text_of(data, size);
    if (const Checked<XmlElement> system = read_nccl_xml(text, "fuzz.xml")) {
        const Checked<XmlElement> back = read_nccl_xml(to_xml(*system), "written.xml");
        fuzz::require(back && *back == *system, "XML reads back as it was written");
    }
    const Checked<ImportedTopology> node = read_node_topology(text, "fuzz.txt");
    if (!node) {
        fuzz::require(!node.error().empty(), "a refused file has a reason");
        return 0;
    }
    describe(node->notes);
    fuzz::require(read_topology(node->json, "written.json").has_value(),
                  "an imported topology can be read");
    return 0;
}
