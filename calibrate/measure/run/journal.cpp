#include "calibrate/measure/run/journal.h"

#include "calibrate/measure/run/sound_samples.h"
#include "sim/base/fields.h"
#include "sim/base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

template <class T>
Json line_of(std::string_view key, const T& value)
{
    Json out = Json::object();
    out[key] = FieldValue<T>::write(value);
    return out;
}

// Samples are worth keeping also where what their machine is made of makes no sense.
bool take_nodes(const Reader& reader, MeasuredRun& run)
{
    run.nodes.clear();
    if (!FieldValue<std::vector<NodeReport>>::read(reader, run.nodes))
        return false;
    for (const NodeReport& node : run.nodes)
        if (const std::string wrong = unsound(node); !wrong.empty()) {
            run.doubts.push_back(fmt::format("what the samples' host {} is made of is left out: {}",
                                             node.host, wrong));
            run.nodes.clear();
            break;
        }
    return true;
}

// Takes one line; false when it cannot.
bool take(const Reader& reader, MeasuredRun& run)
{
    const Json& json = reader.node();
    const auto read = [&](std::string_view key, auto& list) {
        list.emplace_back();
        return FieldValue<std::decay_t<decltype(list.back())>>::read(reader.member(key),
                                                                     list.back());
    };
    const auto sound = [&](const std::string& wrong) {
        if (!wrong.empty())
            reader.error("no sample of this run: " + wrong);
        return wrong.empty();
    };
    if (json.find("point") != nullptr)
        return read("point", run.points) && sound(unsound(run.points.back(), run.ranks.size()));
    if (json.find("creation") != nullptr)
        return read("creation", run.creations) &&
               sound(unsound(run.creations.back().group, run.ranks.size()));
    if (json.find("jump") != nullptr)
        return read("jump", run.jumps);
    if (json.find("nodes") != nullptr)
        return take_nodes(reader.member("nodes"), run);
    if (json.find("left_out") != nullptr)
        return read("left_out", run.left_out);
    if (json.find("ended") != nullptr)
        return FieldValue<std::string>::read(reader.member("ended"), run.ended);
    reader.error("a line of samples holds a point, a creation, a jump, nodes, left_out or ended");
    return false;
}

void take_header(const Reader& reader, MeasuredRun& run)
{
    if (!FieldValue<MeasuredRun>::read(reader.member("run"), run))
        return;
    if (const std::string wrong = unsound(run); !wrong.empty())
        reader.error("no run is like this: " + wrong);
}

// Of a file whose first line is no JSON by itself, as that of a profile.
Problems no_samples(Problems problems)
{
    problems.front().message = "this is no file of samples: " + problems.front().message;
    problems.front().hint = "samples are in FILE.samples.jsonl, beside the profile that is made of "
                            "them";
    return problems;
}

Problems at_line(Problems problems, int line)
{
    for (Diagnostic& problem : problems)
        problem.line = line;
    return problems;
}

WorldError cannot(const char* what, const fs::path& path)
{
    return WorldError{fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno))};
}

Descriptor opened(const fs::path& path, int more)
{
    Descriptor out(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | more, 0666));
    if (!out)
        throw cannot("write", path);
    return out;
}

// Two runs with the same output must not mix what they measure. Where a file system has no locks,
// nobody is kept away.
void lock(const Descriptor& file, const fs::path& path)
{
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw WorldError{
            fmt::format("another run writes to {}: give this one an -o of its own", path.string())};
}

