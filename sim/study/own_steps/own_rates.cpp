#include "sim/study/own_steps/own_rates.h"

#include "sim/cost/provenance.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trainyard {
namespace {

constexpr double ninety = 1.645; // standard deviations of a 90 % interval to one side

// The node at a dotted path of a profile, or null. Of Json or const Json.
template <class Node>
Node* node_at(Node& root, std::string_view path)
{
    Node* node = &root;
    while (node != nullptr && !path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        node = node->find(path.substr(0, dot));
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return node;
}

// The bare value of a constant; null where the profile has none that is above zero.
const Json* value_at(const Json& profile, const char* path)
{
    const Json* node = node_at(profile, path);
    if (node != nullptr && node->is_object())
        node = node->find("value");
    return node != nullptr && magnitude(*node).value_or(0) > 0 ? node : nullptr;
}

// A number or the number before a unit, times `factor`.
Json scaled(const Json& value, double factor)
{
    if (value.is_number())
        return value.as_double() * factor;
    const std::string& text = value.as_string();
    double number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
    return fmt::format("{:.9g}{}", number * factor, std::string(end, text.data() + text.size()));
}

// The columns of times of a table, in microseconds.
void scale_times(Json& table, double factor)
{
    const Json* const columns = table.find("columns");
    Json* const rows = table.find("rows");
    if (columns == nullptr || rows == nullptr)
        return;
    for (std::size_t i = 0; i < columns->items().size(); ++i)
        if (columns->items()[i].as_string().find("[us]") != std::string::npos)
            for (Json& row : rows->items())
                row.items()[i] = row.items()[i].as_double() * factor;
}

template <class Node>
std::vector<Node*> product_tables(Node& profile)
{
    std::vector<Node*> out;
    for (const char* path :
         {"hardware.device.gemm_surface.fp32", "hardware.device.gemm_surface.tf32"}) {
        Node* table = node_at(profile, path);
        if (table != nullptr && table->find("value") != nullptr)
            table = table->find("value");
        if (table != nullptr && table->find("rows") != nullptr)
            out.push_back(table);
    }
    return out;
}

template <class Node>
std::vector<Node*> collective_tables(Node& profile, bool across)
{
    std::vector<Node*> out;
    Node* const tables = node_at(profile, "hardware.knots");
    if (tables == nullptr || !tables->is_array())
        return out;
    for (Node& table : tables->items()) {
        const Json* const backend = table.find("backend");
        const Json* const domains = table.find("domains");
        const bool on_host =
            backend != nullptr && (*backend == Json("gloo") || *backend == Json("mpi"));
        const bool crosses = domains != nullptr && domains->as_integer() > 1;
        Node* const samples = table.find("samples");
        if (on_host && crosses == across && samples != nullptr)
            out.push_back(samples);
    }
    return out;
}

template <class Node>
std::vector<Node*> tables_of(Node& profile, RateTables kind)
{
    switch (kind) {
    case RateTables::products:
        return product_tables(profile);
    case RateTables::inside:
        return collective_tables(profile, false);
    case RateTables::across:
        return collective_tables(profile, true);
    case RateTables::none:
        break;
    }
    return {};
}

} // namespace

std::span<const OwnRate> own_rates()
{
    // Spreads: of GEMM, attention and memory what left-out sources of dense models ask for (their
    // mean error is 8.1 %); of experts what those of mixtures ask for besides (11.7 %, of which
    // experts and all-to-all are a quarter of the time); of links 5 to 40 % between installations
    // of one kind.
    static const std::vector<OwnRate> rates{
        {"gemm_16",
         "GEMM rate, 16 bit",
         {{"hardware.device.under_load.gemm.bf16"},
          {"hardware.device.under_load.gemm.fp16"},
          {"hardware.device.gemm_efficiency.bf16"},
          {"hardware.device.gemm_efficiency.fp16"}},
         0.10,
         4,
         "clocks held down by power or heat, or products in another format"},
        {"gemm_8",
         "GEMM rate, 8 bit",
         {{"hardware.device.under_load.gemm.fp8"},
          {"hardware.device.under_load.gemm.mxfp8"},
          {"hardware.device.gemm_efficiency.fp8"},
          {"hardware.device.gemm_efficiency.mxfp8"}},
         0.10,
         4,
         "products that run in 16 bit after all"},
        {"gemm_4",
         "GEMM rate, 4 bit",
         {{"hardware.device.under_load.gemm.nvfp4"}, {"hardware.device.gemm_efficiency.nvfp4"}},
         0.15,
         4,
         "products that run in 8 or 16 bit after all"},
        {"gemm_32",
         "GEMM rate, 32 bit",
         {{"hardware.device.gemm_efficiency.fp32"}, {"hardware.device.gemm_efficiency.tf32"}},
         0.10,
         20,
         "cores taken by others, or tf32 not allowed",
         RateTables::products},
        {"attention",
         "attention rate",
         {{"hardware.device.under_load.attention"},
          {"hardware.device.attention.sdpa"},
          {"hardware.device.attention.sdpa_cudnn"},
          {"hardware.device.attention.flash1"},
          {"hardware.device.attention.flash2"},
          {"hardware.device.attention.triton"},
          {"hardware.device.attention.cudnn"}},
         0.06,
         20,
         "another kernel than stated"},
        {"memory",
         "memory rate",
         {{"hardware.device.hbm_bandwidth"}},
         0.15,
         5,
         "elementwise work that is not fused"},
        {"launch",
         "pace of kernels on the device",
         {{"hardware.device.launch_gap", -1}},
         0.30,
         5,
         "many small kernels"},
        {"host",
         "pace of the host",
         {{"software.host_per_kernel_forward", -1}, {"software.host_per_kernel_backward", -1}},
         0.30,
         10,
         "a profiler, debugging or busy cores"},
        {"inside",
         "network rate inside a node",
         {{"hardware.fabric.in_situ", -1},
          {"hardware.gloo.max_per_communicator"},
          {"hardware.mpi.rate_inside"}},
         0.30,
         30,
         "peers that do not reach each other and go through the host",
         RateTables::inside},
        {"across",
         "network rate between nodes",
         {{"hardware.network.in_situ", -1}},
         0.30,
         100,
         "sockets in place of RDMA, or one NIC of several",
         RateTables::across},
        {"all_to_all",
         "all-to-all rate",
         {{"hardware.fabric.in_situ_all_to_all", -1}, {"hardware.network.in_situ_all_to_all", -1}},
         0.40,
         30,
         "another dispatcher than stated"},
        {"experts",
         "GEMM rate of experts against others",
         {{"software.expert_gemm_16"}, {"software.expert_gemm_8"}},
         0.40,
         10,
         "experts one by one, or tokens spread unevenly"},
        {"dispatch_memory",
         "memory rate of routing and permuting",
         {{"software.moe_elementwise_factor", -1}},
         0.40,
         10,
         "permutation that is not fused"},
        {"elementwise",
         "memory rate of elementwise kernels against others",
         {{"software.elementwise_factor", -1}, {"software.normalisation_factor", -1}},
         0.15,
         10,
         "kernels that are not fused",
         RateTables::none,
         true},
        {"updates",
         "memory rate of the optimizer against others",
         {{"software.optimizer_bytes_per_parameter", -1}},
         0.15,
         10,
         "an update tensor by tensor",
         RateTables::none,
         true},
    };
    return rates;
}

bool stands_in(const OwnRate& rate, const Json& profile)
{
    const auto has = [&](const RatePlace& place) {
        return value_at(profile, place.path) != nullptr;
    };
    return std::any_of(rate.places.begin(), rate.places.end(), has) ||
           !tables_of(profile, rate.tables).empty();
}

bool told_by_steps(const OwnRate& rate, const Json& profile)
{
    return !rate.by_kernels_alone && stands_in(rate, profile);
}

namespace {

// Whether earlier own steps solved the rate: then its interval is of this installation.
bool solved_before(const Json& profile, const OwnRate& rate)
{
    const Json* const solved = node_at(profile, "own_steps.rates");
    return solved != nullptr && solved->is_array() &&
           std::ranges::find(solved->items(), Json(rate.name)) != solved->items().end();
}

} // namespace

double prior_spread(const OwnRate& rate, const Json& profile)
{
    for (const RatePlace& place : rate.places) {
        if (value_at(profile, place.path) == nullptr)
            continue;
        const Json& node = *node_at(profile, place.path);
        const Json* const low = node.find("low");
        const Json* const high = node.find("high");
        const double least = low != nullptr ? magnitude(*low).value_or(0) : 0;
        const double most = high != nullptr ? magnitude(*high).value_or(0) : 0;
        const double stated = least > 0 && most > least ? std::log(most / least) / (2 * ninety) : 0;
        return stated > 0 && solved_before(profile, rate) ? stated
                                                          : std::max(stated, rate.least_spread);
    }
    return rate.least_spread;
}

void change_rate(Json& profile, const OwnRate& rate, double change)
{
    for (const RatePlace& place : rate.places)
        if (const Json* const value = value_at(profile, place.path)) {
            Json changed = scaled(*value, std::exp(place.sense * change));
            *node_at(profile, place.path) = std::move(changed);
        }
    for (Json* const table : tables_of(profile, rate.tables))
        scale_times(*table, std::exp(-change));
}

void write_rate(Json& profile, const OwnRate& rate, const SolvedRate& solved)
{
    change_rate(profile, rate, solved.change);
    const double reach = ninety * solved.spread;
    for (const RatePlace& place : rate.places)
        if (const Json* const value = value_at(profile, place.path)) {
            Json constant = Json::object();
            constant["value"] = *value;
            constant["low"] = scaled(*value, std::exp(-reach));
            constant["high"] = scaled(*value, std::exp(reach));
            constant["grade"] = "measured";
            constant["source"] = solved.source;
            *node_at(profile, place.path) = std::move(constant);
        }
}

} // namespace trainyard
