#pragma once

// Results of a stage by the hash of its inputs; the least recently used go first.

#include <cstdint>
#include <list>
#include <memory>

namespace trainyard {

template <class T>
class Memo {
public:
    explicit Memo(std::size_t capacity) : capacity_(capacity) {}

    // Null when unknown.
    std::shared_ptr<const T> find(std::uint64_t key)
    {
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
            if (entry->key == key) {
                entries_.splice(entries_.begin(), entries_, entry);
                return entry->value;
            }
        return nullptr;
    }

    std::shared_ptr<const T> keep(std::uint64_t key, T value)
    {
        entries_.push_front({key, std::make_shared<const T>(std::move(value))});
        if (entries_.size() > capacity_)
            entries_.pop_back();
        ++built_;
        return entries_.front().value;
    }

    int built() const { return built_; }

private:
    struct Entry {
        std::uint64_t key;
        std::shared_ptr<const T> value;
    };
    std::size_t capacity_;
    std::list<Entry> entries_;
    int built_ = 0;
};

} // namespace trainyard
