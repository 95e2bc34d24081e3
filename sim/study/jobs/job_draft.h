#pragma once

// A scenario in the making, from the settings of another framework: what was understood, assumed
// and ignored, and which line each value came from.

#include "calibrate/import/notes.h"
#include "sim/base/fields.h"
#include "sim/study/jobs/sought_names.h"
#include "sim/study/scenario.h"
#include "sim/workload/model.h"

#include <fmt/core.h>

#include <limits>
#include <span>

namespace trainyard {

// A setting of the file that is read.
struct Origin {
    int line = 0;        // 0: none of the file
    std::string setting; // as it stands there: "--tensor-model-parallel-size 8"

    bool operator==(const Origin&) const = default;
};

// A file of settings that is not there, or that nothing here reads.
struct UnreadSettings {
    Origin origin; // what names it
    std::string path;
    std::string_view why; // it is not read; empty: there is no such file

    bool operator==(const UnreadSettings&) const = default;
};

// GPUs of the job, where its files say; else what they have to be a multiple of.
struct JobSize {
    std::optional<int> nodes;
    std::optional<int> gpus_per_node;
    std::optional<std::int64_t> replicas; // data-parallel ranks that the settings state
    std::int64_t copies = 1;              // whole copies of the shards: replicas are a multiple
    std::optional<std::int64_t> passes;   // of all replicas in a step: replicas divide them
    std::int64_t accumulation = 1;        // passes of a replica where no batch is stated

    bool operator==(const JobSize&) const = default;
};

// Settings that no field of a scenario stands for: why, and how their names begin, parted by
// spaces.
struct Aside {
    std::string_view why;
    std::string_view names;
};

// Why settings of several programs are left aside.
inline constexpr std::string_view of_learning = "of the learning, not of the time of a step";
inline constexpr std::string_view of_data = "of the data, not of the time of a step";
inline constexpr std::string_view of_files =
    "of checkpoints and logs, which are not part of a step";
inline constexpr std::string_view of_numbers = "of the numerics, within the noise of a step's time";
inline constexpr std::string_view of_rollouts = "of the generation, which is not modelled";
inline constexpr std::string_view sharded_alone = "each layer is sharded by itself, as modelled";

// Why a setting is left aside; nothing when none of the list begins its name.
std::optional<std::string_view> why_aside(std::span<const Aside> list, std::string_view name);

class JobDraft {
public:
    explicit JobDraft(std::string file) : file_(std::move(file)) {}

    Scenario scenario;
    std::optional<Model> model; // else the one that scenario.model names
    std::string unknown_model;  // named by the files, none of those known here
    Origin unknown_model_origin;
    bool model_refused = false;        // why there is none is told already
    UnreadSettings unread_settings;    // of the job, which a setting names
    bool settings_elsewhere = false;   // in a file that is not there
    std::vector<std::string> left_out; // parts of a script that were not read, with their lines
    JobSize size;
    ImportNotes notes;
    std::map<std::string, std::string> places; // of notes that tell of a field: its pointer
    Problems problems;

    // Sets a field of the scenario: "strategy.tp" from --tensor-model-parallel-size.
    template <class T, class V>
    void take(T& field, V value, std::string_view place, const Origin& origin);

    // A setting that was understood and needs no field of its own.
    void understand(const Origin& origin, std::string_view meaning);
    void assume(std::string sentence) { add_note(notes.assumed, std::move(sentence)); }
    void assume(const Origin& origin, std::string_view sentence);
    void ignore(const Origin& origin, std::string_view why);

    // A setting by its name that no reader knows. One that looks like a slip of a name that was
    // sought is a warning: it says something that the scenario then lacks, or has otherwise.
    void ignore_unknown(const Origin& origin, std::string_view name, const SoughtNames& sought,
                        std::string_view why = "not known here");

    // The same of an argument: flagged where it names a part of a step and is no slip.
    void tell_unknown(const Origin& origin, std::string_view name, const SoughtNames& sought,
                      std::string_view why = "not known here");

    void flag(std::string sentence) { add_note(notes.flagged, std::move(sentence)); }
    void flag(const Origin& origin, std::string_view sentence);

    void refuse(const Origin& origin, std::string message, std::string hint);

    // A place of the scenario as its pointer: "strategy.tp" is "/strategy/tp".
    static std::string pointer_of(std::string_view place);

    // Puts the line and the setting that a problem of the scenario came from into it.
    void locate_origin(Diagnostic& problem) const;

    const std::string& file() const { return file_; }

private:
    void remember(std::string_view place, const Origin& origin, const Json& value);

    std::string file_;
    std::map<std::string, Origin, std::less<>> origins_; // by pointer: "/strategy/tp"
};

template <class T, class V>
void JobDraft::take(T& field, V value, std::string_view place, const Origin& origin)
{
    if constexpr (std::is_same_v<V, std::int64_t> &&
                  (std::is_same_v<T, int> || std::is_same_v<T, std::optional<int>>))
        if (value > std::numeric_limits<int>::max() || value < std::numeric_limits<int>::min()) {
            refuse(origin, fmt::format("{} is beyond any size", value), "");
            return;
        }
    field = static_cast<T>(std::move(value));
    remember(place, origin, FieldValue<T>::write(field));
}

} // namespace trainyard
