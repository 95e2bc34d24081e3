#include "sim/traces/nsight/nsight_reader.h"

#include "sim/base/utf8.h"
#include "sim/database/database.h"
#include "sim/traces/nsight/nvtx_ranges.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>

namespace trainyard {
namespace {

constexpr std::string_view kernel_table = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr std::string_view graph_table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr std::int64_t latest_time = 2'500'000'000'000'000'000; // nanoseconds: in 2049
constexpr std::int64_t year = 31'556'952'000'000'000;

// Ids of processes and of their threads have the process in all but the last 24 bits.
constexpr std::uint64_t process_of(std::int64_t id)
{
    return static_cast<std::uint64_t>(id) >> 24U;
}

std::string_view copy_name(std::int64_t kind) // CUpti_ActivityMemcpyKind
{
    switch (kind) {
    case 1:
        return "Memcpy HtoD";
    case 2:
        return "Memcpy DtoH";
    case 8:
        return "Memcpy DtoD";
    case 10:
        return "Memcpy PtoP";
    default:
        return "Memcpy";
    }
}

template <class Number>
Number clamped(std::int64_t value)
{
    return static_cast<Number>(
        std::clamp<std::int64_t>(value, 0, std::numeric_limits<Number>::max()));
}

std::uint64_t count_at(std::int64_t value)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

class NsightTables {
public:
    NsightTables(const std::string& file, const WorkControl& work)
        : file_(file), work_(work), database_(file, DatabaseAccess::read)
    {}

    Checked<std::vector<RankTrace>> read()
    {
        if ((!has(kernel_table) && !has(graph_table)) || !has("StringIds"))
            return refused("holds no kernels of Nsight Systems",
                           "nsys profile -t cuda,nvtx ..., then nsys export --type sqlite");
        if (has("TARGET_INFO_SESSION_START_TIME"))
            epoch_ = std::clamp<std::int64_t>(
                number("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1"), 0,
                latest_time);
        read_kernels();
        read_graphs();
        read_copies("CUPTI_ACTIVITY_KIND_MEMCPY", DeviceActivity::copy);
        read_copies("CUPTI_ACTIVITY_KIND_MEMSET", DeviceActivity::set);
        if (problem_.empty() && ranks_.empty())
            return refused("holds no event of a GPU", "nsys profile -t cuda,nvtx ...");
        read_calls();
        read_ranges();
        if (!problem_.empty())
            return refused(problem_, "an export of nsys is expected as it was written");
        return take();
    }

private:
    bool has(std::string_view table) { return !columns(table).empty(); }

    std::set<std::string> columns(std::string_view table)
    {
        std::set<std::string> out;
        Statement statement(database_, "SELECT name FROM pragma_table_info(?)");
        statement.bind(table);
        while (statement.step())
            out.insert(statement.text(0));
        return out;
    }

    std::int64_t number(const std::string& question)
    {
        Statement statement(database_, question);
        return statement.step() ? statement.integer(0) : 0;
    }

    // "SELECT a, NULL, c FROM table": optional columns that this version has not are null.
    std::optional<std::string> selection(std::string_view table,
                                         std::initializer_list<std::string_view> needed,
                                         std::initializer_list<std::string_view> optional)
    {
        const std::set<std::string> known = columns(table);
        std::vector<std::string> out;
        for (const std::string_view column : needed) {
            if (!known.contains(std::string(column))) {
                if (problem_.empty())
                    problem_ = fmt::format("table {} has no column {}", table, column);
                return std::nullopt;
            }
            out.push_back(fmt::format("\"{}\"", column));
        }
        for (const std::string_view column : optional)
            out.push_back(known.contains(std::string(column)) ? fmt::format("\"{}\"", column)
                                                              : "NULL");
        return fmt::format("SELECT {} FROM \"{}\"", fmt::join(out, ", "), table);
    }

