#pragma once

// TOML and YAML as JSON values that know their lines.

#include "sim/base/json.h"

namespace trainyard {

Checked<Json> parse_toml(const std::string& text, const std::string& file);
Checked<Json> parse_yaml(const std::string& text, const std::string& file);

} // namespace trainyard
