#pragma once

// A user's own steps, made questions to the simulator, and the profile they are fitted on.

#include "sim/study/own_steps/own_steps.h"
#include "sim/study/record_question.h"

namespace trainyard {

inline constexpr std::size_t most_own_steps = 10;

// The steps of all files. `base` is a profile's name or path; empty: what each record names, else
// the shipped constants of its machine. Every problem comes with file, line and pointer: no or too
// many steps, one id twice, records that cannot be simulated, several devices, networks or base
// profiles.
Checked<MeasuredSteps> measured_steps(std::span<const RecordFile> files, const std::string& base,
                                      Session& session, const WorkControl& work = {});

// The record as a step with the constants of `base`, and the constants themselves. Or why not.
struct AskedRecord {
    MeasuredStep step;
    Profile profile;
    std::vector<std::string> assumptions;
};
tl::expected<AskedRecord, std::string> ask_record(const MeasuredRecord& record,
                                                  const std::string& base, Session& session);

} // namespace trainyard
