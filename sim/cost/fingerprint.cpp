#include "sim/cost/fingerprint.h"

#include "sim/base/fields.h"

#include <fmt/format.h>

namespace trainyard {
namespace {

// "2.28.3+cuda12.9" -> "2.28"
std::string release(const std::string& version)
{
    const std::size_t first = version.find('.');
    const std::size_t end =
        first == std::string::npos ? first : version.find_first_not_of("0123456789", first + 1);
    return version.substr(0, end);
}

} // namespace

template <>
const FieldTable<Environment>& fields_of<Environment>()
{
    using E = Environment;
    static const auto table =
        FieldTable<E>("environment", "Where constants were measured.")
            .field("date", &E::date, {.help = "of the measurement"})
            .field("host", &E::host, {.help = "machine"})
            .field("driver", &E::driver, {.help = "version of the GPU driver"})
            .field("cuda", &E::cuda, {.help = "version of CUDA"})
            .field("nccl", &E::nccl, {.help = "version of NCCL"})
            .field("framework", &E::framework, {.help = "framework and version"})
            .field("libraries", &E::libraries, {.help = "versions of other libraries, by name"})
            .field("variables", &E::variables, {.help = "launch variables that change paths"})
            .field("kernel", &E::kernel, {.help = "release of Linux"})
            .field("launch", &E::launch, {.help = "what started the ranks"})
            .field("machine", &E::machine, {.help = "the first host, as it was"});
    return table;
}

std::vector<std::string> differences(const Environment& measured, const Environment& used)
{
    std::vector<std::string> out;
    const auto version = [&](const char* name, const std::string& there, const std::string& here) {
        if (!there.empty() && !here.empty() && release(there) != release(here))
            out.push_back(fmt::format("{} {} there, {} here", name, there, here));
    };
    version("driver", measured.driver, used.driver);
    version("CUDA", measured.cuda, used.cuda);
    version("NCCL", measured.nccl, used.nccl);
    const auto text = [&](const char* format, const std::string& there, const std::string& here) {
        if (!there.empty() && !here.empty() && there != here)
            out.push_back(fmt::format(fmt::runtime(format), there, here));
    };
    text("kernel {} there, {} here", measured.kernel, used.kernel);
    text("launched as {} there, as {} here", measured.launch, used.launch);
    for (const auto& [name, there] : measured.libraries)
        if (const auto here = used.libraries.find(name); here != used.libraries.end())
            version(name.c_str(), there, here->second);
    for (const auto& [name, value] : used.variables) {
        const auto there = measured.variables.find(name);
        if (there == measured.variables.end())
            out.push_back(fmt::format("{} unset there, {} here", name, value));
        else if (there->second != value)
            out.push_back(fmt::format("{} {} there, {} here", name, there->second, value));
    }
    for (const auto& [name, value] : measured.variables)
        if (!used.variables.count(name))
            out.push_back(fmt::format("{} {} there, unset here", name, value));
    return out;
}

} // namespace trainyard
