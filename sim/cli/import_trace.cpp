#include "sim/cli/import_trace.h"

#include "sim/api/recorded_job.h"
#include "sim/api/traced_scenario.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"
#include "sim/report/traces/recorded_events.h"

namespace trainyard {
namespace {

constexpr std::string_view nothing_imported = "nothing was imported.";

} // namespace

int import_trace_files(const TraceFiles& traces)
{
    TraceQuestion question = traces.question;
    question.page = !traces.html.empty();
    std::vector<std::string> read = question.files;
    read.insert(read.end(), {question.against, question.topology});
    if (const Problems problems = lost_files({traces.output, traces.trace, traces.html}, read);
        !problems.empty())
        return refuse(problems, nothing_imported);
    for (const std::string& file : {traces.output, traces.trace, traces.html})
        if (!file.empty())
            require_writable(file);
    Session session;
    const Checked<TraceAnswer> answer =
        read_recorded_job(question, session, {&interrupt_flag(), {}});
    if (!answer)
        return refuse(answer.error(), nothing_imported);
    if (answer->simulated && !traces.trace.empty())
        write_both_steps(traces.trace, answer->job, *answer->simulated);
    if (question.page)
        write_file(traces.html, html_report(*answer));
    const std::string json = to_text(to_json(*answer)) + "\n";
    if (!traces.output.empty())
        write_file(traces.output, json);
    print_data(traces.json ? json : report_text(*answer, width_of_stdout()));
    return exit_ok;
}

} // namespace trainyard
