#include "calibrate/fit/fit_profile.h"

#include "calibrate/fit/group_estimates.h"
#include "calibrate/fit/scaled_form.h"
#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/cost/device_catalogue.h"
#include "sim/cost/profile_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

constexpr const char* default_network = "ib-ndr";
constexpr const char* default_software = "mcore-2024";

Diagnostic problem(std::string message, std::string hint)
{
    return {"", 0, "", std::move(message), std::move(hint), Severity::error};
}

class ProfileFit {
public:
    ProfileFit(std::span<const Sweep> sweeps, const FitRequest& request, const Folders& folders)
        : sweeps_(sweeps.begin(), sweeps.end()),
          request_(request),
          folders_(folders),
          devices_(folders)
    {}

    Checked<FittedProfile> run()
    {
        choose_device();
        if (problems_.empty())
            load_hardware();
        if (problems_.empty() && !sweeps_.empty())
            measure();
        if (!problems_.empty())
            return tl::unexpected(problems_);
        add_group_estimates(out_.tables, out_.found);
        scale();
        if (!problems_.empty())
            return tl::unexpected(problems_);
        estimate_domain_counts();
        write();
        return std::move(out_);
    }

private:
    // The device of all sweeps, as the request or the logs name it.
    void choose_device()
    {
        std::set<std::string> named;
        std::set<std::string> words;
        for (const Sweep& sweep : sweeps_)
            for (const std::string& text : {sweep.device, sweep.hardware}) {
                if (text.empty())
                    continue;
                words.insert(text);
                if (const KnownDevice* const known = devices_.named_in(text)) {
                    named.insert(known->device.name);
                    break;
                }
            }
        device_ = request_.device;
        const std::string of_topology = devices_.name_in(request_.topology_device);
        if (!of_topology.empty() && named.empty())
            named.insert(of_topology);
        if (!of_topology.empty() && device_.empty() && !named.count(of_topology))
            problems_.push_back(problem(fmt::format("the topology file is of {}, the logs of {}",
                                                    of_topology, fmt::join(named, ", ")),
                                        "give the files of one machine"));
        else if (named.size() > 1)
            problems_.push_back(
                problem(fmt::format("the logs are of several devices: {}", fmt::join(named, ", ")),
                        "fit the logs of each machine apart"));
        else if (device_.empty() && named.empty())
            problems_.push_back(problem(
                words.empty()
                    ? "the logs do not say which GPU they were measured on"
                    : fmt::format("no device of that name is known: {}", fmt::join(words, ", ")),
                fmt::format("say it: --device NAME, one of {}",
                            fmt::join(known_devices(folders_), ", "))));
        else if (device_.empty()) {
            device_ = *named.begin();
            out_.assumed.push_back(fmt::format("device {}, as the files name it", device_));
        }
    }

    void load_hardware()
    {
        const Json nothing;
        const Reader where(nothing, "", problems_);
        ProfileBuilder builder(folders_, problems_);
        builder.from_file(where, device_kind, device_, hardware_.device);
        network_ = request_.network.empty() ? default_network : request_.network;
        builder.from_file(where, network_kind, network_, hardware_.network);
        if (has_errors(problems_))
            return;
        for (Sweep& sweep : sweeps_) // of one machine, whether they name it or not
            sweep.device = hardware_.device.name;
        add_companions(builder, where, {"knots"}, hardware_);
        const bool across = std::any_of(sweeps_.begin(), sweeps_.end(),
                                        [](const Sweep& sweep) { return sweep.nodes > 1; });
        if (across && request_.network.empty())
            out_.assumed.push_back(fmt::format("network {}; --network says another", network_));
        std::erase_if(problems_, [](const Diagnostic& d) { return d.severity != Severity::error; });
    }

    // Bus bandwidth inside a domain above the device's links is not that device's: with reduction
    // in the switch 1.07 of the line rate is the most that was published. Over several domains the
    // part of the work inside each takes those links, too.
    void check_speed(const KnotTable& table)
    {
        constexpr double most = 1.3;
        const double line = domain_rate(shape_of(table, hardware_), hardware_.fabric).value();
        const int ranks = table.ranks_per_domain * table.domains;
        if (table.backend != Backend::nccl || !(line > 0) || table.ranks_per_domain == 1)
            return;
        const double inside = 1 - 1.0 / table.ranks_per_domain;
        const double limit = line * (1 - 1.0 / ranks) / inside;
        const double factor = bus_factor(table.collective, ranks);
        double best = 0;
        for (const Knot& knot : table.samples.knots)
            best = std::max(best, factor * (knot.size / knot.time).value());
        if (best > most * limit)
            problems_.push_back(problem(
                fmt::format("{}: {} bus bandwidth is more than the links of {} carry ({})",
                            table.source, to_display(Bandwidth(best)), device_,
                            to_display(Bandwidth(limit))),
                "is it that device (--device), and are the number of ranks and the times right?"));
    }

