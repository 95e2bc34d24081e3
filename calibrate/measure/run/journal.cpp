#include "calibrate/measure/run/journal.h"

#include "sim/base/fields.h"
#include "sim/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

namespace trainyard {
namespace {

template <class T>
Json line_of(std::string_view key, const T& value)
{
    Json out = Json::object();
    out[key] = FieldValue<T>::write(value);
    return out;
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
    if (json.find("point") != nullptr)
        return read("point", run.points);
    if (json.find("creation") != nullptr)
        return read("creation", run.creations);
    if (json.find("left_out") != nullptr)
        return read("left_out", run.left_out);
    if (json.find("ended") != nullptr)
        return FieldValue<std::string>::read(reader.member("ended"), run.ended);
    reader.error("a line of samples holds a point, a creation, left_out or ended");
    return false;
}

Problems at_line(Problems problems, int line)
{
    for (Diagnostic& problem : problems)
        problem.line = line;
    return problems;
}

// Two runs with the same output must not mix what they measure. Where a file system has no locks,
// nobody is kept away.
Descriptor locked(const std::filesystem::path& path)
{
    Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!out)
        throw WorldError{fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))};
    if (::flock(out.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw WorldError{
            fmt::format("another run writes to {}: give this one an -o of its own", path.string())};
    return out;
}

} // namespace

Journal::Journal(std::filesystem::path path, const MeasuredRun& run)
    : path_(std::move(path)), lock_(locked(path_)), file_(path_, std::ios::trunc)
{
    Json header = Json::object();
    header["format"] = samples_format;
    MeasuredRun start = run;
    start.points.clear();
    start.creations.clear();
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

void Journal::left_out(const std::string& what)
{
    write(line_of("left_out", what));
}

void Journal::ended(const std::string& why)
{
    write(line_of("ended", why));
}

Checked<MeasuredRun> read_journal(const std::filesystem::path& path)
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
        const Checked<Json> json = parse_json(one, file);
        if (!json)
            return tl::unexpected(at_line(json.error(), line));
        Problems problems;
        const Reader reader(*json, file, problems);
        if (line == 1) {
            const Json* const format = json->find("format");
            if (format == nullptr || !(*format == Json(samples_format)) || !json->find("run"))
                reader.error(fmt::format("this is no file of samples: its first line has no "
                                         "\"format\": \"{}\"",
                                         samples_format));
            else
                FieldValue<MeasuredRun>::read(reader.member("run"), out);
        } else {
            take(reader, out);
        }
        if (reader.error_count() > 0)
            return tl::unexpected(at_line(problems, line));
    }
    if (text.empty() || begin == 0)
        return tl::unexpected(
            Problems{{file, 1, "", "the file holds no samples", "", Severity::error}});
    for (MeasuredPoint& point : out.points)
        point.estimate = estimate_of(point.batches);
    return out;
}

} // namespace trainyard
