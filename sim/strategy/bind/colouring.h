#pragma once

// Colour refinement: things of one colour are split until they are alike in all that is looked at.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace trainyard {

// Numbers distinct rows of words from 0, in the order in which they come.
class RowTable {
public:
    using Word = std::uint32_t;

    explicit RowTable(std::size_t expected)
        : buckets_(std::bit_ceil(2 * std::max<std::size_t>(expected, 8)), empty)
    {}

    std::size_t size() const { return rows_.size(); }

    Word number(std::span<const Word> row)
    {
        if (2 * (rows_.size() + 1) > buckets_.size())
            grow();
        const std::uint64_t hash = hash_of(row);
        Word& bucket = find(row, hash);
        if (bucket == empty) {
            bucket = static_cast<Word>(rows_.size());
            rows_.push_back({hash, words_.size(), row.size()});
            words_.insert(words_.end(), row.begin(), row.end());
        }
        return bucket;
    }

private:
    struct Row {
        std::uint64_t hash;
        std::size_t first;
        std::size_t size;
    };
    static constexpr Word empty = 0xffffffff;

    static std::uint64_t hash_of(std::span<const Word> row)
    {
        std::uint64_t hash = row.size();
        for (const Word word : row)
            hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15ULL;
        return hash ^ (hash >> 32);
    }

    Word& find(std::span<const Word> row, std::uint64_t hash)
    {
        const std::size_t mask = buckets_.size() - 1;
        for (std::size_t at = hash & mask;; at = (at + 1) & mask)
            if (buckets_[at] == empty || equal(rows_[buckets_[at]], row, hash))
                return buckets_[at];
    }

    bool equal(const Row& known, std::span<const Word> row, std::uint64_t hash) const
    {
        return known.hash == hash && known.size == row.size() &&
               std::equal(row.begin(), row.end(),
                          words_.begin() + static_cast<std::ptrdiff_t>(known.first));
    }

    void grow()
    {
        buckets_.assign(2 * buckets_.size(), empty);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            std::size_t at = rows_[i].hash & (buckets_.size() - 1);
            while (buckets_[at] != empty)
                at = (at + 1) & (buckets_.size() - 1);
            buckets_[at] = static_cast<Word>(i);
        }
    }

    std::vector<Word> buckets_;
    std::vector<Row> rows_;
    std::vector<Word> words_;
};

// Things by colour. When a class splits, its largest part keeps its colour and the others get new
// ones.
class Colouring {
public:
    using Word = std::uint32_t;

    Colouring() = default;
    explicit Colouring(std::vector<Word> colour) : colour_(std::move(colour))
    {
        for (const Word colour_of_one : colour_)
            grow(colour_of_one + std::size_t{1});
        for (const Word colour_of_one : colour_)
            ++size_[colour_of_one];
    }

    Word operator[](std::size_t index) const { return colour_[index]; }
    std::size_t count() const { return colour_.size(); }
    std::size_t colours() const { return size_.size(); }
    std::vector<Word> take() && { return std::move(colour_); }

    // Gives the parts of each class among the dirty ones colours of their own; those with a new
    // colour. Of a class, those that are not dirty stay alike, and differ from those that are.
    template <class Signature>
    std::vector<Word> split(const std::vector<Word>& dirty, const Signature& signature)
    {
        RowTable table(std::min<std::size_t>(dirty.size(), 4096));
        part_of_.clear();
        for (const Word one : dirty)
            part_of_.push_back(table.number(signature(one)));

        std::vector<Word> part_size(table.size(), 0);
        std::vector<Word> part_colour(table.size());
        std::vector<Word> rest = size_; // by colour: those that are not dirty
        for (std::size_t i = 0; i < dirty.size(); ++i) {
            ++part_size[part_of_[i]];
            part_colour[part_of_[i]] = colour_[dirty[i]];
            --rest[colour_[dirty[i]]];
        }
        keep_and_renew(part_size, part_colour, rest);

        std::vector<Word> changed;
        for (std::size_t i = 0; i < dirty.size(); ++i) {
            Word& colour = colour_[dirty[i]];
            if (colour == part_colour[part_of_[i]])
                continue;
            --size_[colour];
            colour = part_colour[part_of_[i]];
            ++size_[colour];
            changed.push_back(dirty[i]);
        }
        return changed;
    }

private:
    void grow(std::size_t count)
    {
        if (size_.size() < count)
            size_.resize(count, 0);
    }

    // Where all of a class are dirty, its largest part keeps the colour; all other parts get new
    // ones.
    void keep_and_renew(const std::vector<Word>& part_size, std::vector<Word>& part_colour,
                        const std::vector<Word>& rest)
    {
        constexpr Word none = 0xffffffff;
        std::vector<Word> largest(size_.size(), none);
        for (Word part = 0; part < part_size.size(); ++part) {
            Word& best = largest[part_colour[part]];
            if (best == none || part_size[part] > part_size[best])
                best = part;
        }
        auto next = static_cast<Word>(size_.size());
        for (Word part = 0; part < part_size.size(); ++part) {
            const Word before = part_colour[part];
            if (rest[before] > 0 || largest[before] != part)
                part_colour[part] = next++;
        }
        grow(next);
    }

    std::vector<Word> colour_;
    std::vector<Word> size_;    // by colour
    std::vector<Word> part_of_; // by place among the dirty ones
};

} // namespace trainyard