    // NCCL's launches on one machine differ by some per cent, beside outliers that cleaning leaves
    // out; those of hosts' cores by what else runs there.
    void check_launches(const KnotTable& table)
    {
        constexpr double doubtful = 0.25;
        constexpr double unlike = 0.5;
        const double apart = table.errors.held_out_launch.value_or(0);
        if (apart < doubtful)
            return;
        const std::string what = fmt::format(
            "launches of {} among {} ranks are {:.0f} % off each other", to_name(table.collective),
            table.ranks_per_domain * table.domains, 100 * apart);
        if (apart >= unlike && table.backend == Backend::nccl)
            problems_.push_back(
                problem(what, "fit the logs of each machine, network and setting apart"));
        else
            out_.found.push_back(what + ": are they of one machine?");
    }

    // Hundreds of times as slow is no machine: check_speed refuses what is as many times too quick.
    void check_factors(const char* what, const std::optional<ScaledForm>& form)
    {
        constexpr double doubtful = 8;
        constexpr double most = 100;
        if (!form)
            return;
        const double slower = std::max(form->scalars.latency, 1 / form->scalars.bandwidth);
        const std::string text =
            fmt::format("collectives {} take up to {:.3g} times as long as published of {}", what,
                        slower, device_);
        if (slower > most)
            problems_.push_back(
                problem(text, "are the times in microseconds, and is it that device (--device)?"));
        else if (slower > doubtful)
            out_.found.push_back(text + ": NCCL without its usual transports?");
    }

    void measure()
    {
        MeasuredOn on;
        on.rack_domain = hardware_.device.usual_node.nvlink_domain;
        on.nvlink = hardware_.device.nvlink;
        on.network = hardware_.network.name;
        on.nics_per_domain = request_.nics_per_node;
        on.nic_rate = request_.nic_rate;
        out_.tables = tables_of(sweeps_, on);
        for (const KnotTable& table : out_.tables)
            if (is_taken(table) && table.samples.knots.back().size < Bytes(16 << 20))
                out_.assumed.push_back(fmt::format(
                    "{} among {} ranks beyond {} as the closed form grows: nothing larger was "
                    "measured",
                    to_name(table.collective), table.ranks_per_domain * table.domains,
                    to_text(table.samples.knots.back().size)));
        if (out_.tables.empty())
            problems_.push_back(
                problem("no sweep has two usable sizes",
                        "nothing can be fitted; the import says what was left out"));
        for (const KnotTable& table : out_.tables) {
            check_speed(table);
            check_launches(table);
        }
        for (const Sweep& sweep : sweeps_)
            if (const std::size_t sizes = clean(sweep).points.size(); sizes < 2)
                out_.found.push_back(fmt::format("left out: {} has {} usable size{}", sweep.source,
                                                 sizes, sizes == 1 ? "" : "s"));
        const bool across = std::any_of(out_.tables.begin(), out_.tables.end(),
                                        [](const KnotTable& table) { return table.domains > 1; });
        if (across && request_.nics_per_node == 0)
            out_.assumed.push_back("any number of NICs per node; --nics and --nic-rate restrict "
                                   "the tables to a cluster like the measured one");
        std::set<std::string> versions;
        for (const Sweep& sweep : sweeps_)
            if (sweep.backend == Backend::nccl && !sweep.nccl_version.empty())
                versions.insert(sweep.nccl_version);
        if (versions.size() > 1)
            out_.assumed.push_back(fmt::format("NCCL {} are kept apart; the newest is used",
                                               fmt::join(versions, ", ")));
        if (versions.empty())
            out_.assumed.push_back("NCCL's version is not stated; nothing to compare a job's with");
    }

    // More and fewer domains than were measured, from the nearest number of them.
    void estimate_domain_counts()
    {
        constexpr int most_domains = 64;
        const CollectiveClasses classes{&hardware_.fabric, &hardware_.network,
                                        &hardware_.collectives};
        std::map<std::pair<CollectiveKind, int>, std::map<int, KnotTable>> measured;
        for (const KnotTable& table : out_.tables)
            if (table.backend == Backend::nccl && is_taken(table) && table.domains > 1)
                measured[{table.collective, table.ranks_per_domain}].emplace(table.domains, table);
        for (const auto& [what, by_domains] : measured)
            for (int domains = 2; domains <= most_domains; domains *= 2) {
                if (by_domains.count(domains))
                    continue;
                const auto above = by_domains.lower_bound(domains);
                const KnotTable& nearest =
                    (above == by_domains.end() ? std::prev(above) : above)->second;
                KnotTable out = nearest;
                out.domains = domains;
                const CurveEstimate estimate =
                    estimate_domains(what.first, nearest.samples, shape_of(nearest, hardware_),
                                     shape_of(out, hardware_), classes);
                out.samples = estimate.curve;
                out.grade = Grade::extrapolated;
                out.source = "not measured: " + estimate.basis;
                out.launches = 1;
                out.lines.clear();
                out.errors = {};
                out.raw = {};
                out_.found.push_back(fmt::format(
                    "{} over {} domains estimated, {}; intervals {:.0f} % up to 16 MiB",
                    to_name(what.first), domains, estimate.basis,
                    100 * (out.samples.knots.front().high / out.samples.knots.front().time - 1)));
                out_.tables.push_back(std::move(out));
            }
    }

