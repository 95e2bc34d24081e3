#include "sim/traces/execution/node_fields.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainyard {
namespace {

// Of PyTorch's execution_trace_observer.cpp, of et_def.proto as protobuf spells it in JSON, and of
// the graphs that ASTRA-sim's feeder reads ("Id", "NodeType").
constexpr std::array<std::pair<std::string_view, NodeField>, 42> fields{{
    {"id", NodeField::id},
    {"Id", NodeField::id},
    {"name", NodeField::name},
    {"Name", NodeField::name},
    {"ctrl_deps", NodeField::parent},
    {"ctrlDeps", NodeField::parent},
    {"parent", NodeField::parent},
    {"data_deps", NodeField::waits},
    {"dataDeps", NodeField::waits},
    {"type", NodeField::type},
    {"NodeType", NodeField::type},
    {"runtime", NodeField::duration},
    {"duration_micros", NodeField::duration},
    {"durationMicros", NodeField::duration},
    {"inputs", NodeField::inputs},
    {"outputs", NodeField::outputs},
    {"attrs", NodeField::attributes},
    {"attr", NodeField::attributes},
    {"values", NodeField::values},
    {"shapes", NodeField::shapes},
    {"types", NodeField::types},
    {"input_shapes", NodeField::in_shapes},
    {"input_types", NodeField::in_types},
    {"output_shapes", NodeField::out_shapes},
    {"output_types", NodeField::out_types},
    {"op_schema", NodeField::schema},
    {"kernel_backend", NodeField::backend},
    {"collective_name", NodeField::collective},
    {"dtype", NodeField::dtype},
    {"in_msg_nelems", NodeField::in_elements},
    {"out_msg_nelems", NodeField::out_elements},
    {"pg_name", NodeField::group},
    {"pg_desc", NodeField::purpose},
    {"pg_size", NodeField::group_size},
    {"comm_type", NodeField::comm_type},
    {"comm_size", NodeField::comm_size},
    {"comm_src", NodeField::comm_source},
    {"comm_dst", NodeField::comm_target},
    {"is_cpu_op", NodeField::on_host},
    {"num_ops", NodeField::operations},
    {"tensor_size", NodeField::tensor_size},
    {"phase", NodeField::phase},
}};

} // namespace

NodeField node_field(std::string_view key)
{
    const auto known =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == key; });
    return known == fields.end() ? NodeField::other : known->second;
}

} // namespace trainyard
