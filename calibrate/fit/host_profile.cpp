#include "calibrate/fit/host_profile.h"

#include "calibrate/fit/gemm_grid.h"
#include "calibrate/fit/group_estimates.h"
#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/cost/collective_form.h"
#include "sim/cost/profile_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr const char* host_fabric = "pcie-host"; // NCCL's, of no use here but to be complete
constexpr const char* host_network = "tcp";
constexpr const char* host_software = "host-loop";

Json number(double value)
{
    return Json(value);
}
Json seconds(double value)
{
    return Json(to_text(Seconds(value)));
}
Json bytes_per_second(double value)
{
    return Json(to_text(Bandwidth(value)));
}

// A measured constant in the form of files.
Json constant(const MeasuredValue& measured, Json (*text)(double), const std::string& source)
{
    Json out = Json::object();
    out["value"] = text(measured.value);
    out["low"] = text(measured.low);
    out["high"] = text(measured.high);
    out["grade"] = to_name(Grade::measured);
    out["source"] = source;
    return out;
}

class HostFit {
public:
    explicit HostFit(const HostMeasured& measured) : measured_(measured) {}

    Checked<FittedProfile> run()
    {
        check();
        const std::optional<GemmGrid> grid = gemm_grid(measured_.products);
        if (!grid)
            problem("the measured products are no grid of shapes",
                    "every m with every n and every k; at most half of them may be left out");
        if (!problems_.empty())
            return tl::unexpected(problems_);
        take_products(*grid);
        take_memory();
        MeasuredOn on;
        on.network = host_network; // of tables between hosts: else no prediction takes them
        out_.tables = tables_of(measured_.sweeps, on);
        add_group_estimates(out_.tables, out_.found);
        write();
        return std::move(out_);
    }

private:
    void problem(std::string message, std::string hint)
    {
        problems_.push_back({"", 0, "", std::move(message), std::move(hint), Severity::error});
    }

    void check()
    {
        if (!measured_.memory_bandwidth || !(measured_.memory_bandwidth->value > 0))
            problem("the host's memory bandwidth was not measured", "every pass needs it");
        if (measured_.memory == Bytes(0) || measured_.ranks < 1)
            problem("the host's memory or the ranks that share it are not known",
                    "what fits depends on them");
        for (const Sweep& sweep : measured_.sweeps)
            if (!on_host(sweep.backend))
                problem(fmt::format("{} is a sweep of {}", sweep.source, title_of(sweep.backend)),
                        "ranks of a host talk over Gloo or MPI");
    }

    void remember(const std::string& path, Grade grade)
    {
        device_.provenance[path] = {grade, measured_.source, {}, {}};
    }

    // The peak is the best rate seen, the efficiency what the shapes reach of it in the mean.
    void take_products(const GemmGrid& grid)
    {
        double best = 0;
        double logarithms = 0;
        for (const GemmPoint& point : measured_.products) {
            const double rate = 2.0 * static_cast<double>(point.m) * static_cast<double>(point.n) *
                                static_cast<double>(point.k) / point.time.value();
            best = std::max(best, rate);
            logarithms += std::log(rate);
        }
        const double mean = std::exp(logarithms / static_cast<double>(measured_.products.size()));
        device_.peak.fp32 = FlopRate(best);
        device_.gemm_efficiency.fp32 = std::min(1.0, mean / best);
        device_.gemm_surface.fp32 = grid.surface;
        remember("peak.fp32", Grade::measured);
        remember("gemm_efficiency.fp32", Grade::measured);
        remember("gemm_surface.fp32", grid.estimated > 0 ? Grade::extrapolated : Grade::measured);
        if (grid.estimated > 0)
            out_.found.push_back(fmt::format("{} of {} products estimated from the rate of smaller "
                                             "ones",
                                             grid.estimated, grid.surface.points().size()));
        if (grid.most_moved > 0)
            out_.found.push_back(fmt::format("products' times moved by up to {:.1f} % so that they "
                                             "do not fall with a side",
                                             100 * grid.most_moved));
    }

    void take_memory()
    {
        const MeasuredValue& measured = *measured_.memory_bandwidth;
        device_.name = measured_.cpu.empty() ? "CPU" : "CPU " + measured_.cpu;
        device_.aliases = {"cpu"};
        device_.fabric = host_fabric;
        device_.host_link = HostLink::self;
        device_.sms = 1;
        device_.hbm_bandwidth = Bandwidth(measured.value);
        device_.hbm_efficiency = device_.hbm_gemm = 1; // the bandwidth is what passes reach
        device_.host_memory = device_.hbm_bandwidth;
        device_.host_copy = device_.peer_copy = device_.hbm_bandwidth / 2; // reads and writes
        device_.memory = Bytes(measured_.memory.value() / static_cast<unsigned>(measured_.ranks));
        device_.provenance["hbm_bandwidth"] = {Grade::measured, measured_.source,
                                               bytes_per_second(measured.low),
                                               bytes_per_second(measured.high)};
        remember("hbm_efficiency", Grade::measured);
        remember("memory", Grade::measured);
    }

