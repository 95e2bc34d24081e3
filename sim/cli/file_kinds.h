#pragma once

// The kinds of files that `check` recognises and `schema` describes.

#include "sim/base/json.h"

namespace trainyard {

struct FileKind {
    std::string_view name;
    std::string_view format; // its "format" member
    Json (*schema)();        // null: records are as published, parts stand in a profile's schema
    // Every problem of the file; warnings too.
    Problems (*check)(const Json& json, const std::string& path);
};

const std::vector<FileKind>& file_kinds();

// By the "format" member, else by what stands in it; null when it is none of them.
const FileKind* recognise(const Json& json);

} // namespace trainyard
