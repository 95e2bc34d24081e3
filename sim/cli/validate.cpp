#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/study/contradictions.h"
#include "sim/study/validation_output.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

struct ValidateCommand {
    std::vector<std::string> files;
    std::string only;
    std::string csv;
    bool json = false;
    bool summary = false;
};

int run_validate(const ValidateCommand& command)
{
    std::vector<RecordFile> files;
    Problems problems;
    for (const std::string& path : command.files) {
        Checked<RecordFile> file = read_records(path);
        if (file)
            files.push_back(std::move(*file));
        else
            problems.insert(problems.end(), file.error().begin(), file.error().end());
    }
    if (!problems.empty())
        return refuse(problems, "nothing was run.");
    ValidateOptions options;
    options.only = command.only;
    ProgressBar bar;
    options.work = bar.control();
    const ValidationReport report = validate(files, options);
    if (!command.csv.empty()) {
        write_file(command.csv, to_csv(report));
        print_talk(fmt::format("wrote {}\n", command.csv));
    }
    const std::vector<Contradiction> doubtful = contradictions(files, report.records);
    if (command.json) {
        Json out = to_json(report);
        out["contradictions"] = to_json(doubtful);
        print_data(to_text(out) + "\n");
    } else {
        print_data((command.summary ? "" : records_text(report) + "\n") + summary_text(report) +
                   contradictions_text(doubtful));
    }
    if (report.all.scored > 0)
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
    sub->add_option("records", command->files, "files of measured records")
        ->required()
        ->type_name("FILE");
    sub->add_option("--only", command->only, "records whose id or source holds this text")
        ->type_name("TEXT");
    sub->add_flag("--json", command->json, "print everything as JSON, one entry per record");
    sub->add_flag("--summary", command->summary, "print the tables only, not every record");
    sub->add_option("--csv", command->csv, "write one line per record")->type_name("FILE");
    sub->footer("Example: trainyard validate tests/validation/records/training_dev.json");
    sub->callback([&chosen, command] { chosen = [command] { return run_validate(*command); }; });
}

} // namespace trainyard
