#include "sim/base/json_edit.h"

#include <algorithm>
#include <memory>

namespace trainyard {

namespace {

// Where a value stands, and its parts.
struct TextNode {
    struct Part {
        std::string key;       // of a member
        std::size_t lead = 0;  // where the blanks and comments before it begin
        std::size_t begin = 0; // its key, or its value
        std::size_t after = 0; // behind its comma; of the last behind its value
        std::unique_ptr<TextNode> value;
    };

    std::size_t begin = 0;
    std::size_t end = 0;
    char kind = 's'; // '{', '[', or else a scalar
    std::vector<Part> parts;
};

bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

// Only of texts that were parsed before: it looks for no errors.
class TextScanner {
public:
    explicit TextScanner(std::string_view text) : text_(text) {}

    TextNode value()
    {
        skip_blanks();
        TextNode node;
        node.begin = at_;
        node.kind = text_[at_];
        if (node.kind == '{' || node.kind == '[')
            read_parts(node);
        else if (node.kind == '"')
            skip_string();
        else
            at_ = std::min(text_.find_first_of(",]} \t\r\n/", at_), text_.size());
        node.end = at_;
        return node;
    }

private:
    void skip_blanks()
    {
        for (;;) {
            at_ = std::min(text_.find_first_not_of(" \t\r\n\xEF\xBB\xBF", at_), text_.size());
            if (text_.substr(at_, 2) == "//")
                at_ = std::min(text_.find('\n', at_), text_.size());
            else if (text_.substr(at_, 2) == "/*")
                at_ = text_.find("*/", at_) + 2;
            else
                return;
        }
    }

    std::string_view skip_string()
    {
        const std::size_t begin = at_++;
        while (text_[at_] != '"')
            at_ += text_[at_] == '\\' ? 2 : 1;
        ++at_;
        return text_.substr(begin, at_ - begin);
    }

    void read_parts(TextNode& node)
    {
        const char close = node.kind == '{' ? '}' : ']';
        ++at_;
        for (;;) {
            TextNode::Part part;
            part.lead = at_;
            skip_blanks();
            if (text_[at_] == close)
                break;
            part.begin = at_;
            if (node.kind == '{') {
                part.key = parse_json(skip_string(), "")->as_string();
                skip_blanks();
                ++at_; // the colon
            }
            part.value = std::make_unique<TextNode>(value());
            part.after = at_;
            skip_blanks();
            if (text_[at_] == ',')
                part.after = ++at_;
            node.parts.push_back(std::move(part));
        }
        ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

class TextEditor {
public:
    explicit TextEditor(std::string_view text) : text_(text) {}

    std::string edited(const TextNode& node, const Json& now) const
    {
        if (node.kind == '{' && now.is_object())
            return edited_object(node, now);
        if (node.kind == '[' && now.is_array() && now.items().size() == node.parts.size())
            return edited_array(node, now);
        const std::string_view old = text_.substr(node.begin, node.end - node.begin);
        const Checked<Json> before = parse_json(old, "");
        return before && *before == now ? std::string(old) : laid_out(now, node.begin);
    }

private:
    std::string_view slice(std::size_t from, std::size_t to) const
    {
        return text_.substr(from, to - from);
    }

    // The blanks between the beginning of the line and what stands there.
    std::string indent_at(std::size_t place) const
    {
        const std::size_t line = text_.rfind('\n', place == 0 ? 0 : place - 1);
        const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
        const std::size_t end = std::min(text_.find_first_not_of(" \t", begin), place);
        return std::string(slice(begin, end));
    }

    // As we write it, its lines indented as the one that it stands on.
    std::string laid_out(const Json& value, std::size_t place) const
    {
        const std::string indent = indent_at(place);
        std::string out;
        for (const char letter : to_text(value)) {
            out += letter;
            if (letter == '\n')
                out += indent;
        }
        return out;
    }

    // Without its comma.
    std::string edited_part(const TextNode::Part& part, const Json& now) const
    {
        return std::string(slice(part.lead, part.value->begin)) + edited(*part.value, now) +
               std::string(slice(part.value->end, end_of(part)));
    }

    // Behind the value, in front of the comma.
    std::size_t end_of(const TextNode::Part& part) const
    {
        return part.after - (part.after > part.value->end && text_[part.after - 1] == ',' ? 1 : 0);
    }

    std::string edited_array(const TextNode& node, const Json& now) const
    {
        std::string out = "[";
        for (std::size_t i = 0; i < node.parts.size(); ++i)
            out += (i > 0 ? "," : "") + edited_part(node.parts[i], now.items()[i]);
        const std::size_t last = node.parts.empty() ? node.begin + 1 : node.parts.back().after;
        return out + std::string(slice(last, node.end));
    }

    std::string edited_object(const TextNode& node, const Json& now) const
    {
        std::string out = "{";
        bool any = false;
        for (const TextNode::Part& part : node.parts)
            if (const Json* const value = now.find(part.key)) {
                out += (any ? "," : "") + edited_part(part, *value);
                any = true;
            }
        for (const Json::Member& member : now.members())
            if (std::ranges::find(node.parts, member.first, &TextNode::Part::key) ==
                node.parts.end()) {
                out += (any ? "," : "") + new_member(node, member);
                any = true;
            }
        if (!any)
            return "{}";
        const bool had = !node.parts.empty();
        return out + (had ? std::string(slice(node.parts.back().after, node.end))
                          : "\n" + indent_at(node.begin) + "}");
    }

    // Laid out as the last member.
    std::string new_member(const TextNode& node, const Json::Member& member) const
    {
        const std::string key = to_text(Json(member.first)) + ": ";
        if (node.parts.empty())
            return "\n" + indent_at(node.begin) + "  " + key + laid_out(member.second, node.begin);
        const TextNode::Part& last = node.parts.back();
        std::size_t blanks = last.begin;
        while (blanks > last.lead && is_blank(text_[blanks - 1]))
            --blanks;
        std::string lead(slice(blanks, last.begin));
        if (lead.empty() && node.parts.size() > 1)
            lead = " ";
        return lead + key +
               (lead.find('\n') != std::string::npos ? laid_out(member.second, last.begin)
                                                     : to_text(member.second, JsonStyle::compact));
    }

    std::string_view text_;
};

} // namespace

std::string edited_json(std::string_view text, const Json& now)
{
    const TextNode root = TextScanner(text).value();
    return std::string(text.substr(0, root.begin)) + TextEditor(text).edited(root, now) +
           std::string(text.substr(root.end));
}

} // namespace trainyard
