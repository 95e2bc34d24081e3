#include "calibrate/fit/written_constant.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

bool is_latency(std::string_view path)
{
    return path.starts_with("base_") || path.starts_with("hop_") || path == "nvls_per_rank" ||
           path == "latency";
}

Json written(std::string_view path, double value)
{
    if (is_latency(path))
        return Json(fmt::format("{:.3g} us", value * 1e6));
    if (path == "max_per_communicator")
        return Json(fmt::format("{:.3g} GB/s", value * 1e-9));
    return Json(std::stod(fmt::format("{:.3g}", value)));
}

} // namespace

Json& member_at(Json& json, std::string_view path)
{
    const std::size_t dot = path.find('.');
    return dot == std::string_view::npos
               ? json[path]
               : member_at(json[path.substr(0, dot)], path.substr(dot + 1));
}

void put_constant(Json& file, const FittedConstant& constant, const std::string& grade,
                  const std::string& source)
{
    Json out = Json::object();
    out["value"] = written(constant.path, constant.value);
    out["low"] = written(constant.path, constant.low);
    out["high"] = written(constant.path, constant.high);
    out["grade"] = grade;
    out["source"] = source;
    member_at(file, constant.path) = std::move(out);
}

} // namespace trainyard