    void scale()
    {
        fabric_ = scale_fabric(hardware_, out_.tables);
        across_ = scale_network(hardware_, out_.tables);
        const auto say = [&](const char* what, const std::optional<ScaledForm>& form) {
            if (form)
                out_.found.push_back(fmt::format(
                    "closed form {}: latencies x {:.2f}, bandwidths x {:.2f}; mean error {:.1f} % "
                    "(as shipped {:.1f} %)",
                    what, form->scalars.latency, form->scalars.bandwidth, 100 * form->error_after,
                    100 * form->error_before));
        };
        say("inside a domain", fabric_);
        say("across domains", across_);
        check_factors("inside a domain", fabric_);
        check_factors("across domains", across_);
    }

    // Published times of the device stand in for collectives that were not measured, unless this
    // machine is another: then the scaled closed form does.
    bool is_usual()
    {
        constexpr double most = 1.15;
        const auto near_one = [](double factor) { return factor < most && factor > 1 / most; };
        const bool usual = !fabric_ || (near_one(fabric_->scalars.latency) &&
                                        near_one(fabric_->scalars.bandwidth));
        out_.found.push_back(
            usual
                ? fmt::format("collectives and group sizes without a sweep: published times of {}",
                              device_)
                : "collectives and group sizes without a sweep: the scaled closed form, since this "
                  "machine is more than 15 % off the published ones");
        return usual;
    }

    template <class Part>
    static Json changed(const std::string& base, const Part& part)
    {
        const Json whole = part_json(part);
        Json out = Json::object();
        out["base"] = base;
        keep_measured(whole, out);
        return out;
    }

    // Copies the constants graded `measured` of `from`, in their places, to `to`.
    static void keep_measured(const Json& from, Json& to)
    {
        for (const Json::Member& member : from.members()) {
            if (!member.second.is_object())
                continue;
            const Json* grade = member.second.find("grade");
            if (grade != nullptr && grade->is_string() && grade->as_string() == "measured")
                to[member.first] = member.second;
            Json inner = Json::object();
            if (grade == nullptr)
                keep_measured(member.second, inner);
            if (!inner.members().empty())
                to[member.first] = inner;
        }
    }

    Environment environment() const
    {
        Environment out;
        out.date = request_.date;
        out.host = request_.host;
        if (sweeps_.empty())
            return out;
        const Sweep& first = sweeps_.front();
        out.nccl = first.nccl_version;
        out.variables = configuration_of(first).variables;
        for (const Sweep& sweep : sweeps_) {
            if (sweep.nccl_version != out.nccl)
                out.nccl.clear();
            std::erase_if(out.variables, [&](const auto& variable) {
                const auto same = sweep.variables.find(variable.first);
                return same == sweep.variables.end() || same->second != variable.second;
            });
        }
        return out;
    }

    void write()
    {
        Json& out = out_.profile;
        out["format"] = profile_format;
        out["name"] = request_.name;
        out["description"] =
            fmt::format("Collectives measured on {}; the rest as shipped.", device_);
        Json& hardware = out["hardware"];
        hardware["device"] = device_;
        if (fabric_)
            hardware["fabric"] = changed(hardware_.device.fabric, hardware_.fabric);
        hardware["network"] = across_ ? changed(network_, hardware_.network) : Json(network_);
        hardware["knots"] = FieldValue<std::vector<KnotTable>>::write(out_.tables);
        if (!hardware_.device.knots.empty() && is_usual())
            hardware["knots"].push_back(hardware_.device.knots);
        out["software"] = default_software;
        out_.assumed.push_back(fmt::format("software {}; a scenario's own wins", default_software));
        Json installation = fields_of<Installation>().write({});
        installation["environment"] = fields_of<Environment>().write(environment());
        out["installation"] = std::move(installation);
    }

    std::vector<Sweep> sweeps_;
    const FitRequest& request_;
    const Folders& folders_;
    const DeviceCatalogue devices_;
    Problems problems_;
    std::string device_;
    std::string network_;
    Hardware hardware_;
    std::optional<ScaledForm> fabric_;
    std::optional<ScaledForm> across_;
    FittedProfile out_;
};

} // namespace

Checked<FittedProfile> fit_profile(std::span<const Sweep> sweeps, const FitRequest& request,
                                   const Folders& folders)
{
    if (sweeps.empty() && request.device.empty())
        return tl::unexpected(Problems{problem("no sweep to fit", "name nccl-tests logs")});
    return ProfileFit(sweeps, request, folders).run();
}

} // namespace trainyard
