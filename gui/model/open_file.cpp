#include "gui/model/open_file.h"

#include "gui/calibration/measurements.h"
#include "gui/model/read_pipe.h"
#include "sim/api/file_kinds.h"
#include "sim/base/files.h"
#include "sim/base/input_limits.h"
#include "sim/study/jobs/job_import.h"
#include "sim/traces/trace_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <fstream>

namespace trainyard::gui {

namespace fs = std::filesystem;

namespace {

Problems refusal(const std::string& file, std::string message, std::string hint)
{
    return {{file, 0, "", std::move(message), std::move(hint), Severity::error}};
}

// A path in the scenario's JSON as its job's cluster; a cluster written out as it is.
Source source_of(const Json& scenario, const char* key)
{
    const Json* const value = scenario.find(key);
    if (value == nullptr)
        return {};
    return value->is_string() ? Source{value->as_string(), {}} : Source{{}, *value};
}

Checked<Opened> open_job(const std::string& text, const std::string& file, const Json& current)
{
    if (!recognise_job(text))
        return tl::unexpected(refusal(
            file, "this is no file that the window knows",
            "it opens scenarios, models, topologies, profiles, jobs, and logs of nccl-tests, "
            "nvbandwidth, nvidia-smi topo -m and trainyard calibrate, traces of "
            "torch.profiler, Nsight Systems and Chakra, and points of trainyard sweep and plan"));
    return import_job_text({file, text, {}}, current);
}

Checked<Opened> open_sweep(const std::string& file, const WorkControl& control)
{
    return read_saved_sweep(file, control).map([](SavedSweep saved) {
        OpenedSweep out{std::make_shared<const SavedSweep>(std::move(saved)), {}};
        out.scenario = swept_scenario(*out.saved);
        return Opened(std::move(out));
    });
}

Checked<Opened> open_json(Json json, const std::string& file, const Json& current)
{
    if (const Json* const format = json.find("format");
        format != nullptr && format->is_string() &&
        format->as_string().starts_with("trainyard.session"))
        return session_from(json, file).map([](SessionContent content) {
            return Opened(std::move(content));
        });
    if (const Json* const format = json.find("format");
        format != nullptr && format->is_string() && format->as_string() == sweep_format)
        return open_sweep(file, {});
    const FileKind* const kind = recognise(json);
    if (kind == nullptr)
        return tl::unexpected(refusal(file, "this JSON is no file that the window knows",
                                      "trainyard check FILE says more"));
    if (kind->name == "scenario")
        return OpenedScenario{file, std::move(json)};
    const bool empty = !current.is_object() || current.members().empty();
    if (kind->name == "profile" && empty)
        return OpenedMeasurements{file}; // those that it keeps
    for (const char* part : {"model", "topology", "profile"})
        if (kind->name == part)
            return OpenedPart{part, fs::absolute(fs::path(file)).string()};
    return tl::unexpected(
        refusal(file, fmt::format("a file of kind \"{}\" is not shown in the window", kind->name),
                kind->name == "records" ? "trainyard validate FILE"
                                        : "trainyard check FILE says whether it is right"));
}

// The first bytes of a file that has more; of others nothing.
std::string long_file_head(const std::string& file)
{
    constexpr std::size_t head = std::size_t{1} << 20;
    std::ifstream in(file, std::ios::binary);
    std::string text(head, '\0');
    in.read(text.data(), static_cast<std::streamsize>(head));
    return in.peek() == std::ifstream::traits_type::eof() ? std::string() : text;
}

// "[job]" alone in its line: a table of TOML, no list.
bool begins_toml(std::string_view text)
{
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    const std::string_view name = line.substr(std::min(line.find_first_not_of('['), line.size()));
    const std::size_t end = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    return end != 0 && end != std::string_view::npos && name[end] == ']' &&
           std::isdigit(static_cast<unsigned char>(name.front())) == 0;
}

// Comments may stand before it.
bool begins_json(std::string_view text)
{
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
        if (!text.starts_with("//"))
            return text.starts_with('{') || (text.starts_with('[') && !begins_toml(text));
        text.remove_prefix(std::min(text.find('\n'), text.size()));
    }
}

// Long logs and journals are known by their beginnings: the view that shows them reads them. Of
// JSON only the first line is whole.
bool is_long_measurement(const std::string& file)
{
    const std::string head = long_file_head(file);
    return !head.empty() &&
           is_measurement(begins_json(head) ? head.substr(0, head.find('\n')) : head);
}

Checked<Opened> open_text(const std::string& text, const std::string& file, const Json& current)
{
    if (!begins_json(text) && text.find_first_not_of(" \t\r\n") != std::string::npos)
        return open_job(text, file, current);
    Checked<Json> json = parse_json(text, file, input_limits);
    if (!json)
        return tl::unexpected(std::move(json.error()));
    if (recognise(*json) == nullptr && json->find("format") == nullptr && recognise_job(text))
        return open_job(text, file, current);
    return open_json(std::move(*json), file, current);
}

// The machines of the open scenario, where none are named.
Checked<JobImportOptions> import_options(const ImportQuestion& request, JobKind kind,
                                         const Json& current)
{
    const fs::path folder = fs::absolute(fs::path(request.file)).parent_path();
    Checked<JobImportOptions> options = settled_job_options(request.question, folder);
    if (!options || !options->cluster.gpu.empty() || options->cluster.topology.given())
        return options;
    options->cluster.topology = source_of(current, "topology");
    if (!options->cluster.topology.given())
        return tl::unexpected(
            refusal(request.file,
                    fmt::format("a job of {} does not say which GPUs it runs on", to_name(kind)),
                    "choose them in the view Origin, or open a scenario with that cluster first"));
    return options;
}

// The traces among its files.
Checked<Opened> open_folder(const std::string& folder, const WorkControl& control)
{
    OpenedTraces found;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator();
         at.increment(failed))
    {
        control.check();
        const fs::directory_entry& entry = *at;
        std::error_code ignored;
        if (entry.is_regular_file(ignored) && begins_as_trace(entry.path().string()))
            found.files.push_back(entry.path().string());
    }
    if (failed)
        throw WorldError{fmt::format("cannot read {}: {}", folder, failed.message())};
    if (found.files.empty())
        return tl::unexpected(refusal(folder, "there is no trace in this folder",
                                      "traces of torch.profiler, Nsight Systems (.sqlite) or "
                                      "Chakra, one file a rank"));
    std::sort(found.files.begin(), found.files.end());
    return found;
}

} // namespace

