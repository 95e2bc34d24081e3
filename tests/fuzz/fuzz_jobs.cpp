#include "sim/base/build_info.h"
#include "sim/study/jobs/job_import.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

namespace {

JobImportOptions options()
{
    JobImportOptions out;
    out.cluster.topology = {"h100-1x8", {}};
    out.model = {"llama-2-7b", {}};
    out.folder = data_dir() / "scenarios";
    return out;
}

} // namespace

// The first byte chooses the kind. Files that the text names are looked for in a folder without
// any.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static StageMemos memos;
    static const JobImportOptions given = options();
    if (size == 0)
        return 0;
    const std::vector<EnumName<JobKind>> kinds = enum_names<JobKind>();
    const JobKind kind = kinds[data[0] % kinds.size()].value;
    const std::string text(fuzz::text_of(data + 1, size - 1));
    recognise_job(text);
    JobImportOptions alone = given;
    if (data[0] >= 128)
        alone.model = {}; // the text has to describe it
    const Checked<ImportedJob> job = import_job(kind, text, "/nonexistent/job", alone, memos);
    if (!job) {
        fuzz::require(!job.error().empty(), "a refused job has a reason");
        render(job.error(), "nothing was imported.");
        return 0;
    }
    describe(job->notes);
    fuzz::require(job->job.world() >= 1 && job->job.world() <= 8, "it runs on the GPUs there are");
    fuzz::require(job->job.micro_batches() >= 1, "every replica has work");
    return 0;
}
