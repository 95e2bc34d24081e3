#pragma once

#include "sim/report/timeline/kineto_names.h"
#include "sim/strategy/rank_layout.h"
#include "sim/study/outcome.h"
#include "sim/study/recorded/record_graph.h"

#include <string_view>

namespace trainyard {

// The `args` of device events, under the names that PyTorch's profiler gives them, and ours besides
// (micro_batch, layer, phase, step, flops, transfer_start_us, last_arriver).
class OpArguments {
public:
    // The outcome and the graph of its records outlive this.
    OpArguments(const Outcome& outcome, const RecordGraph& graph);

    // Members of a JSON object, without braces, of record `index`.
    std::string of(std::size_t index) const;

private:
    const Lane& lane_of(const OpRecord& record) const;
    void add_place(std::string& args, const OpRecord& record, const Label& label) const;
    void add_transfer(std::string& args, std::size_t index, const Label& label) const;
    MessageElements elements_of(std::size_t index, const Label& label, int ranks) const;
    const engine::PartPlan* single_part(std::size_t index) const;
    std::span<const engine::PartPlan> parts_of(std::size_t index) const;
    std::string_view collective_name(std::size_t index, const Label& label) const;
    void add_peers(std::string& args, std::size_t index) const;
    void add_flops(std::string& args, std::size_t index) const;

    const Outcome* outcome_;
    const RecordGraph* graph_;
    RankLayout layout_;
};

} // namespace trainyard
