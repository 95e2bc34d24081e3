#pragma once

// Whose time timelines and traces show.

#include "sim/study/session.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trainyard {

class TraceRanks {
public:
    TraceRanks() = default;
    // "all", "stages", or numbers of ranks; none: the usual ones. Requires words without a flaw.
    explicit TraceRanks(std::vector<std::string> words) : words_(std::move(words)) {}

    // What is wrong with a word; empty where nothing is.
    static std::string flaw_of(const std::string& word);

    // Ranks asked for that are not simulated one by one, and too many ops to draw or trace. The
    // outcome needs no result.
    Problems flaws(const Outcome& outcome) const;

    // What the engine has to record: the lanes asked for, else one per stage and the critical one.
    RecordRequest request(const Outcome& outcome) const;

    // Of those recorded the ranks of a trace: what was asked for, else as many as keep it small.
    std::vector<RankId> of_trace(const Outcome& recorded) const;

private:
    // The lanes asked for where `usual` are those of the default.
    std::function<bool(LaneId)> lanes(std::shared_ptr<const Binding> binding,
                                      std::function<bool(LaneId)> usual) const;
    Problems unknown(const Outcome& outcome) const;
    bool says(std::string_view word) const;
    bool names(RankId rank) const;

    std::vector<std::string> words_;
};

// " (ranks 0, 48 of 64; ...)", for people who wonder where the others are.
std::string trace_note(const Outcome& outcome, const std::vector<RankId>& ranks);

} // namespace trainyard
