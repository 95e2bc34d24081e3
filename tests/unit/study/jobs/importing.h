#pragma once

// Imports of job texts, as tests write them.

#include "sim/base/build_info.h"
#include "sim/study/jobs/job_import.h"
#include "tests/catch.h"

#include <algorithm>

namespace trainyard::testing {

// On nodes of eight H100.
inline JobImportOptions on_h100(int nodes)
{
    JobImportOptions options;
    options.cluster.gpu = "h100";
    options.cluster.nodes = nodes;
    options.cluster.gpus_per_node = 8;
    options.folder = data_dir() / "scenarios";
    return options;
}

inline JobImportOptions with_model(JobImportOptions options, const std::string& model)
{
    options.model = {model, {}};
    return options;
}

inline ImportedJob imported(JobKind kind, const std::string& text, const JobImportOptions& options)
{
    StageMemos memos;
    const Checked<ImportedJob> job = import_job(kind, text, "job", options, memos);
    if (!job)
        FAIL(render(job.error(), ""));
    return *job;
}

// As a user imports it: nothing but the GPU.
inline ImportedJob as_recognised(const std::string& text)
{
    JobImportOptions options = on_h100(1);
    options.cluster = {};
    options.cluster.gpu = "h100";
    const std::optional<JobKind> kind = recognise_job(text);
    REQUIRE(kind.has_value());
    return imported(*kind, text, options);
}

// The first problem of a text that must be refused.
inline Diagnostic refusal_of(JobKind kind, const std::string& text, const JobImportOptions& options)
{
    StageMemos memos;
    const Checked<ImportedJob> job = import_job(kind, text, "job", options, memos);
    REQUIRE(!job);
    REQUIRE(!job.error().empty());
    return job.error().front();
}

// The problem of a text that must be refused which starts so.
inline Diagnostic refusal_about(const std::string& start, JobKind kind, const std::string& text,
                                const JobImportOptions& options)
{
    StageMemos memos;
    const Checked<ImportedJob> job = import_job(kind, text, "job", options, memos);
    REQUIRE(!job);
    for (const Diagnostic& problem : job.error())
        if (problem.message.starts_with(start))
            return problem;
    FAIL(render(job.error(), ""));
    return {};
}

// Whether one of the notes has all that text in it.
inline bool says(const std::vector<std::string>& notes, std::string_view text)
{
    return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
        return note.find(text) != std::string::npos;
    });
}

inline const Transformer& model_of(const ImportedJob& job)
{
    return std::get<Transformer>(job.job.model.architecture);
}

} // namespace trainyard::testing