    // Calls `take` for each row, until one is wrong; columns 0 and 1 are its start and end.
    template <class Take>
    void each(std::string_view table, const std::optional<std::string>& question, Take&& take)
    {
        if (!question || !problem_.empty())
            return;
        Statement rows(database_, *question);
        for (std::uint64_t row = 1; rows.step(); ++row) {
            if (row % 65536 == 0)
                work_.check();
            ++events_;
            const std::int64_t start = rows.integer(0);
            const std::int64_t end = std::max(rows.is_null(1) ? start : rows.integer(1), start);
            first_ = std::min(first_.value_or(start), start);
            if (start < -latest_time / 4 || end > latest_time / 4 || end - *first_ > year) {
                problem_ = fmt::format("row {} of {}: a time beyond any clock's", row, table);
                return;
            }
            take(rows, TraceSpan{TraceTime(start + epoch_), TraceTime(end + epoch_)});
        }
    }

    RankTrace& rank_of(std::int64_t process) { return ranks_[process_of(process)]; }

    const std::string& string_of(std::int64_t id)
    {
        const auto [at, fresh] = strings_.try_emplace(id);
        if (fresh) {
            if (!find_string_)
                find_string_ = std::make_unique<Statement>(
                    database_, "SELECT value FROM StringIds WHERE id = ?");
            find_string_->bind(id);
            if (find_string_->step())
                at->second = find_string_->text(0);
            find_string_->reset();
        }
        return at->second;
    }

    void add_device_event(RankTrace& rank, const Statement& row, TraceSpan span,
                          std::string_view name, DeviceActivity activity, std::uint64_t bytes)
    {
        DeviceEvent event;
        event.span = span;
        event.device = clamped<std::uint16_t>(row.integer(2));
        event.stream = clamped<std::uint32_t>(row.integer(3));
        event.correlation = count_at(row.integer(4));
        event.name = rank.names.intern(name);
        event.activity = activity;
        event.bytes = bytes;
        rank.device_events.push_back(event);
    }

    void read_kernels()
    {
        if (!has(kernel_table))
            return;
        const auto question =
            selection(kernel_table, {"start", "end", "deviceId", "streamId", "correlationId"},
                      {"globalPid", "demangledName", "shortName"});
        each(kernel_table, question, [&](const Statement& row, TraceSpan span) {
            const int name = row.is_null(6) ? 7 : 6;
            add_device_event(rank_of(row.integer(5)), row, span, string_of(row.integer(name)),
                             DeviceActivity::kernel, 0);
        });
    }

    // Unless asked for more, Nsight records of a CUDA graph when it ran, and no kernel of it.
    void read_graphs()
    {
        if (!has(graph_table))
            return;
        const auto question =
            selection(graph_table, {"start", "end", "deviceId", "streamId", "correlationId"},
                      {"globalPid", "graphId"});
        each(graph_table, question, [&](const Statement& row, TraceSpan span) {
            RankTrace& rank = rank_of(row.integer(5));
            ++rank.graphs;
            add_device_event(rank, row, span, fmt::format("CUDA graph {}", row.integer(6)),
                             DeviceActivity::kernel, 0);
        });
    }

    void read_copies(std::string_view table, DeviceActivity activity)
    {
        if (!has(table))
            return;
        const auto question =
            selection(table, {"start", "end", "deviceId", "streamId", "correlationId"},
                      {"globalPid", "bytes", "copyKind"});
        each(table, question, [&](const Statement& row, TraceSpan span) {
            add_device_event(rank_of(row.integer(5)), row, span,
                             activity == DeviceActivity::set ? "Memset" : copy_name(row.integer(7)),
                             activity, count_at(row.integer(6)));
        });
    }

