// torchtitan's configuration as a file of its own.

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/structured_text.h"
#include "sim/study/problems.h"

namespace trainyard {

void read_torchtitan_job(const std::string& text, JobContext& context)
{
    JobDraft& draft = context.draft;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = first != std::string::npos && text[first] == '{';
    const Checked<Json> root =
        json ? parse_json(text, draft.file()) : parse_toml(text, draft.file());
    if (!root) {
        append(draft.problems, root.error());
        return;
    }
    if (root->members().empty()) {
        draft.refuse({}, "holds no settings",
                     "torchtitan's TOML, or a JSON dump of its dataclasses");
        return;
    }
    SettingTree settings(*root);
    read_torchtitan(settings, context);
}

} // namespace trainyard
