#include "sim/study/store/plan_store.h"

#include "sim/base/fields.h"
#include "sim/study/search/search.h"
#include "sim/study/store/stored_layout.h"

#include <chrono>

namespace trainyard {

namespace {

constexpr std::size_t handful = 16;
constexpr std::chrono::milliseconds soon(100);

std::optional<std::int64_t> known(Bytes bytes)
{
    return bytes == Bytes(0) ? std::nullopt
                             : std::optional(static_cast<std::int64_t>(bytes.value()));
}

std::optional<std::int64_t> known(const std::optional<Bytes>& bytes)
{
    return bytes ? std::optional(static_cast<std::int64_t>(bytes->value())) : std::nullopt;
}

} // namespace

PlanStore::PlanStore(const std::string& path, DatabaseAccess access)
    : path_(path), database_(open_store_file(path, access))
{
    find_.emplace(*database_, "SELECT step_time_s, peak_memory_bytes, reserved_memory_bytes, "
                              "device_memory_bytes, refusal FROM points WHERE point = ?");
    if (access == DatabaseAccess::read)
        return;
    put_.emplace(*database_, "INSERT INTO points VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,1) "
                             "ON CONFLICT (point) DO UPDATE SET simulations = simulations + "
                             "(reserved_memory_bytes IS excluded.reserved_memory_bytes), "
                             "reserved_memory_bytes = "
                             "coalesce(excluded.reserved_memory_bytes, reserved_memory_bytes)");
    writer_ = std::jthread([this] { write_as_they_come(); });
}

PlanStore::~PlanStore()
{
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
}

std::optional<PointFacts> PlanStore::find(const std::string& point)
{
    const std::lock_guard lock(database_mutex_);
    find_->bind(point);
    if (!find_->step())
        return {};
    PointFacts facts;
    facts.step_time = Seconds(find_->real(0));
    facts.peak = bytes_at(*find_, 1);
    if (!find_->is_null(2))
        facts.reserved = bytes_at(*find_, 2);
    facts.capacity = bytes_at(*find_, 3);
    if (!find_->is_null(4))
        refuse_for(facts, find_->text(4));
    find_->reset();
    return facts;
}

void PlanStore::put(const std::string& point, const LayoutChoice& choice, int dp,
                    const PointFacts& facts)
{
    {
        const std::lock_guard lock(mutex_);
        if (failure_)
            std::rethrow_exception(failure_);
        waiting_.push_back({point, choice, dp, facts});
    }
    changed_.notify_all();
}

void PlanStore::commit()
{
    std::unique_lock lock(mutex_);
    urgent_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return failure_ || (waiting_.empty() && !writes_); });
    urgent_ = false;
    if (failure_)
        std::rethrow_exception(failure_);
}

void PlanStore::write_as_they_come()
{
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
        if (waiting_.empty())
            return;
        changed_.wait_for(lock, soon,
                          [&] { return ends_ || urgent_ || waiting_.size() >= handful; });
        const std::vector<Entry> entries = std::exchange(waiting_, {});
        writes_ = true;
        lock.unlock();
        std::exception_ptr failure;
        try {
            write(entries);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        writes_ = false;
        if (failure) {
            failure_ = failure;
            changed_.notify_all();
            return;
        }
        changed_.notify_all();
    }
}

void PlanStore::write(const std::vector<Entry>& entries)
{
    const std::lock_guard lock(database_mutex_);
    Transaction transaction(*database_);
    for (const auto& [point, c, dp, facts] : entries)
        put_->bind(point, c.tp, c.cp, c.pp, c.vpp, c.ep, c.etp, dp, c.zero, c.schedule->name(),
                   c.global_batch, c.micro_batch, to_name(c.recompute.kind), c.recompute.layers,
                   facts.kind == PointFacts::Kind::timed ? std::optional(facts.step_time.value())
                                                         : std::nullopt,
                   known(facts.peak), known(facts.reserved), known(facts.capacity),
                   refusal_of(facts))
            .run();
    transaction.commit();
}

} // namespace trainyard
