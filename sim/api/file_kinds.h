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

// The JSON Schema of a kind of file; null where it has none.
const FileKind* kind_with_schema(std::string_view name);
Json schema_document(const FileKind& kind);
// Names of those that have one, in their order.
std::vector<std::string> schema_names();

// By the "format" member, else by what stands in it; null when it is none of them.
const FileKind* recognise(const Json& json);

struct CheckedFile {
    std::string path;
    std::string kind; // empty when it was not recognised
    Problems problems;
    bool read = true; // false: the system did not give it
};

// Is this file right? One that the system does not give has that as its problem.
CheckedFile check_file(const std::string& path);

} // namespace trainyard
