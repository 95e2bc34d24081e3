#include "calibrate/measure/output/device_measured.h"

#include "calibrate/fit/gemm_grid.h"
#include "calibrate/measure/output/measured_values.h"
#include "calibrate/measure/output/run_environment.h"
#include "calibrate/measure/output/sweeps.h"
#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/cost/device_catalogue.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

Json constant(Json value, const std::string& source, const MeasuredRun& run)
{
    Json out = Json::object();
    out["value"] = std::move(value);
    out["grade"] = to_name(Grade::measured);
    out["source"] = fmt::format("{}, trainyard calibrate, {}", source, run.started);
    return out;
}

std::string_view format_of(ElementType type)
{
    switch (type) {
    case ElementType::bfloat16:
        return "bf16";
    case ElementType::float16:
        return "fp16";
    case ElementType::float32:
        return "fp32";
    case ElementType::float8_e4m3:
        return "fp8";
    case ElementType::uint8:
        break;
    }
    return "";
}

// The rate of the largest `kind`, which is farthest from any cache; `passes` over its bytes.
std::optional<MeasuredValue> largest_rate(const std::vector<WorkTime>& times, LocalKind kind,
                                          double passes)
{
    std::optional<MeasuredValue> out;
    Bytes largest;
    for (const WorkTime& time : times)
        if (const auto* local = std::get_if<LocalWork>(&time.work);
            local != nullptr && local->kind == kind && local->size > largest)
        {
            largest = local->size;
            out = rate_of(passes * static_cast<double>(local->size.value()), time.seconds);
        }
    return out;
}

class DeviceOverlay {
public:
    DeviceOverlay(const MeasuredRun& run, const std::string& device) : run_(run)
    {
        json_["base"] = device;
    }

    void products(const std::vector<WorkTime>& times, std::vector<std::string>& found)
    {
        std::map<std::string_view, std::vector<GemmPoint>> by_format;
        for (const WorkTime& time : times)
            if (const auto* local = std::get_if<LocalWork>(&time.work);
                local != nullptr && local->kind == LocalKind::gemm && local->batch == 1)
                by_format[format_of(local->type)].push_back(
                    {local->m, local->n, local->k, Seconds(time.seconds.value)});
        for (const auto& [format, points] : by_format)
            if (const std::optional<GemmGrid> grid = gemm_grid(points)) {
                json_["gemm_surface"][format] =
                    constant(FieldValue<GemmSurface>::write(grid->surface), "products", run_);
                found.push_back(fmt::format("{} products in {}", points.size(), format));
            }
    }

    void memory(const std::vector<WorkTime>& times, const Device& device)
    {
        if (const auto copy = largest_rate(times, LocalKind::memory_copy, 2);
            copy && device.hbm_bandwidth.value() > 0)
            json_["hbm_efficiency"] = constant(
                Json(std::min(1.0, copy->value / device.hbm_bandwidth.value())), "copies", run_);
        if (const auto host = largest_rate(times, LocalKind::host_to_device, 1))
            json_["host_copy"] =
                constant(Json(to_text(Bandwidth(host->value))), "pinned copies", run_);
    }

    Json take() { return std::move(json_); }

private:
    const MeasuredRun& run_;
    Json json_ = Json::object();
};

// What NCCL's kernels and products lose to one another; nothing where it was not measured.
Json interference(const MeasuredRun& run, const std::vector<WorkTime>& times)
{
    Json out;
    const Slowdowns beside = slowdowns(times, LocalKind::gemm);
    if (beside.compute_lost)
        out["nccl"]["compute_moving"] =
            constant(Json(beside.compute_lost->value), "products beside collectives", run);
    if (beside.transfer)
        out["nccl"]["transfer_slowdown"] =
            constant(Json(beside.transfer->value), "collectives beside products", run);
    return out;
}

} // namespace

Checked<FittedProfile> gpu_profile(const MeasuredRun& run, FitRequest request)
{
    const std::vector<Sweep> sweeps = collective_sweeps(run);
    if (request.device.empty() && !run.ranks.empty())
        request.device = shipped_devices().name_in(run.ranks.front().facts.device);
    Checked<FittedProfile> out = fit_profile(sweeps, request);
    if (!out)
        return out;
    const Json* const hardware = out->profile.find("hardware");
    const std::string device = hardware->find("device")->as_string();
    ProfileRequest whole;
    whole.device = device;
    whole.software = out->profile.find("software")->as_string();
    const Checked<Profile> shipped = assemble(whole);
    if (!shipped)
        return tl::unexpected(shipped.error());
    const std::vector<WorkTime> times = work_times(run);
    DeviceOverlay overlay(run, device);
    overlay.products(times, out->found);
    overlay.memory(times, shipped->hardware.device);
    out->profile["hardware"]["device"] = overlay.take();
    out->profile["installation"]["environment"] =
        fields_of<Environment>().write(environment_of(run));
    if (Json beside = interference(run, times); !beside.is_null())
        out->profile["hardware"]["interference"] = std::move(beside);
    return out;
}

} // namespace trainyard
