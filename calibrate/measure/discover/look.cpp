#include "calibrate/measure/discover/look.h"

#include "calibrate/measure/discover/nvidia_smi.h"

namespace trainyard {
namespace {

Found<NvmlNode> ask_nvml(const std::vector<std::string>& files)
{
    const auto library = NvmlLibrary::open(files);
    if (!library)
        return tl::make_unexpected(library.error());
    return read_nvml((*library)->functions());
}

void add(std::vector<std::string>& out, const std::vector<std::string>& more)
{
    out.insert(out.end(), more.begin(), more.end());
}

} // namespace

NodeLook look_at_node(const LookSettings& settings)
{
    NodeLook out;
    out.sources.host = read_host(settings.root);
    add(out.doubts, doubts(out.sources.host));
    if (!settings.gpus) {
        out.sources.cpu_ranks = settings.cpu_ranks;
        return out;
    }
    Found<NvmlNode> nvml = ask_nvml(settings.nvml_files);
    if (nvml) {
        if (settings.while_measuring)
            for (NvmlGpu& gpu : nvml->gpus) {
                gpu.processes.clear();
                gpu.busy_percent.reset();
            }
        add(out.doubts, doubts(*nvml));
        out.sources.nvml = std::move(*nvml);
        return out;
    }
    out.no_nvml = nvml.error().message;
    out.doubts.push_back("whether the GPUs are idle and sound is not known: " + out.no_nvml);
    SmiAnswer answer = ask_nvidia_smi(settings.smi_limit);
    out.sources.smi_matrix = std::move(answer.matrix);
    if (!answer.lacks.empty())
        out.doubts.push_back(std::move(answer.lacks));
    return out;
}

} // namespace trainyard
