#pragma once

// What plans have found, in a file: every point that was simulated, by the number of its question,
// and the bounds of every space.

#include "sim/study/search/points.h"
#include "sim/study/store/store_file.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace trainyard {

struct SearchRequest;

// One plan, or a shard of it, as a store has it.
struct StoredPlan {
    std::int64_t row = 0;
    std::string question;
    int shard = 0; // from 0 on
    int shards = 1;
    std::optional<std::size_t> shown; // as many best layouts are proven; nothing: it is not done
};

// What was asked, for the eyes of people.
struct StoredQuestion {
    std::string scenario; // as the user named it
    std::string scenario_json;
    std::string space_json;
    double headroom = 0;
};

// Safe to use from several threads. Points are written by a thread of its own, a handful at a time.
class PlanStore {
public:
    PlanStore(const std::string& path, DatabaseAccess access);
    ~PlanStore();
    PlanStore(const PlanStore&) = delete;
    PlanStore& operator=(const PlanStore&) = delete;

    const std::string& path() const { return path_; }

    std::optional<PointFacts> find(const std::string& point);
    // Throws what kept earlier ones from being written.
    void put(const std::string& point, const LayoutChoice& choice, int dp, const PointFacts& facts);
    // Returns when all that was put is committed.
    void commit();

    std::vector<StoredPlan> plans();
    PossibleLayouts bounds(std::int64_t plan);
    // The row of the plan; what another process kept of it meanwhile stays.
    std::int64_t keep_bounds(const StoredPlan& plan, const StoredQuestion& asked,
                             const PossibleLayouts& found, const SpaceFacts& facts);
    void finish(std::int64_t plan, std::size_t shown, const std::string& result_json);

private:
    struct Entry {
        std::string point;
        LayoutChoice choice;
        int dp;
        PointFacts facts;
    };
    void write_as_they_come();
    void write(const std::vector<Entry>& entries);

    std::string path_;
    std::mutex database_mutex_;
    std::unique_ptr<Database> database_;
    std::optional<Statement> find_;
    std::optional<Statement> put_;

    std::mutex mutex_; // of all below
    std::condition_variable changed_;
    std::vector<Entry> waiting_;
    bool writes_ = false; // some have been taken out and are not committed yet
    bool urgent_ = false;
    bool ends_ = false;
    std::exception_ptr failure_;
    std::jthread writer_;
};

} // namespace trainyard
