#include "sim/cli/export_chakra.h"

#include "sim/base/files.h"
#include "sim/base/units.h"
#include "sim/cli/terminal.h"
#include "sim/report/chakra/chakra_trace.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr std::uint64_t most_nodes = 10'000'000; // about 1 GB

Problems too_large(const Outcome& laid_out)
{
    const std::uint64_t nodes = chakra_nodes(laid_out);
    if (nodes <= most_nodes)
        return {};
    return one_problem(fmt::format("the traces of {} ranks would hold {} nodes, {} at most",
                                   laid_out.binding->lanes.size(), nodes, most_nodes),
                       "fewer ranks, layers or micro-batches: --set training.global_batch=...");
}

} // namespace

int export_chakra(const std::string& path, ScenarioOptions options, const std::string& folder)
{
    options.no_fold = true; // every rank has a trace of its own
    const Checked<ScenarioFile> file = read_scenario(path, options);
    if (!file)
        return refuse(file.error(), "nothing was exported.");
    Session session;
    SimulateRequest request;
    request.work.cancel = &interrupt_flag();
    request.laid_out = too_large;
    request.memory = AllocatorView::nobody;
    const Checked<Outcome> outcome = session.simulate(*file, request);
    if (!outcome)
        return refuse(outcome.error(), "nothing was exported.");
    std::vector<std::string> traces = chakra_traces(*outcome);
    std::vector<FilesTogether::Named> files;
    for (std::size_t rank = 0; rank < traces.size(); ++rank)
        files.push_back({fmt::format("trace.{}.et", rank), std::move(traces[rank])});
    files.push_back({"comm_group.json", ChakraGroups(*outcome).json()});
    FilesTogether together;
    together.add_folder(folder, files);
    request.work.check();
    together.publish();
    print_talk(fmt::format("wrote {}: the traces of {} rank{}, and comm_group.json; the step takes "
                           "{} here\n",
                           folder, traces.size(), traces.size() == 1 ? "" : "s",
                           to_display(outcome->step_time.value)));
    return exit_ok;
}

} // namespace trainyard
