#pragma once

// A trace from a file of any size, character by character, as nlohmann's parser takes it: one pass,
// with lines counted.

#include "sim/base/inflated_file.h"
#include "sim/base/progress.h"

#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

namespace trainyard {

class JsonStream {
public:
    JsonStream(InflatedFile& file, const WorkControl& work) : file_(file), work_(work) { fill(); }
    JsonStream(const JsonStream&) = delete;
    JsonStream& operator=(const JsonStream&) = delete;

    char current() const { return *at_; }
    bool ended() const { return at_ == end_; }
    void advance()
    {
        if (*at_ == '\n')
            ++line_;
        if (++at_ == end_)
            fill();
    }
    // What the file begins with. Requires that nothing was read.
    std::string_view begun() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
    // Of the character that is read next.
    int line() const { return line_; }
    std::uint64_t bytes() const
    {
        return before_ + static_cast<std::uint64_t>(at_ - piece_.data());
    }

private:
    void fill()
    {
        work_.check();
        work_.report("reading the trace", static_cast<double>(file_.taken()),
                     static_cast<double>(file_.size()));
        before_ += static_cast<std::uint64_t>(end_ - piece_.data());
        const std::size_t got = file_.read(piece_);
        at_ = piece_.data();
        end_ = at_ + got;
    }

    InflatedFile& file_;
    const WorkControl& work_;
    std::vector<char> piece_ = std::vector<char>(std::size_t{1} << 18);
    const char* at_ = piece_.data();
    const char* end_ = piece_.data();
    std::uint64_t before_ = 0; // bytes of the pieces before
    int line_ = 1;
};

// Both ends compare equal once the stream has ended.
class JsonStreamIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    JsonStreamIterator() = default;
    explicit JsonStreamIterator(JsonStream& stream) : stream_(&stream) {}
    char operator*() const { return stream_->current(); }
    JsonStreamIterator& operator++()
    {
        stream_->advance();
        return *this;
    }
    bool operator==(const JsonStreamIterator& other) const { return ended() == other.ended(); }
    bool operator!=(const JsonStreamIterator& other) const { return ended() != other.ended(); }

private:
    bool ended() const { return stream_ == nullptr || stream_->ended(); }

    JsonStream* stream_ = nullptr;
};

} // namespace trainyard
