#pragma once

#include "sim/study/record.h"
#include "sim/study/training/training_request.h"

namespace trainyard {

// A figure that a publication gives, or that follows from what it gives.
struct StatedFigure {
    double value = 0;
    std::string basis; // how it was got, in words

    bool operator==(const StatedFigure&) const = default;
};

// A whole training that somebody published.
struct PublishedRun {
    MeasuredRecord record; // of one step; its step time where that is stated
    double tokens = 0;
    double parameters = 0;               // all of them
    std::optional<StatedFigure> step;    // s
    std::optional<StatedFigure> wall;    // s
    std::optional<StatedFigure> goodput; // share of the wall time in which steps were made
    std::vector<std::string> assumptions;

    double batch_tokens() const;
};

struct PublishedRunFile {
    std::string file;
    std::vector<PublishedRun> runs;
    std::vector<UnreadableRecord> unreadable;
};

inline constexpr std::string_view published_runs_format = "published-training-runs/1";

// Whether the file says of itself that it holds such runs: {"schema": {"format": ...}, "runs": []}.
bool holds_published_runs(const Json& json);

// What is absent stays absent; a value of the wrong kind makes its run unreadable.
Checked<PublishedRunFile> published_runs_from(const Json& json, const std::string& file);

} // namespace trainyard
