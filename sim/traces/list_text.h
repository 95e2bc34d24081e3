#pragma once

// A list of a JSON text as text: "[[8, 512], []]".

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard {

class ListText {
public:
    explicit ListText(std::size_t longest) : longest_(longest) {}

    bool active() const { return text_ != nullptr; }

    // What follows, up to the end of the list at `depth`, goes to `text`.
    void begin(std::string& text, std::size_t depth)
    {
        text_ = &text;
        depth_ = depth;
        text.clear();
    }
    // The list itself, and each within it.
    void open()
    {
        separate();
        *text_ += '[';
    }
    void close(std::size_t depth)
    {
        *text_ += ']';
        if (depth == depth_)
            text_ = nullptr;
    }
    // False: it would be longer than any that is kept, and is not added.
    bool add(std::string_view word)
    {
        if (text_->size() + word.size() > longest_)
            return false;
        separate();
        *text_ += word;
        return true;
    }

private:
    void separate()
    {
        if (!text_->empty() && text_->back() != '[')
            *text_ += ", ";
    }

    std::size_t longest_; // characters
    std::string* text_ = nullptr;
    std::size_t depth_ = 0;
};

} // namespace trainyard
