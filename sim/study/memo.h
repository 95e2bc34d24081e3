#pragma once

// Results of a stage by the hash of its inputs; the least recently used go first. Safe to use from
// several threads: what one of them makes, others that ask for it meanwhile wait for.

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace trainyard {

template <class T>
class Memo {
public:
    explicit Memo(std::size_t capacity) : capacity_(capacity) {}

    // The value of that key: known, or what `make` returns as std::optional<T>. Where that is
    // nothing (or throws), nothing is kept and the next who asks makes it again. `make` runs
    // without a lock and may ask other memos, not this one.
    template <class Make>
    std::shared_ptr<const T> find_or_make(std::uint64_t key, Make make)
    {
        {
            std::unique_lock lock(mutex_);
            while (true) {
                if (auto known = find(key))
                    return known;
                if (making_.insert(key).second)
                    break;
                made_.wait(lock);
            }
        }
        const Turn turn{*this, key};
        std::optional<T> value = make();
        if (!value)
            return nullptr;
        auto kept = std::make_shared<const T>(std::move(*value));
        const std::lock_guard lock(mutex_);
        entries_.push_front({key, kept});
        if (entries_.size() > capacity_)
            entries_.pop_back();
        ++built_;
        return kept;
    }

    int built() const
    {
        const std::lock_guard lock(mutex_);
        return built_;
    }

private:
    struct Entry {
        std::uint64_t key;
        std::shared_ptr<const T> value;
    };

    // Lets those who wait for the key go on, whatever became of it.
    struct Turn {
        Memo& memo;
        std::uint64_t key;

        ~Turn()
        {
            {
                const std::lock_guard lock(memo.mutex_);
                memo.making_.erase(key);
            }
            memo.made_.notify_all();
        }
    };

    // Null when unknown. Requires the lock.
    std::shared_ptr<const T> find(std::uint64_t key)
    {
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
            if (entry->key == key) {
                entries_.splice(entries_.begin(), entries_, entry);
                return entry->value;
            }
        return nullptr;
    }

    std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable made_;
    std::set<std::uint64_t> making_; // keys in the making
    std::list<Entry> entries_;
    int built_ = 0;
};

} // namespace trainyard
