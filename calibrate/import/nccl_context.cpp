#include "calibrate/import/nccl_context.h"

#include "calibrate/import/log_text.h"
#include "calibrate/import/notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::size_t most_listed_devices = 1U << 20;
constexpr std::size_t most_variables = 100;
constexpr std::size_t most_hosts = 10'000;

bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "#  Rank  0 Group  0 Pid 31706 on host device  0 [0000:b4:00] NVIDIA A100"; older tests have no
// group. Lists of containers may lack the '#'.
std::optional<NcclDevice> device_in(std::string_view line)
{
    const std::size_t start = line.find("Rank ");
    if (start == std::string_view::npos)
        return std::nullopt;
    line.remove_prefix(start);
    const auto rank = integer_after(line, "Rank ");
    const auto on = text_after(line, " on ");
    if (!rank || *rank < 0 || *rank > 10'000'000 || !on || line.find(" Pid") > line.find(" on "))
        return std::nullopt;
    const auto bus_and_name = text_after(*on, "[");
    const std::size_t close = bus_and_name ? bus_and_name->find(']') : std::string_view::npos;
    const auto number = integer_after(*on, " device ");
    if (close == std::string_view::npos || !number)
        return std::nullopt;
    NcclDevice device;
    device.device = static_cast<int>(std::clamp<std::int64_t>(*number, 0, 1'000'000));
    device.rank = static_cast<int>(*rank);
    device.group = static_cast<int>(
        std::clamp<std::int64_t>(integer_after(line, "Group ").value_or(0), 0, 1'000'000));
    device.host = printable(on->substr(0, on->find(' ')));
    device.bus = printable(bus_and_name->substr(0, close), 20);
    device.name = printable(trimmed(bus_and_name->substr(close + 1)), 60);
    return device;
}

void read_device(NcclContext& context, NcclDevice device)
{
    const bool new_list = !context.devices.empty() &&
                          (context.used || (device.rank == context.devices.front().rank &&
                                            device.group == context.devices.front().group));
    if (new_list) {
        context.devices.clear();
        context.used = false;
    }
    if (context.devices.size() < most_listed_devices)
        context.devices.push_back(std::move(device));
}

// What the launch and earlier runs said does not outlive a table.
void start_run(NcclContext& context)
{
    if (!context.used)
        return;
    NcclContext next;
    next.nccl_version = context.nccl_version;
    next.header_version = context.header_version;
    next.tests_version = context.tests_version;
    context = std::move(next);
}

// "# nThread 1 nGpus 8 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20
// ..."
void read_configuration(NcclContext& context, std::string_view line)
{
    start_run(context);
    context.devices.clear();
    context.hosts.clear();
    context.communicator_ranks.reset();
    context.threads = integer_after(line, "nThread ");
    context.gpus = integer_after(line, "nGpus ");
    context.min_bytes = integer_after(line, "minBytes ");
    context.max_bytes = integer_after(line, "maxBytes ");
}

void take_version(NcclContext& context, std::string& place, std::string version)
{
    if (version.empty())
        return;
    if (&place == &context.nccl_version && !place.empty() && place != version && !context.used)
        context.flags.push_back(
            fmt::format("two versions of NCCL in one run: {} and {}", place, version));
    place = std::move(version);
}

std::string leading_version(std::string_view text)
{
    const std::size_t end = text.find_first_not_of("0123456789.");
    const std::string version(text.substr(0, end));
    return version.find('.') == std::string::npos || version.size() > 20 ? std::string{} : version;
}

void read_versions(NcclContext& context, std::string_view line)
{
    if (const auto tests = text_after(line, "nccl-tests version "))
        take_version(context, context.tests_version, leading_version(*tests));
    if (const auto code = integer_after(line, "nccl-headers="))
        take_version(context, context.header_version, version_of_code(*code));
    if (const auto code = integer_after(line, "nccl-library="))
        take_version(context, context.nccl_version, version_of_code(*code));
    if (const auto text = text_after(line, "NCCL version "))
        take_version(context, context.nccl_version, leading_version(*text));
}

// "mpirun -np 16 -N 8 ...", "srun --ntasks=16 --ntasks-per-node=8 ...".
void read_launch(NcclContext& context, std::string_view line)
{
    const std::vector<Word> words = words_of(line);
    const auto value = [&words](std::initializer_list<std::string_view> names) {
        std::optional<std::int64_t> found;
        for (std::size_t i = 0; i < words.size(); ++i)
            for (const std::string_view name : names) {
                const std::string_view word = words[i].text;
                if (word == name && i + 1 < words.size())
                    found = integer_in(words[i + 1].text);
                else if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
                    found = integer_in(word.substr(name.size() + 1));
                if (found)
                    return found;
            }
        return found;
    };
    const bool launches = line.find("mpirun") != std::string_view::npos ||
                          line.find("mpiexec") != std::string_view::npos ||
                          line.find("srun") != std::string_view::npos;
    if (launches)
        start_run(context);
    if (const auto processes = value({"-np", "--ntasks"}))
        context.processes = processes;
    else if (launches)
        if (const auto count = value({"-n", "--np"}))
            context.processes = count;
    const bool slurm = line.find("srun") != std::string_view::npos ||
                       line.find("SBATCH") != std::string_view::npos;
    if (const auto nodes = value({"--nodes"}))
        context.nodes = nodes;
    else if (slurm)
        if (const auto count = value({"-N"}))
            context.nodes = count;
    if (const auto each = value({"-npernode", "--npernode", "--ntasks-per-node"}))
        context.processes_per_node = each;
    else if (launches && line.find("mpi") != std::string_view::npos)
        if (const auto count = value({"-N"}))
            context.processes_per_node = count;
}

