#pragma once

// A place in a JSON document while it is being read, and where its problems go.

#include "sim/base/json.h"

namespace trainyard {

class Reader {
public:
    Reader(const Json& node, std::string file, Problems& problems)
        : node_(&node), file_(std::move(file)), problems_(&problems)
    {}

    const Json& node() const { return *node_; }
    const std::string& file() const { return file_; }
    const std::string& pointer() const { return pointer_; }

    // The member `key` of this object (absent(key) where it is not there), or element `index` of
    // this array.
    Reader member(std::string_view key) const;
    Reader member(const Json::Member& of_this) const; // without a search
    Reader element(std::size_t index) const;
    // Where a member of this object would be that is not there: its problems name it and show the
    // object's line.
    Reader absent(std::string_view key) const;

    void error(std::string message, std::string hint = {}) const;
    void warn(std::string message, std::string hint = {}) const;

    // Errors reported so far in the whole document.
    std::size_t error_count() const;

    // Whether one was reported since `problem_count` was `count`: as cheap as what came since.
    std::size_t problem_count() const;
    bool errors_since(std::size_t count) const;

private:
    Reader(const Json& node, const Reader& parent, std::string_view token);
    void report(Severity severity, std::string message, std::string hint) const;

    const Json* node_;
    std::string file_;
    std::string pointer_;
    Problems* problems_;
};

} // namespace trainyard
