#include "gui/plan/plan_question.h"

#include "sim/api/catalogue.h"
#include "sim/cost/device_catalogue.h"
#include "sim/study/capacity/sized_cluster.h"
#include "sim/study/problems.h"
#include "sim/study/training/training_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard::gui {

namespace {

// The texts that are strings by themselves, as sessions have them.
struct TextField {
    const char* key;
    std::string PlanQuestion::*text;
};

constexpr std::array text_fields{
    TextField{"tokens", &PlanQuestion::tokens},         TextField{"within", &PlanQuestion::within},
    TextField{"price", &PlanQuestion::price},           TextField{"mtbf", &PlanQuestion::mtbf},
    TextField{"checkpoint", &PlanQuestion::checkpoint}, TextField{"model", &PlanQuestion::model},
    TextField{"batch", &PlanQuestion::batch},           TextField{"budget", &PlanQuestion::budget},
};

bool is_own(const AskedCluster& asked)
{
    return asked.cluster == own_cluster;
}

// A price stands beside what it is of, and names nothing.
std::optional<HourlyPrice> read_price(const std::string& text, const std::string& field,
                                      Problems& problems)
{
    if (text.empty())
        return std::nullopt;
    const Parsed<HourlyPrice> price = parse_hourly_price(text);
    if (!price)
        append(problems, placed(one_problem(price.error().message, price.error().hint), field));
    else if (!price->device.empty())
        append(problems,
               placed(one_problem(fmt::format("names {}, beside which it stands", price->device),
                                  "2.5/h"),
                      field));
    return price && price->device.empty() ? std::optional(*price) : std::nullopt;
}

// What both kinds of questions say of a training.
CapacityQuestion training_texts(const PlanQuestion& question)
{
    CapacityQuestion out;
    out.tokens = question.tokens;
    out.within = question.within;
    out.mtbf = question.mtbf;
    out.checkpoint = question.checkpoint;
    return out;
}

Checked<PlanTask> layouts_task(const PlanQuestion& question, const Checked<ScenarioFile>& scenario)
{
    if (!scenario)
        return tl::unexpected(scenario.error());
    Problems problems;
    WholeTrainingRequest training; // without tokens nothing else is told of one
    if (!question.tokens.empty()) {
        Checked<WholeTrainingRequest> asked = training_request(training_texts(question));
        if (asked)
            training = std::move(*asked);
        else
            append(problems, asked.error());
        if (const auto price = read_price(question.price, "/price", problems))
            set(training.prices, *price);
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    LayoutQuestion layouts;
    layouts.front = question.front;
    layouts.headroom = question.headroom / 100;
    Checked<LayoutTask> task = layout_task(*scenario, layouts, training);
    if (!task)
        return tl::unexpected(std::move(task.error()));
    return PlanTask(std::move(*task));
}

Checked<PlanTask> clusters_task(const PlanQuestion& question, const Checked<ScenarioFile>& scenario)
{
    if (!scenario && asks_for_scenario(question))
        return tl::unexpected(scenario.error());
    CapacityQuestion asked = training_texts(question);
    asked.model = question.model;
    asked.budget = question.budget;
    asked.batch = question.batch;
    for (const AskedCluster& one : question.clusters)
        asked.clusters.push_back(one.cluster);
    const ScenarioFile* const own = scenario ? &*scenario : nullptr;
    Checked<CapacityRequest> request = capacity_request(
        asked, question.model.empty() ? std::optional(*scenario) : std::nullopt, own);
    Problems problems = request ? Problems{} : std::move(request.error());
    if (question.clusters.empty())
        append(problems,
               placed(one_problem("there is no cluster to plan", "add one"), "/clusters"));
    for (std::size_t i = 0; i < question.clusters.size(); ++i) {
        const auto price =
            read_price(question.clusters[i].price, fmt::format("/prices/{}", i), problems);
        if (price && request)
            set(request->clusters[i].prices, *price);
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    request->headroom = question.headroom / 100;
    return PlanTask(std::move(*request));
}

std::string text_at(const Json& object, std::string_view key)
{
    const Json* const value = object.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

} // namespace

bool asks_for_scenario(const PlanQuestion& question)
{
    return question.kind == PlanKind::layouts || question.model.empty() ||
           std::ranges::any_of(question.clusters, is_own);
}

Checked<PlanTask> plan_task(const PlanQuestion& question, const Checked<ScenarioFile>& scenario)
{
    return question.kind == PlanKind::layouts ? layouts_task(question, scenario)
                                              : clusters_task(question, scenario);
}

Problems problems_of(const PlanQuestion& question, const Checked<ScenarioFile>& scenario)
{
    const Checked<PlanTask> task = plan_task(question, scenario);
    if (!task)
        return task.error();
    const auto* const request = std::get_if<CapacityRequest>(&*task);
    return request != nullptr ? problems_of(*request) : Problems{};
}

PlanChoices plan_choices()
{
    PlanChoices out{shipped_names(ShippedKind::models), {std::string(own_cluster)}};
    const DeviceCatalogue& devices = shipped_devices();
    for (const KnownDevice& one : devices.all()) {
        if (one.device.usual_node.gpus == 0)
            continue;
        std::string shortest = one.key;
        for (const std::string& name : one.plain_names)
            if (name.size() < shortest.size() && devices.named_in(name) == &one)
                shortest = name;
        out.clusters.push_back(std::move(shortest));
    }
    return out;
}

Json to_json(const PlanQuestion& question)
{
    Json clusters = Json::array();
    for (const AskedCluster& one : question.clusters)
        clusters.push_back(Json::Object{{"cluster", one.cluster}, {"price", one.price}});
    Json out(Json::Object{{"kind", question.kind == PlanKind::layouts ? "layouts" : "clusters"},
                          {"headroom", question.headroom},
                          {"front", question.front},
                          {"clusters", std::move(clusters)}});
    for (const TextField& field : text_fields)
        if (const std::string& text = question.*field.text; !text.empty())
            out[field.key] = text;
    return out;
}

PlanQuestion plan_question_from(const Json& json)
{
    PlanQuestion out;
    if (!json.is_object())
        return out;
    if (text_at(json, "kind") == "clusters")
        out.kind = PlanKind::clusters;
    for (const TextField& field : text_fields)
        out.*field.text = text_at(json, field.key);
    if (const Json* const headroom = json.find("headroom"); headroom && headroom->is_number())
        out.headroom = std::clamp(headroom->as_double(), 0.0, 99.0);
    if (const Json* const front = json.find("front"); front && front->is_bool())
        out.front = front->as_bool();
    if (const Json* const clusters = json.find("clusters"); clusters && clusters->is_array())
        for (const Json& one : clusters->items())
            if (one.is_object())
                out.clusters.push_back({text_at(one, "cluster"), text_at(one, "price")});
    return out;
}

} // namespace trainyard::gui
