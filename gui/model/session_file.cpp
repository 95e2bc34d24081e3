#include "gui/model/session_file.h"

#include "sim/base/fields.h"
#include "sim/base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace trainyard::gui {

namespace fs = std::filesystem;

namespace {

constexpr double most_id = 4e9; // below what an id can be

// The file's form: quantities as numbers of picoseconds, since they are places on a picture.
struct SessionTable {
    std::string file;
    Json scenario;
    Json baseline;
    std::string baseline_file;
    std::vector<std::int64_t> range_ps;
    std::vector<std::int64_t> selected_range_ps;
    std::int64_t selected_record = -1;
    std::int64_t selected_rank = -1;
    std::int64_t selected_link = -1;
    double price_per_device_hour = 0;
    std::string currency = "USD";
    double tokens = 0;
    Json lanes;
    Json explore;
    Json plan;
    std::vector<std::string> measured;
    Json fit_log;
    std::vector<std::string> recorded;
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
            .field("baseline_file", &SessionTable::baseline_file,
                   {.help = "the baseline's own file; empty: as the scenario's"})
            .field("range_ps", &SessionTable::range_ps, {.help = "from and to of what is in sight"})
            .field("selected_range_ps", &SessionTable::selected_range_ps,
                   {.help = "from and to of the stretch that is selected"})
            .field("selected_record", &SessionTable::selected_record,
                   {.help = "number of the recorded op that is pinned; -1: none", .min = -1})
            .field("selected_rank", &SessionTable::selected_rank,
                   {.help = "-1: none", .min = -1, .max = most_id})
            .field("selected_link", &SessionTable::selected_link,
                   {.help = "-1: none", .min = -1, .max = most_id})
            .field("price_per_device_hour", &SessionTable::price_per_device_hour,
                   {.help = "what a device costs", .min = 0})
            .field("currency", &SessionTable::currency, {.help = "of that price"})
            .field("tokens", &SessionTable::tokens, {.help = "of the whole training", .min = 0})
            .field("lanes", &SessionTable::lanes,
                   {.help = "the timeline's order, what is pinned and hidden, which ranks are "
                            "recorded"})
            .field("explore", &SessionTable::explore, {.help = "what is swept and pinned"})
            .field("plan", &SessionTable::plan, {.help = "what the planner is asked"})
            .field("measured", &SessionTable::measured, {.help = "files of measurements"})
            .field("fit_log", &SessionTable::fit_log,
                   {.help = "which measured files were read, which profiles saved"})
            .field("recorded", &SessionTable::recorded, {.help = "traces of a job that ran"})
            .field("view", &SessionTable::view, {.help = "the view in front"})
            .field("layout", &SessionTable::layout, {.help = "of the docks, base64"});
    return table;
}

constexpr std::string_view prefix = "session-";

std::vector<std::int64_t> ends_of(const std::optional<TimeRange>& range)
{
    return range ? std::vector{range->from.value(), range->to.value()}
                 : std::vector<std::int64_t>();
}

std::optional<TimeRange> range_of(const std::vector<std::int64_t>& ends)
{
    return ends.empty() ? std::nullopt
                        : std::optional(TimeRange{SimTime(ends[0]), SimTime(ends[1])});
}

void check_range(const Reader& reader, const char* field, const std::vector<std::int64_t>& ends)
{
    const std::int64_t most = longest_sim_time.value();
    if (!ends.empty() &&
        (ends.size() != 2 || ends[0] >= ends[1] || ends[0] < -most || ends[1] > most))
        reader.member(field).error("two times of a step, the earlier first");
}

Selection selection_of(const SessionTable& table)
{
    Selection out;
    if (table.selected_record >= 0)
        out.record = static_cast<std::size_t>(table.selected_record);
    if (table.selected_rank >= 0)
        out.rank = make_id<RankId>(static_cast<std::size_t>(table.selected_rank));
    if (table.selected_link >= 0)
        out.link = make_id<LinkId>(static_cast<std::size_t>(table.selected_link));
    out.range = range_of(table.selected_range_ps);
    return out;
}

bool is_session(const fs::path& file)
{
    return file.stem().string().starts_with(prefix) && file.extension() == ".json";
}

fs::path lock_of(const fs::path& file)
{
    return fs::path(file).replace_extension(".lock");
}

// Whether the program that writes the file still runs; one without a lock does not.
bool is_held(const fs::path& file)
{
    const int lock = ::open(lock_of(file).c_str(), O_RDONLY | O_CLOEXEC);
    if (lock < 0)
        return false;
    const bool held = ::flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(lock);
    return held;
}

// No other program's, also of those that had the same process number.
std::string own_name()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return fmt::format("{}{}-{:x}.json", prefix, ::getpid(),
                       std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

} // namespace

Json to_json(const SessionContent& content)
{
    SessionTable table;
    table.file = content.file;
    table.scenario = content.scenario;
    table.baseline = content.baseline;
    table.baseline_file = content.baseline_file;
    table.range_ps = ends_of(content.range);
    const Selection& selection = content.selection;
    table.selected_range_ps = ends_of(selection.range);
    if (selection.record)
        table.selected_record = static_cast<std::int64_t>(*selection.record);
    if (selection.rank)
        table.selected_rank = static_cast<std::int64_t>(selection.rank->value);
    if (selection.link)
        table.selected_link = static_cast<std::int64_t>(selection.link->value);
    table.price_per_device_hour = content.price.per_device_hour;
    table.currency = content.price.currency.toStdString();
    table.tokens = content.price.tokens;
    table.lanes = content.lanes;
    table.explore = content.explore;
    table.plan = content.plan;
    table.measured = content.measured;
    table.fit_log = content.fit_log;
    table.recorded = content.recorded;
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
    check_range(reader, "range_ps", table.range_ps);
    check_range(reader, "selected_range_ps", table.selected_range_ps);
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    SessionContent out;
    out.file = table.file;
    out.scenario = std::move(table.scenario);
    out.baseline = std::move(table.baseline);
    out.baseline_file = table.baseline_file;
    out.range = range_of(table.range_ps);
    out.selection = selection_of(table);
    out.price = {table.price_per_device_hour, QString::fromStdString(table.currency), table.tokens};
    out.lanes = std::move(table.lanes);
    out.explore = std::move(table.explore);
    out.plan = std::move(table.plan);
    out.measured = std::move(table.measured);
    out.fit_log = std::move(table.fit_log);
    out.recorded = std::move(table.recorded);
    out.view = table.view;
    out.layout = table.layout;
    return out;
}

void follow_moved_files(SessionContent& content, const fs::path& session)
{
    std::error_code ignored;
    for (std::string* const file : {&content.file, &content.baseline_file}) {
        if (file->empty() || fs::exists(*file, ignored))
            continue;
        const fs::path beside = fs::absolute(session).parent_path() / fs::path(*file).filename();
        if (fs::exists(beside, ignored))
            *file = beside.string();
    }
}

Autosave::Autosave(fs::path folder) : folder_(std::move(folder)), file_(folder_ / own_name()) {}

Autosave::~Autosave()
{
    forget(file_);
    if (lock_ >= 0)
        ::close(lock_);
}

void Autosave::forget(const fs::path& file)
{
    std::error_code ignored;
    fs::remove(file, ignored);
    fs::remove(lock_of(file), ignored);
}

// Where locks cannot be had (some network folders) the file is kept all the same: rather offered
// to another window than lost.
void Autosave::write(const SessionContent& content)
{
    std::error_code failed;
    fs::create_directories(folder_, failed);
    if (lock_ < 0) {
        lock_ = ::open(lock_of(file_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (lock_ >= 0)
            ::flock(lock_, LOCK_EX | LOCK_NB);
    }
    write_file(file_, to_text(to_json(content), JsonStyle::compact) + "\n");
}

std::vector<fs::path> Autosave::left_behind() const
{
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
        if (is_session(entry.path()) && !is_held(entry.path()))
            found.emplace_back(entry.last_write_time(ignored), entry.path());
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    std::vector<fs::path> files;
    for (auto& [time, file] : found)
        files.push_back(std::move(file));
    return files;
}

} // namespace trainyard::gui
