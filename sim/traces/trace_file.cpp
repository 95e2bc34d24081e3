#include "sim/traces/trace_file.h"

#include "sim/base/json.h"
#include "sim/traces/execution/execution_json.h"
#include "sim/traces/execution/execution_protobuf.h"
#include "sim/traces/execution/graph_ranks.h"
#include "sim/traces/kineto_reader.h"
#include "sim/traces/nsight/nsight_reader.h"
#include "sim/traces/trace_bytes.h"
#include "sim/traces/trace_words.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace trainyard {
namespace {

enum class TraceForm : std::uint8_t {
    kineto,
    execution_calls,
    execution_graph,
    execution_apart,
    execution_protobuf,
    communicators
};

bool is_number(std::string_view key)
{
    return !key.empty() &&
           std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Members of the first object, up to the one that tells.
class FirstMembers final : public nlohmann::json_sax<nlohmann::json> {
public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return ++depth_ < 64; }
    bool end_object() override
    {
        if (depth_ == 1 && !any_member_) // no communicator but that of all
            return tells(TraceForm::communicators);
        return --depth_ > 0;
    }
    bool start_array(std::size_t) override
    {
        if (depth_ == 1 && communicators_) {
            told_ = true;
            return tells(TraceForm::communicators);
        }
        return depth_++ > 0; // a list of all is Kineto's oldest form
    }
    bool end_array() override { return --depth_ > 0; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override
    {
        return false;
    }
    bool key(string_t& name) override
    {
        if (depth_ != 1)
            return true;
        any_member_ = true;
        communicators_ = is_number(name);
        if (name == "format") // ours
            return false;
        told_ = name == "schema" || name == "workload_graph" || name == "traceEvents" ||
                name == "schemaVersion";
        if (name == "schema" || name == "nodes")
            return tells(TraceForm::execution_calls);
        if (name == "workload_graph")
            return tells(TraceForm::execution_graph);
        if (name == "attr" || name == "version" || name == "id")
            return tells(TraceForm::execution_apart);
        return !told_;
    }

    TraceForm form() const { return form_; }
    bool told() const { return told_; } // by a member that no other file has

private:
    bool tells(TraceForm form)
    {
        form_ = form;
        return false;
    }

    TraceForm form_ = TraceForm::kineto;
    std::size_t depth_ = 0;
    bool any_member_ = false;
    bool communicators_ = false;
    bool told_ = false;
};

bool begins_json_text(std::string_view begun)
{
    const std::size_t first = begun.find_first_not_of(" \t\r\n");
    return first != begun.npos && (begun[first] == '{' || begun[first] == '[');
}

FirstMembers first_members(std::string_view begun)
{
    FirstMembers members;
    nlohmann::json::sax_parse(begun.begin(), begun.end(), &members);
    return members;
}

TraceForm form_of(std::string_view begun)
{
    if (!begins_json_text(begun))
        return begins_as_execution_protobuf(begun) ? TraceForm::execution_protobuf
                                                   : TraceForm::kineto;
    return first_members(begun).form();
}

Checked<ExecutionTrace> read_execution_trace(TraceBytes& bytes, const std::string& file,
                                             TraceForm form)
{
    switch (form) {
    case TraceForm::execution_protobuf:
        return read_execution_protobuf(bytes.stream(), file);
    case TraceForm::execution_graph:
        return read_execution_json(bytes.stream(), file, GraphText::graph);
    case TraceForm::execution_apart:
        return read_execution_json(bytes.stream(), file, GraphText::apart);
    default:
        return read_execution_json(bytes.stream(), file, GraphText::calls);
    }
}

// {"1": [0, 1], "2": [0, 2]}
Checked<std::vector<TraceGroup>> read_communicators(JsonStream& stream, const std::string& file)
{
    constexpr std::size_t most_bytes = std::size_t{256} << 20U;
    std::string text;
    for (; !stream.ended() && text.size() <= most_bytes; stream.advance())
        text += stream.current();
    Checked<Json> json = parse_json(text, file);
    if (!json)
        return tl::unexpected(std::move(json.error()));
    std::vector<TraceGroup> out;
    for (const auto& [name, members] : json->members()) {
        TraceGroup group;
        group.name = name;
        bool whole = is_number(name) && members.is_array();
        for (std::size_t i = 0; whole && i < members.items().size(); ++i) {
            const Json& member = members.items()[i];
            whole = member.is_integer() && member.as_integer() >= 0 &&
                    member.as_integer() <= std::int64_t{most_trace_ranks};
            if (whole)
                group.ranks.push_back(static_cast<int>(member.as_integer()));
        }
        if (!whole)
            return tl::unexpected(
                Problems{{file, members.line(), "/" + name, "is no communicator",
                          "\"NUMBER\": [RANK, ...] is expected", Severity::error}});
        group.size = static_cast<int>(group.ranks.size());
        out.push_back(std::move(group));
    }
    return out;
}

// As it lies on the disk, which is not what is unpacked of it; nothing of pipes.
bool lies_as(const std::string& file, std::string_view magic)
{
    std::string begun(magic.size(), '\0');
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored))
        std::ifstream(file, std::ios::binary).read(begun.data(), std::ssize(begun));
    return begun == magic;
}

