// A folder of job files: the verdict of each.

#include "sim/base/field_values.h"
#include "sim/base/files.h"
#include "sim/base/quoted.h"
#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"
#include "sim/study/jobs/job_verdict.h"

#include <fmt/core.h>

#include <map>

namespace trainyard {
namespace {

constexpr std::size_t longest_job = std::size_t{1} << 20; // bytes, as for a script

JobVerdict verdict_on(const std::string& file, const JobImportOptions& options, StageMemos& memos)
{
    JobVerdict out;
    out.file = file;
    try {
        if (const auto text = read_file_up_to(file, longest_job))
            return judge_job(*text, file, options, memos);
        out.what = "is longer than 1 MiB, which no job is";
    } catch (const WorldError& error) {
        out.fate = JobFate::failed;
        out.what = error.message;
    }
    return out;
}

Json verdict_json(const JobVerdict& verdict)
{
    Json out = Json::object();
    out["file"] = verdict.file;
    out["verdict"] = to_name(verdict.fate);
    if (verdict.kind)
        out["kind"] = to_name(*verdict.kind);
    if (verdict.line > 0)
        out["line"] = verdict.line;
    out["what"] = verdict.what;
    if (!verdict.hint.empty())
        out["hint"] = verdict.hint;
    if (verdict.fate == JobFate::imported) {
        out["assumed"] = static_cast<std::int64_t>(verdict.assumed);
        out["flagged"] = static_cast<std::int64_t>(verdict.flagged);
        out["scenario"] = verdict.scenario;
    }
    return out;
}

std::string verdicts_csv(const std::vector<JobVerdict>& verdicts)
{
    std::string out = "file,verdict,kind,line,assumed,flagged,what,hint\n";
    for (const JobVerdict& one : verdicts)
        out += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(one.file), to_name(one.fate),
                           one.kind ? to_name(*one.kind) : "", one.line, one.assumed, one.flagged,
                           csv_field(one.what), csv_field(one.hint));
    return out;
}

// "job.sh:12", or the file alone.
std::string place_of(const JobVerdict& verdict)
{
    return verdict.line > 0 ? fmt::format("{}:{}", verdict.file, verdict.line) : verdict.file;
}

std::string verdicts_text(const std::vector<JobVerdict>& verdicts)
{
    std::string out;
    for (const JobVerdict& one : verdicts) {
        out += fmt::format("{:<9} {}: {}{}\n", to_name(one.fate), place_of(one),
                           one.kind ? std::string(to_name(*one.kind)) + ": " : "",
                           printable(one.what, 300));
        if (one.fate == JobFate::imported && one.assumed + one.flagged > 0)
            out += fmt::format("          {} assumed, {} flagged\n", one.assumed, one.flagged);
        else if (!one.hint.empty())
            out += fmt::format("          {}\n", printable(one.hint, 300));
    }
    return out;
}

std::map<JobFate, int> counts_of(const std::vector<JobVerdict>& verdicts)
{
    std::map<JobFate, int> out{{JobFate::imported, 0}, {JobFate::no_job, 0}, {JobFate::failed, 0}};
    for (const JobVerdict& one : verdicts)
        ++out[one.fate];
    return out;
}

void print_verdicts(const std::vector<JobVerdict>& verdicts, bool json)
{
    const std::map<JobFate, int> counts = counts_of(verdicts);
    if (!json) {
        print_data(verdicts_text(verdicts));
        print_data(fmt::format("{} files: {} imported, {} without a job, {} failed\n",
                               verdicts.size(), counts.at(JobFate::imported),
                               counts.at(JobFate::no_job), counts.at(JobFate::failed)));
        return;
    }
    Json out = Json::object();
    out["files"] = json_list(verdicts, verdict_json);
    for (const auto& [fate, count] : counts)
        out["counts"][to_name(fate)] = count;
    print_data(to_text(out) + "\n");
}

} // namespace

int import_job_folder(const std::string& folder, const JobQuestion& options, bool json,
                      const std::string& csv)
{
    const Checked<JobImportOptions> given = settled_job_options(options, {});
    if (!given)
        return refuse(given.error(), "nothing was imported.");
    if (!csv.empty())
        require_writable(csv);
    const std::vector<std::string> files = files_of_jobs(folder);
    if (files.size() > most_job_files)
        return refuse(
            problem_with(folder,
                         fmt::format("more than {} files in it may hold jobs", most_job_files),
                         "a folder inside it"),
            "nothing was imported.");
    StageMemos memos;
    std::vector<JobVerdict> verdicts;
    for (const std::string& file : files) {
        if (interrupt_flag().cancelled())
            return interrupted_exit();
        verdicts.push_back(verdict_on(file, *given, memos));
    }
    if (verdicts.empty())
        return refuse(problem_with(folder, "no file in it may hold a job",
                                   "scripts, YAML, JSON and TOML are looked at"),
                      "nothing was imported.");
    if (!csv.empty())
        write_file(csv, verdicts_csv(verdicts));
    print_verdicts(verdicts, json);
    return exit_ok;
}

} // namespace trainyard
