#pragma once

// What becomes of many files that may hold jobs: which do, which do not and why, which fail where.

#include "sim/study/jobs/job_import.h"

namespace trainyard {

enum class JobFate : std::uint8_t { imported, no_job, failed };
template <>
std::vector<EnumName<JobFate>> enum_names<JobFate>();

struct JobVerdict {
    std::string file;
    JobFate fate = JobFate::no_job;
    std::optional<JobKind> kind;
    int line = 0;     // that it rests on; 0: none
    std::string what; // the job in a line, or the first thing that is wrong
    std::string hint; // a way out
    std::size_t assumed = 0;
    std::size_t flagged = 0;
    Json scenario; // of what was imported
};

// Why a text holds no job of training, by its form alone; nothing when it may hold one.
std::optional<std::string> why_no_job(std::string_view text);

// A model given beside counts only for a job that does not import without it.
JobVerdict judge_job(const std::string& text, const std::string& file,
                     const JobImportOptions& options, StageMemos& memos);

inline constexpr std::size_t most_job_files = 20'000;

// Files of a folder and those in it that may hold jobs, sorted: no hidden ones. It ends with the
// first one beyond `most_job_files`.
std::vector<std::string> files_of_jobs(const std::filesystem::path& folder);

} // namespace trainyard
