#include "sim/traces/trace_bytes.h"

#include <fmt/core.h>

namespace trainyard {

TraceBytes::TraceBytes(std::string file, const WorkControl& work)
    : file_(std::move(file)), packed_(file_), stream_(packed_, work)
{}

Problems TraceBytes::unreadable() const
{
    constexpr std::size_t place = 257; // POSIX.1-1988: the magic of a tar's header
    const std::string_view begun = stream_.begun();
    if (begun.size() > place && begun.substr(place).starts_with("ustar"))
        return {{file_, 0, "", "is an archive", "unpack it first: tar -xf", Severity::error}};
    if (begun.empty() && packed_.damage().empty())
        return {
            {file_, 0, "", "is empty", "wait until the profiler has written it", Severity::error}};
    return {};
}

Problems TraceBytes::cut() const
{
    if (packed_.damage().empty())
        return {};
    return {{file_, stream_.line(), "",
             fmt::format("{}, after {} bytes of text", packed_.damage(), stream_.bytes()),
             "copy the file again, or wait until the profiler has written it", Severity::error}};
}

} // namespace trainyard
