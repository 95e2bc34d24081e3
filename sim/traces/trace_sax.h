#pragma once

// What readers of traces as JSON share: how deep they are, and what is wrong at which line.

#include "sim/base/diagnostic.h"
#include "sim/base/json_syntax.h"
#include "sim/traces/json_stream.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <string>

namespace trainyard {

// Takes nlohmann's events. A reader counts brackets with `deeper` and `--depth_`.
class TraceSax : public nlohmann::json_sax<nlohmann::json> {
public:
    bool null() override { return true; }
    bool binary(binary_t&) override { return false; }
    bool parse_error(std::size_t, const std::string&,
                     const nlohmann::detail::exception& error) override
    {
        if (problems_.empty()) {
            JsonSyntaxProblem problem = explain_json_error(error.what());
            refuse(std::move(problem.message), std::move(problem.hint));
        }
        return false;
    }

    Problems& problems() { return problems_; }

protected:
    // Outlives the reader.
    TraceSax(const JsonStream& stream, std::string file) : stream_(stream), file_(std::move(file))
    {}

    bool deeper()
    {
        constexpr std::size_t deepest = 64;
        if (++depth_ > deepest)
            return refuse(fmt::format("nested deeper than {} levels", deepest), "");
        return true;
    }

    // Ends the reading.
    bool refuse(std::string message, std::string hint)
    {
        constexpr std::uint64_t quoted = 400; // bytes: a file in one line is found by its byte
        const bool by_byte = stream_.line() == 1 && stream_.bytes() > quoted;
        if (by_byte)
            message += fmt::format(", at byte {}", stream_.bytes());
        problems_.push_back({file_, by_byte ? 0 : stream_.line(), "", std::move(message),
                             std::move(hint), Severity::error});
        return false;
    }

    const std::string& file() const { return file_; }

    std::size_t depth_ = 0;

private:
    const JsonStream& stream_;
    std::string file_;
    Problems problems_;
};

} // namespace trainyard
