#pragma once

// What kind of measurement a file holds.

#include "sim/base/json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

enum class ImportKind : std::uint8_t { nccl_tests, nvbandwidth, p2p, topology };

// "nccl-tests", "nvbandwidth", "p2p", "topo": as the command line spells them.
std::string_view name_of(ImportKind kind);
std::optional<ImportKind> import_kind_named(std::string_view name);
std::vector<std::string> import_kind_names();

// Every kind that the text holds something of, the likeliest first.
std::vector<ImportKind> recognise_import(std::string_view text);

// A file of gzip: readers take text.
bool is_compressed(std::string_view text);

} // namespace trainyard