bool is_still_at(const fs::path& path, const Descriptor& file)
{
    struct stat there {};
    struct stat here {};
    return ::stat(path.c_str(), &there) == 0 && ::fstat(file.number(), &here) == 0 &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

bool has_our_format(const Json& first_line)
{
    const Json* const format = first_line.find("format");
    return format != nullptr && *format == Json(samples_format) && first_line.find("run");
}

// An empty file, or what a run left that was ended before its first point.
bool holds_nothing(const fs::path& path)
{
    const std::string text = read_file(path);
    if (text.empty())
        return true;
    const Checked<Json> first = parse_json(text.substr(0, text.find('\n')), path.string());
    return first && has_our_format(*first) && text.find("\n{\"point\"") == std::string::npos;
}

// "run.samples.jsonl" -> "run.samples.1.jsonl", the first that is free.
fs::path move_aside(const fs::path& path)
{
    for (int number = 1;; ++number) {
        fs::path to = path;
        to.replace_extension(fmt::format(".{}{}", number, path.extension().string()));
        // A link instead of a renaming, which would replace what is there.
        if (::link(path.c_str(), to.c_str()) == 0) {
            ::unlink(path.c_str());
            return to;
        }
        if (errno == EEXIST || fs::exists(fs::symlink_status(to)))
            continue;
        if (::rename(path.c_str(), to.c_str()) != 0) // a file system without links
            throw cannot("move aside", path);
        return to;
    }
}

} // namespace

Journal::Journal(fs::path path, const MeasuredRun& run) : path_(std::move(path))
{
    lock_ = opened(path_, 0);
    lock(lock_, path_);
    while (!is_still_at(path_, lock_)) { // another run has just moved it aside
        lock_ = opened(path_, 0);
        lock(lock_, path_);
    }
    if (!holds_nothing(path_)) {
        earlier_ = move_aside(path_);
        Descriptor anew = opened(path_, O_EXCL);
        lock(anew, path_);
        lock_ = std::move(anew);
    }
    file_.open(path_, std::ios::trunc);
    Json header = Json::object();
    header["format"] = samples_format;
    MeasuredRun start = run;
    start.points.clear();
    start.creations.clear();
    start.jumps.clear();
    start.nodes.clear();
    start.left_out.clear();
    header["run"] = FieldValue<MeasuredRun>::write(start);
    write(header);
}

void Journal::write(const Json& line)
{
    file_ << to_text(line, JsonStyle::compact) << '\n' << std::flush;
    if (!file_)
        throw WorldError{fmt::format("cannot write to {}: is the disk full?", path_.string())};
}

void Journal::add(const MeasuredPoint& point)
{
    write(line_of("point", point));
}

void Journal::add(const CreationTime& creation)
{
    write(line_of("creation", creation));
}

void Journal::add(const UnresolvedJump& jump)
{
    write(line_of("jump", jump));
}

void Journal::left_out(const std::string& what)
{
    write(line_of("left_out", what));
}

void Journal::machine(const std::vector<NodeReport>& nodes)
{
    write(line_of("nodes", nodes));
}

void Journal::ended(const std::string& why)
{
    write(line_of("ended", why));
}

Checked<MeasuredRun> read_journal(const fs::path& path)
{
    const std::string text = read_file(path);
    const std::string file = path.string();
    MeasuredRun out;
    std::size_t begin = 0;
    for (int line = 1; begin < text.size(); ++line) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string::npos)
            break; // cut
        const std::string_view one = std::string_view(text).substr(begin, end - begin);
        begin = end + 1;
        if (one.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        const Checked<Json> json = parse_json(one, file);
        if (!json)
            return tl::unexpected(
                at_line(line == 1 ? no_samples(json.error()) : json.error(), line));
        Problems problems;
        const Reader reader(*json, file, problems);
        if (line == 1) {
            if (!has_our_format(*json))
                reader.error(fmt::format("this is no file of samples: its first line has no "
                                         "\"format\": \"{}\"",
                                         samples_format));
            else
                take_header(reader, out);
        } else {
            take(reader, out);
        }
        if (reader.error_count() > 0)
            return tl::unexpected(at_line(problems, line));
    }
    if (out.points.empty())
        return tl::unexpected(Problems{
            {file, 0, "",
             out.ended.empty()
                 ? "it holds no samples: nothing was measured"
                 : fmt::format("it holds no samples: the run measured nothing ({})", out.ended),
             "", Severity::error}});
    for (MeasuredPoint& point : out.points)
        point.estimate = estimate_of(point.batches);
    return out;
}

} // namespace trainyard