// "node-a:3442:3460 [3] NCCL INFO comm 0x7f23 rank 3 nranks 16 cudaDev 3 busId 901d0 - Init
// COMPLETE"
void read_nccl_line(NcclContext& context, std::string_view line)
{
    const std::size_t info = line.find(" NCCL INFO ");
    if (info == std::string_view::npos)
        return;
    if (const auto ranks = integer_after(line.substr(info), " nranks "); ranks && *ranks > 0)
        context.communicator_ranks = ranks;
    const std::vector<Word> before = words_of(line.substr(0, info));
    for (const Word& word : before)
        if (const std::size_t colon = word.text.find(':');
            colon != std::string_view::npos && colon > 0 && context.hosts.size() < most_hosts &&
            integer_in(word.text.substr(word.text.rfind(':') + 1)))
            context.hosts.insert(printable(word.text.substr(0, colon)));
}

// "NCCL_ALGO=Ring" anywhere, "NCCL_ALGO set by environment to Ring" of NCCL itself.
void read_variables(NcclContext& context, std::string_view line)
{
    for (const std::string_view prefix : {"NCCL_", "UCX_", "FI_"})
        for (std::size_t at = line.find(prefix); at != std::string_view::npos;
             at = line.find(prefix, at + 1))
        {
            if (at > 0 && is_name_letter(line[at - 1]))
                continue;
            std::size_t end = at;
            while (end < line.size() && is_name_letter(line[end]))
                ++end;
            const std::string name(line.substr(at, end - at));
            std::string_view rest = line.substr(end);
            if (const auto set = text_after(rest, "set by environment to "))
                rest = *set;
            else if (rest.starts_with('='))
                rest.remove_prefix(1);
            else
                continue;
            const std::size_t start = rest.find_first_not_of("\"'");
            rest.remove_prefix(std::min(start, rest.size()));
            const std::string value(rest.substr(0, rest.find_first_of(" \"'`;\\|)")));
            const bool known = !value.empty() && value.find('$') == std::string::npos;
            if (!known || !changes_paths(name) || context.variables.size() >= most_variables)
                continue;
            start_run(context);
            std::string plain = printable(value, 200);
            while (plain.ends_with(',') || plain.ends_with('.'))
                plain.pop_back();
            context.variables[name] = plain;
        }
}

} // namespace

void read_context(NcclContext& context, std::string_view line)
{
    if (line.find("nThread ") != std::string_view::npos &&
        line.find("minBytes ") != std::string_view::npos)
        return read_configuration(context, line);
    if (auto device = device_in(line))
        return read_device(context, std::move(*device));
    if (const std::string program = program_in(line); !program.empty()) {
        start_run(context);
        context.program = program;
    }
    read_nccl_line(context, line);
    read_versions(context, line);
    read_launch(context, line);
    read_variables(context, line);
}

std::string program_in(std::string_view line)
{
    static constexpr std::array<std::string_view, 12> names{
        "all_reduce", "all_gather", "reduce_scatter", "alltoall", "alltoallv", "broadcast",
        "reduce",     "sendrecv",   "scatter",        "gather",   "hypercube", "all_reduce_bias"};
    std::string found;
    for (std::size_t at = line.find("_perf"); at != std::string_view::npos;
         at = line.find("_perf", at + 1))
    {
        std::size_t start = at;
        while (start > 0 && is_name_letter(line[start - 1]))
            --start;
        const std::string_view name = line.substr(start, at - start);
        if (std::find(names.begin(), names.end(), name) == names.end())
            continue;
        if (!found.empty() && found != name)
            return {};
        found = name;
    }
    return found;
}

std::string version_of_code(std::int64_t code)
{
    if (code < 1000 || code > 999'999)
        return {};
    const std::int64_t major = code < 10'000 ? code / 1000 : code / 10'000;
    const std::int64_t minor = code < 10'000 ? code / 100 % 10 : code / 100 % 100;
    return fmt::format("{}.{}.{}", major, minor, code % 100);
}

bool changes_paths(std::string_view name)
{
    const auto starts = [name](std::string_view with) { return name.starts_with(with); };
    const auto has = [name](std::string_view word) { return name.find(word) != name.npos; };
    if (!starts("NCCL_") && !starts("UCX_") && !starts("FI_"))
        return false;
    if (starts("NCCL_DEBUG") || starts("NCCL_TESTS") || starts("UCX_LOG") || starts("FI_LOG") ||
        starts("NCCL_VERSION") || starts("NCCL_HOME") || name == "NCCL_HOSTID")
        return false;
    return !has("KEY") && !has("TOKEN") && !has("SECRET") && !has("PASS") && !has("CREDENTIAL") &&
           !has("COMM_ID");
}

} // namespace trainyard
