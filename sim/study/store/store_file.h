#pragma once

// The file of a store: made whole or not at all, and told from any other before it is touched.

#include "sim/database/database.h"

namespace trainyard {

// Whether it is a store of plans, of whatever version. False for what cannot be read.
bool is_plan_store(const std::string& path);

// Opens the store at that path. `write` makes it where there is none (or an empty file). Throws
// WorldError, with the file as it was, where it is none, is damaged, or belongs to another schema
// or another program.
std::unique_ptr<Database> open_store_file(const std::string& path, DatabaseAccess access);
// The same to look at, of whatever program.
std::unique_ptr<Database> open_any_store_file(const std::string& path);

} // namespace trainyard