// Text has no such bytes.
bool is_binary(std::string_view begun)
{
    constexpr std::size_t looked_at = 64;
    const std::string_view head = begun.substr(0, looked_at);
    return std::any_of(head.begin(), head.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r' && c != '\n';
    });
}

// One object ends and the next begins, as in no other JSON.
bool one_after_the_other(std::string_view begun)
{
    const std::size_t end = std::min(begun.find('}'), begun.size());
    const std::size_t next = begun.find_first_not_of(" \t\r\n", end + 1);
    return next < begun.size() && begun[next] == '{';
}

// SQLite reads the file itself, not what is unpacked of it.
Checked<TraceFile> read_database(const std::string& file, const WorkControl& work)
{
    if (!lies_as(file, sqlite_magic))
        return rejected(file, "is a database, packed or in a pipe",
                        "unpack it into a file first: gunzip");
    Checked<std::vector<RankTrace>> ranks = read_nsight(file, work);
    if (!ranks)
        return tl::unexpected(std::move(ranks.error()));
    TraceFile out;
    for (RankTrace& rank : *ranks)
        out.ranks.push_back(digest(std::move(rank)));
    return out;
}

template <class T>
Problems taken_problems(Checked<T>& checked)
{
    return std::move(checked.error());
}

} // namespace

bool begins_as_trace(const std::string& file)
{
    constexpr std::string_view gzip_magic = "\x1f\x8b";
    if (lies_as(file, sqlite_magic))
        return true;
    const WorkControl work;
    TraceBytes bytes(file, work);
    const std::string_view begun = bytes.stream().begun();
    if (lies_as(file, gzip_magic))
        return begins_json_text(begun) || is_binary(begun);
    if (!begins_json_text(begun))
        return is_binary(begun) && begins_as_execution_protobuf(begun);
    const FirstMembers members = first_members(begun);
    return members.told() ||
           (members.form() == TraceForm::execution_apart && one_after_the_other(begun));
}

Checked<TraceFile> read_trace_file(const std::string& file, const WorkControl& work)
{
    TraceBytes bytes(file, work);
    if (const Problems problems = bytes.unreadable(); !problems.empty())
        return tl::unexpected(problems);
    if (bytes.stream().begun().starts_with(sqlite_magic))
        return read_database(file, work);
    TraceFile out;
    const TraceForm form = form_of(bytes.stream().begun());
    if (form == TraceForm::kineto && !begins_json_text(bytes.stream().begun()) &&
        is_binary(bytes.stream().begun()))
        return rejected(
            file, "is neither JSON nor an execution trace nor a database",
            "a report of Nsight Systems (.nsys-rep): nsys export --type sqlite; a trace "
            "of Perfetto: its JSON form");
    if (form == TraceForm::kineto) {
        Checked<std::vector<RankTrace>> ranks = read_kineto(bytes);
        if (!ranks)
            return tl::unexpected(taken_problems(ranks));
        for (RankTrace& rank : *ranks)
            out.ranks.push_back(digest(std::move(rank)));
        return out;
    }
    if (form == TraceForm::communicators) {
        Checked<std::vector<TraceGroup>> groups = read_communicators(bytes.stream(), file);
        if (!groups)
            return tl::unexpected(taken_problems(groups));
        out.groups = std::move(*groups);
        return out;
    }
    Checked<ExecutionTrace> trace = read_execution_trace(bytes, file, form);
    if (const Problems cut = bytes.cut(); !cut.empty())
        return tl::unexpected(cut);
    if (!trace)
        return tl::unexpected(taken_problems(trace));
    Checked<DigestedRank> rank = digest(std::move(*trace));
    if (!rank)
        return tl::unexpected(taken_problems(rank));
    out.ranks.push_back(std::move(*rank));
    return out;
}

} // namespace trainyard