    void read_calls()
    {
        constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_RUNTIME";
        if (!has(table))
            return;
        const auto question =
            selection(table, {"start", "end", "globalTid", "correlationId", "nameId"}, {});
        each(table, question, [&](const Statement& row, TraceSpan span) {
            const auto rank = ranks_.find(process_of(row.integer(2)));
            if (rank == ranks_.end())
                return;
            HostEvent event;
            event.span = span;
            event.thread = static_cast<std::uint64_t>(row.integer(2));
            event.correlation = count_at(row.integer(3));
            event.name = rank->second.names.intern(string_of(row.integer(4)));
            event.activity = HostActivity::call;
            rank->second.host_events.push_back(event);
        });
    }

    void read_ranges()
    {
        constexpr std::string_view table = "NVTX_EVENTS";
        if (!has(table) || !problem_.empty())
            return;
        std::set<std::int64_t> of_nccl;
        const auto domains = selection(table, {"eventType", "domainId"}, {"text", "textId"});
        if (!domains)
            return;
        // Numbers of ENUM_NSYS_EVENT_TYPE: 75 names a domain; 59 is a range that was pushed and
        // popped, 60 one that was started and ended.
        for (Statement rows(database_, *domains + " WHERE eventType = 75"); rows.step();)
            if ((rows.is_null(2) ? string_of(rows.integer(3)) : rows.text(2)) == "NCCL")
                of_nccl.insert(rows.integer(1));
        auto question = selection(table, {"start", "end", "globalTid", "domainId", "eventType"},
                                  {"text", "textId", "jsonText", "jsonTextId"});
        if (question)
            *question += " WHERE eventType IN (59, 60)";
        each(table, question, [&](const Statement& row, TraceSpan span) {
            const auto rank = ranks_.find(process_of(row.integer(2)));
            if (rank == ranks_.end())
                return;
            const auto text_at = [&](int column) {
                return !row.is_null(column)      ? row.text(column)
                       : row.is_null(column + 1) ? std::string()
                                                 : string_of(row.integer(column + 1));
            };
            keep_range(rank->second, {span, static_cast<std::uint64_t>(row.integer(2)), text_at(5),
                                      text_at(7), of_nccl.contains(row.integer(3))});
        });
    }

    std::string device_name(std::uint16_t device)
    {
        if (!columns("TARGET_INFO_GPU").contains("name"))
            return "";
        Statement statement(database_, "SELECT name FROM TARGET_INFO_GPU WHERE id = ?");
        statement.bind(std::int64_t{device});
        return statement.step() ? printable_lines(statement.text(0)) : std::string();
    }

    std::vector<RankTrace> take()
    {
        std::vector<RankTrace> out;
        for (auto& [process, rank] : ranks_) {
            rank.file = file_;
            rank.events = events_;
            name_steps(rank);
            if (std::string device = device_name(rank.device_events.front().device);
                !device.empty())
                rank.devices.push_back(std::move(device));
            out.push_back(std::move(rank));
        }
        std::stable_sort(out.begin(), out.end(), [](const RankTrace& a, const RankTrace& b) {
            return a.device_events.front().device < b.device_events.front().device;
        });
        return out;
    }

    tl::unexpected<Problems> refused(std::string message, std::string hint)
    {
        return rejected(file_, std::move(message), std::move(hint));
    }

    std::string file_;
    const WorkControl& work_;
    Database database_;
    std::map<std::uint64_t, RankTrace> ranks_; // by process
    std::map<std::int64_t, std::string> strings_;
    std::unique_ptr<Statement> find_string_;
    std::int64_t epoch_ = 0; // of the session, on the clock of all hosts
    std::optional<std::int64_t> first_;
    std::uint64_t events_ = 0;
    std::string problem_;
};

} // namespace

Checked<std::vector<RankTrace>> read_nsight(const std::string& file, const WorkControl& work)
{
    try {
        return NsightTables(file, work).read();
    } catch (const DatabaseDamaged&) {
        return rejected(file, "is a damaged database: cut, or still written",
                        "export the report again: nsys export --type sqlite");
    }
}

} // namespace trainyard
