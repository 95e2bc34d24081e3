#include "sim/api/validation.h"
#include "sim/base/files.h"
#include "sim/base/input_limits.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/study/own_steps/own_steps_scores.h"
#include "sim/study/problems.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cmath>

namespace trainyard {
namespace {

struct ValidateCommand {
    std::vector<std::string> files;
    std::string only;
    std::string csv;
    std::string intervals; // file to write
    std::string left_out;  // file of verdicts by fits that did not see their source
    bool json = false;
    bool summary = false;
    int own_steps = 0; // how many; 0: none
};

// Steps are what a table of them needs.
Checked<MeasuredInput> read_input(const ValidateCommand& command)
{
    Checked<MeasuredInput> input = read_measured(command.files);
    if (input && input->steps.empty() && !command.csv.empty())
        return rejected(command.csv,
                        "no step to write: --csv is for records of "
                        "steps",
                        "--json holds what is known of trainings");
    return input;
}

// Errors of what `fit_constants.py --leave-out --verdicts` wrote.
Checked<LeftOutErrors> read_left_out(const std::string& path)
{
    LeftOutErrors out;
    if (path.empty())
        return out;
    const Checked<Json> json = read_json_file(path, record_limits);
    if (!json)
        return tl::unexpected(json.error());
    const Json* const records = json->find("records");
    if (records != nullptr && records->is_array())
        for (const Json& record : records->items()) {
            const Json* const id = record.find("id");
            const Json* const error = record.find("error");
            if (id != nullptr && id->is_string() && error != nullptr && error->is_number() &&
                error->as_double() > -1)
                out[id->as_string()] = std::log1p(error->as_double());
        }
    if (out.empty())
        return rejected(path, "no \"records\" with \"id\" and \"error\"",
                        "tests/validation/fit_constants.py --leave-out --verdicts writes them");
    return out;
}

// Writes the file of intervals. Throws WorldError when it cannot be written.
Problems write_intervals(const ValidateCommand& command, const ValidationReport& report,
                         const LeftOutErrors& left_out)
{
    const std::vector<JudgedRun> runs = judged_runs(report.records);
    std::optional<StepErrors> errors = calibrated(runs, left_out, shipped_step_errors());
    if (!errors)
        return {{command.intervals, 0, "",
                 fmt::format("{} runs are too few: intervals need runs of 9 groups (publication, "
                             "GPU, model and number format) at least",
                             runs.size()),
                 "give all files of records", Severity::error}};
    errors->memory = calibrated_peaks(judged_peaks(report.records))
                         .value_or(shipped_step_errors().memory); // too few measured it
    write_file(command.intervals, to_text(to_json(*errors)) + "\n");
    print_talk(fmt::format("wrote {}\n", command.intervals));
    return {};
}

int score_own_steps(const ValidateCommand& command, const MeasuredInput& input)
{
    ProgressBar bar;
    const OwnStepsScores scores =
        own_steps_scores(input.steps, command.own_steps, command.only, bar.control());
    print_data(command.json ? to_text(to_json(scores)) + "\n" : own_steps_scores_text(scores));
    return scores.machines.empty() ? exit_no : exit_ok;
}

int run_validate(const ValidateCommand& command)
{
    const Checked<MeasuredInput> input = read_input(command);
    const Checked<LeftOutErrors> left_out = read_left_out(command.left_out);
    if (!input || !left_out) {
        Problems problems = input ? Problems{} : input.error();
        append(problems, left_out ? Problems{} : left_out.error());
        return refuse(problems, "nothing was run.");
    }
    if (command.own_steps > 0)
        return score_own_steps(command, *input);
    ValidateOptions options;
    options.only = command.only;
    ProgressBar bar;
    options.work = bar.control();
    const Validation validation = validate_measured(*input, options);
    if (validation.steps && !command.csv.empty()) {
        write_file(command.csv, to_csv(*validation.steps));
        print_talk(fmt::format("wrote {}\n", command.csv));
    }
    if (validation.steps && !command.intervals.empty())
        if (const Problems problems = write_intervals(command, *validation.steps, *left_out);
            !problems.empty())
            return refuse(problems, "no intervals were written.");
    const ScoreDetail detail = command.summary ? ScoreDetail::summary : ScoreDetail::runs;
    print_data(command.json ? to_text(to_json(validation)) + "\n"
                            : report_text(validation, detail));
    if (validation.scored())
        return exit_ok;
    print_talk("no record could be scored\n");
    return exit_no;
}

} // namespace

void add_validate(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("validate", "Compare predictions with measured runs");
    auto command = std::make_shared<ValidateCommand>();
    sub->add_option("records", command->files, "files of measured steps, or of whole trainings")
        ->required()
        ->type_name("FILE");
    sub->add_option("--only", command->only, "records whose id or source holds this text")
        ->type_name("TEXT");
    sub->add_flag("--json", command->json, "print everything as JSON, one entry per record");
    sub->add_flag("--summary", command->summary, "print the tables only, not every record");
    sub->add_option("--csv", command->csv, "write one line per record")->type_name("FILE");
    sub->add_option("--calibrate-intervals", command->intervals,
                    "write the intervals that the errors of these records ask for")
        ->type_name("FILE");
    sub->add_option("--left-out", command->left_out,
                    "verdicts by fits that did not see their source, which widen them")
        ->needs("--calibrate-intervals")
        ->type_name("FILE");
    sub->add_option("--own-steps", command->own_steps,
                    "score fits to so many records at a time, each on all others of its machine")
        ->type_name("COUNT")
        ->check(CLI::Range(1, 10));
    sub->footer("Example: trainyard validate tests/validation/records/training_dev.json");
    sub->callback([&chosen, command] { chosen = [command] { return run_validate(*command); }; });
}

} // namespace trainyard