OpenedJob import_job_text(ImportQuestion request, const Json& current)
{
    OpenedJob out;
    const JobKind kind = *recognise_job(request.text);
    const Checked<JobImportOptions> options = import_options(request, kind, current);
    StageMemos memos;
    Checked<ImportedJob> job = options
                                   ? import_job(kind, request.text, request.file, *options, memos)
                                   : tl::unexpected(options.error());
    if (job) {
        const fs::path name = fs::path(request.file).stem().string() + ".scenario.json";
        out.scenario = {(options->folder / name).string(), std::move(job->scenario.json)};
        out.notes = std::move(job->notes);
        out.places = std::move(job->places);
        out.problems = std::move(job->warnings);
    } else
        out.problems = std::move(job.error());
    out.request = std::move(request);
    return out;
}

Checked<Opened> open_any(const std::string& file, const Json& current, const WorkControl& control)
{
    if (is_pipe(file)) {
        const std::string text = read_pipe(file, input_limits.max_bytes, control);
        if (is_measurement(text))
            return tl::unexpected(refusal(file, "measurements are read from files, not from pipes",
                                          "write them into a file first"));
        return open_text(text, file, current);
    }
    if (std::error_code ignored; fs::is_directory(file, ignored))
        return open_folder(file, control);
    if (is_saved_sweep(file)) // before traces: those of one kind are databases as well
        return open_sweep(file, control);
    if (begins_as_trace(file))
        return OpenedTraces{{file}};
    control.check();
    if (is_long_measurement(file))
        return OpenedMeasurements{file};
    control.check();
    const std::optional<std::string> text = read_file_up_to(file, input_limits.max_bytes);
    control.check();
    if (!text) // refused as everywhere
        return read_json_file(file, input_limits).and_then([&](Json json) {
            return open_json(std::move(json), file, current);
        });
    if (is_measurement(*text))
        return OpenedMeasurements{file};
    return open_text(*text, file, current);
}

} // namespace trainyard::gui
