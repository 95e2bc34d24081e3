#pragma once

// Nested settings (JSON, TOML) by dotted names, and which of them were looked at.

#include "sim/study/jobs/job_draft.h"

#include <set>

namespace trainyard {

// A value that no reader looked at.
struct Unseen {
    std::string name; // "training.seq_len"
    Origin origin;

    bool operator==(const Unseen&) const = default;
};

class SettingTree {
public:
    explicit SettingTree(Json root) : root_(std::move(root)) {}

    // The value, or null when it is absent or null. Counts as looked at.
    const Json* find(std::string_view name);
    bool has(std::string_view name) { return find(name) != nullptr; }

    // Nothing when absent, "auto" (which is noted as left to the framework) or of another kind
    // (which is a problem of the draft).
    std::optional<std::int64_t> whole(std::string_view name, JobDraft& draft); // 5e8 too
    std::optional<bool> flag(std::string_view name, JobDraft& draft);
    std::optional<std::string> text(std::string_view name, JobDraft& draft);

    // Where it stands: "training.seq_len = 8192".
    Origin origin(std::string_view name) const;

    // Makes it look as if the file said so: an override on the command line.
    void set(std::string_view name, Json value, int line);

    // Values that were never looked at, in the order of the file.
    std::vector<Unseen> unseen() const;

    SoughtNames sought() const;

    const Json& root() const { return root_; }

private:
    const Json* at(std::string_view name) const;
    bool is_auto(const Json& value, std::string_view name, JobDraft& draft);
    void collect(const Json& node, const std::string& name, std::vector<Unseen>& out) const;

    Json root_;
    std::set<std::string, std::less<>> looked_for_;
};

} // namespace trainyard
