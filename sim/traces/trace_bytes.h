#pragma once

// The bytes of a trace, packed or not, and why they cannot be read.

#include "sim/base/diagnostic.h"
#include "sim/traces/json_stream.h"

#include <string>

namespace trainyard {

class TraceBytes {
public:
    // Throws WorldError.
    TraceBytes(std::string file, const WorkControl& work);

    const std::string& file() const { return file_; }
    JsonStream& stream() { return stream_; }
    // Before anything is read: an archive, nothing at all.
    Problems unreadable() const;
    // After the end: packed data that end early.
    Problems cut() const;

private:
    std::string file_;
    InflatedFile packed_;
    JsonStream stream_;
};

} // namespace trainyard
