#include "gui/model/session_file.h"

#include "sim/base/files.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace trainyard::gui {

namespace fs = std::filesystem;

namespace {

// The file's form: quantities as numbers of picoseconds, since they are places on a picture.
struct SessionTable {
    std::string file;
    Json scenario;
    Json baseline;
    std::vector<std::int64_t> range_ps;
    double price_per_device_hour = 0;
    std::string currency = "USD";
    std::string view;
    std::string layout;
};

const FieldTable<SessionTable>& session_fields()
{
    static const auto table =
        FieldTable<SessionTable>("session", "What one was looking at.")
            .field("file", &SessionTable::file, {.help = "the scenario's own file"})
            .field("scenario", &SessionTable::scenario, {.help = "as edited", .required = true})
            .field("baseline", &SessionTable::baseline, {.help = "a scenario to compare with"})
            .field("range_ps", &SessionTable::range_ps, {.help = "from and to of what is in sight"})
            .field("price_per_device_hour", &SessionTable::price_per_device_hour,
                   {.help = "what a device costs", .min = 0})
            .field("currency", &SessionTable::currency, {.help = "of that price"})
            .field("view", &SessionTable::view, {.help = "the view in front"})
            .field("layout", &SessionTable::layout, {.help = "of the docks, base64"});
    return table;
}

constexpr std::string_view prefix = "session-";

// The process that a file of ours is of; 0: none.
long process_of(const fs::path& file)
{
    const std::string name = file.stem().string();
    if (!name.starts_with(prefix) || file.extension() != ".json")
        return 0;
    return std::strtol(name.c_str() + prefix.size(), nullptr, 10);
}

bool is_running(long process)
{
    return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
}

} // namespace

Json to_json(const SessionContent& content)
{
    SessionTable table;
    table.file = content.file;
    table.scenario = content.scenario;
    table.baseline = content.baseline;
    if (content.range)
        table.range_ps = {content.range->from.value(), content.range->to.value()};
    table.price_per_device_hour = content.price.per_device_hour;
    table.currency = content.price.currency.toStdString();
    table.view = content.view;
    table.layout = content.layout;
    Json out = Json::object();
    out["format"] = session_format;
    Json body = session_fields().write(table);
    for (Json::Member& member : body.members())
        out[member.first] = std::move(member.second);
    return out;
}

Checked<SessionContent> session_from(const Json& json, const std::string& file)
{
    Problems problems;
    const Reader reader(json, file, problems);
    SessionTable table;
    if (check_format(reader, session_format))
        session_fields().read(reader, table);
    if (!has_errors(problems) && !table.scenario.is_object())
        reader.member("scenario").error("a scenario is an object");
    if (!table.range_ps.empty() &&
        (table.range_ps.size() != 2 || table.range_ps[0] >= table.range_ps[1]))
        reader.member("range_ps").error("two times, the earlier first");
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    SessionContent out;
    out.file = table.file;
    out.scenario = std::move(table.scenario);
    out.baseline = std::move(table.baseline);
    if (!table.range_ps.empty())
        out.range = TimeRange{SimTime(table.range_ps[0]), SimTime(table.range_ps[1])};
    out.price = {table.price_per_device_hour, QString::fromStdString(table.currency)};
    out.view = table.view;
    out.layout = table.layout;
    return out;
}

Autosave::Autosave(fs::path folder)
    : folder_(std::move(folder)), file_(folder_ / fmt::format("{}{}.json", prefix, ::getpid()))
{}

Autosave::~Autosave()
{
    std::error_code ignored;
    fs::remove(file_, ignored);
}

void Autosave::write(const SessionContent& content)
{
    std::error_code failed;
    fs::create_directories(folder_, failed);
    write_file(file_, to_text(to_json(content), JsonStyle::compact) + "\n");
}

std::vector<fs::path> Autosave::left_behind() const
{
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
        const long process = process_of(entry.path());
        if (process > 0 && !is_running(process))
            found.emplace_back(entry.last_write_time(ignored), entry.path());
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    std::vector<fs::path> files;
    for (auto& [time, file] : found)
        files.push_back(std::move(file));
    return files;
}

} // namespace trainyard::gui
