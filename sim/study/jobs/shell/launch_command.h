#pragma once

// The launch that one command is.

#include "sim/study/jobs/shell/launch.h"
#include "sim/study/jobs/shell/launcher_options.h"

namespace trainyard {

// Nothing when the command launches no program.
std::optional<Launch> launch_of(const std::vector<TracedText>& words);

// What only shows its words, or moves files.
bool only_talks(const std::string& word);

// Puts a launcher's size where it belongs; one that is no number is told as unknown.
void put_size(Launch& launch, LauncherMeaning meaning, const std::string& name,
              const TracedText& value);

} // namespace trainyard