    // Latency per step and rate of a library's closed form: of messages where they were measured,
    // else of its widest all-reduce inside the host. Gloo's rate is of a whole communicator: only
    // its collectives tell it.
    void put_closed_form(Json& hardware, Backend backend, const char* latency_field,
                         const char* rate_field) const
    {
        const KnotTable* const widest = widest_all_reduce(backend);
        const auto library = std::ranges::find(measured_.libraries, backend, &HostLibrary::backend);
        std::optional<MeasuredValue> latency;
        std::optional<MeasuredValue> rate;
        if (widest != nullptr) {
            latency = step_latency(*widest);
            rate = bus_rate(*widest);
        }
        if (library != measured_.libraries.end()) {
            if (library->latency)
                latency = library->latency;
            if (library->rate && backend != Backend::gloo)
                rate = library->rate;
        }
        if (!latency && !rate)
            return;
        Json& out = hardware[to_name(backend)];
        out["base"] = std::string(to_name(backend));
        if (latency)
            out[latency_field] = constant(*latency, seconds, measured_.source);
        if (rate)
            out[rate_field] = constant(*rate, bytes_per_second, measured_.source);
    }

    const KnotTable* widest_all_reduce(Backend backend) const
    {
        const KnotTable* out = nullptr;
        for (const KnotTable& table : out_.tables)
            if (table.backend == backend && table.domains == 1 && is_taken(table) &&
                table.collective == CollectiveKind::all_reduce &&
                (out == nullptr || table.ranks_per_domain > out->ranks_per_domain))
                out = &table;
        return out;
    }

    static MeasuredValue step_latency(const KnotTable& table)
    {
        const double steps = std::max(1.0, std::ceil(std::log2(table.ranks_per_domain)));
        const Knot& first = table.samples.knots.front();
        return {first.time.value() / steps, first.low.value() / steps, first.high.value() / steps};
    }

    static MeasuredValue bus_rate(const KnotTable& table)
    {
        const Knot& last = table.samples.knots.back();
        const double moved = bus_factor(table.collective, table.ranks_per_domain) *
                             static_cast<double>(last.size.value());
        const double alpha =
            std::min(table.samples.knots.front().time.value(), 0.5 * last.low.value());
        return {moved / (last.time.value() - alpha), moved / (last.high.value() - alpha),
                moved / (last.low.value() - alpha)};
    }

    Json interference() const
    {
        Json out = Json::object();
        for (const HostLibrary& library : measured_.libraries) {
            const std::string name(to_name(library.backend));
            const auto put = [&](const char* field, const std::optional<MeasuredValue>& value) {
                if (value)
                    out[name][field] = constant(*value, number, measured_.source);
            };
            put("compute_waiting", library.compute_waiting);
            put("compute_moving", library.compute_moving);
            put("transfer_slowdown", library.transfer_slowdown);
        }
        return out;
    }

    void write()
    {
        Json& out = out_.profile;
        out["format"] = profile_format;
        out["name"] = measured_.name;
        out["description"] =
            fmt::format("One of {} ranks on the CPUs of a host, measured there.", measured_.ranks);
        Json& hardware = out["hardware"];
        hardware["device"] = part_json(device_);
        hardware["network"] = host_network;
        put_closed_form(hardware, Backend::gloo, "latency", "max_per_communicator");
        put_closed_form(hardware, Backend::mpi, "latency_inside", "rate_inside");
        if (Json beside = interference(); !beside.members().empty())
            hardware["interference"] = std::move(beside);
        hardware["knots"] = FieldValue<std::vector<KnotTable>>::write(out_.tables);
        write_software(out["software"]);
        Json installation = fields_of<Installation>().write({});
        installation["environment"] = fields_of<Environment>().write(measured_.environment);
        out["installation"] = std::move(installation);
    }

    void write_software(Json& out)
    {
        if (!measured_.issue) {
            out = host_software;
            return;
        }
        out["base"] = host_software;
        for (const char* field : {"host_per_kernel_forward", "host_per_kernel_backward"})
            out[field] = constant(*measured_.issue, seconds, measured_.source);
    }

    const HostMeasured& measured_;
    Problems problems_;
    Device device_;
    FittedProfile out_;
};

} // namespace

Checked<FittedProfile> host_profile(const HostMeasured& measured)
{
    return HostFit(measured).run();
}

} // namespace trainyard
