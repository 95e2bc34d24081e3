#include "sim/base/reader.h"

#include <algorithm>

namespace trainyard {

Reader::Reader(const Json& node, const Reader& parent, std::string_view token)
    : node_(&node),
      file_(parent.file_),
      pointer_(parent.pointer_ + "/" + pointer_token(token)),
      problems_(parent.problems_)
{}

Reader Reader::member(std::string_view key) const
{
    const Json* const found = node_->find(key);
    return found == nullptr ? absent(key) : Reader(*found, *this, key);
}

Reader Reader::member(const Json::Member& of_this) const
{
    return {of_this.second, *this, of_this.first};
}

Reader Reader::element(std::size_t index) const
{
    return {node_->items()[index], *this, std::to_string(index)};
}

Reader Reader::absent(std::string_view key) const
{
    return {*node_, *this, key};
}

void Reader::error(std::string message, std::string hint) const
{
    report(Severity::error, std::move(message), std::move(hint));
}

void Reader::warn(std::string message, std::string hint) const
{
    report(Severity::warning, std::move(message), std::move(hint));
}

std::size_t Reader::error_count() const
{
    return static_cast<std::size_t>(
        std::count_if(problems_->begin(), problems_->end(),
                      [](const Diagnostic& p) { return p.severity == Severity::error; }));
}

std::size_t Reader::problem_count() const
{
    return problems_->size();
}

bool Reader::errors_since(std::size_t count) const
{
    return has_errors(std::span(*problems_).subspan(count));
}

void Reader::report(Severity severity, std::string message, std::string hint) const
{
    problems_->push_back(
        {file_, node_->line(), pointer_, std::move(message), std::move(hint), severity});
}

} // namespace trainyard
