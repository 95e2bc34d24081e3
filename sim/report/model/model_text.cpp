#include "sim/report/model/model_text.h"

#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/report/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace trainyard {
namespace {

bool is_end(const LayerGroup& group)
{
    return group.ends;
}

std::string flops_text(Flops flops)
{
    const double giga = flops.value() / 1e9;
    return giga >= 1000 ? fmt::format("{:.3g} TFLOP", giga / 1000)
                        : fmt::format("{:.3g} GFLOP", giga);
}

} // namespace

std::string parameter_text(double parameters)
{
    for (const auto& [unit, size] : {std::pair{"T", 1e12}, {"B", 1e9}, {"M", 1e6}, {"k", 1e3}})
        if (parameters >= size)
            return parameters >= 999.5 * size ? fmt::format("{:.4g} {}", parameters / size, unit)
                                              : fmt::format("{:.3g} {}", parameters / size, unit);
    return fmt::format("{:.0f}", parameters);
}

// The most frequent kinds where there are many.
std::string layers_by_kind(const ModelSummary& summary)
{
    constexpr std::size_t most = 5;
    std::vector<LayerGroup> inner;
    for (const LayerGroup& group : summary.groups)
        if (!is_end(group))
            inner.push_back(group);
    const std::size_t all = inner.size();
    if (all > most) {
        std::ranges::stable_sort(inner, std::ranges::greater(), &LayerGroup::layers);
        inner.resize(most - 1);
    }
    std::vector<std::string> kinds;
    for (const LayerGroup& group : inner)
        kinds.push_back(fmt::format("{} {}", group.layers, group.name));
    if (all > most)
        kinds.push_back(fmt::format("{} other kinds", all - inner.size()));
    return fmt::format("{}", fmt::join(kinds, ", "));
}

std::string describe(const ModelSummary& m, const ImportedModel& read)
{
    std::string out = fmt::format("{}: {} layers, {} parameters", m.name, m.layers,
                                  parameter_text(m.parameters.total));
    if (m.parameters.active < m.parameters.total)
        out += fmt::format(", {} of them for a token", parameter_text(m.parameters.active));
    if (m.predicting > 0)
        out += fmt::format(" ({}{} without what predicts further)",
                           parameter_text(m.parameters.total - m.predicting),
                           m.parameters.active < m.parameters.total
                               ? " and " + parameter_text(m.parameters.active - m.predicting_active)
                               : "");
    out += "\n\n";
    TextTable layers({Align::right, Align::left, Align::right, Align::right, Align::right});
    layers.add({"layers", "of", "parameters each", "of a token", "forward of a token"});
    for (const LayerGroup& group : m.groups)
        layers.add({fmt::format("{}", group.layers), group.name, parameter_text(group.parameters),
                    parameter_text(group.active), flops_text(group.forward_of_token)});
    out += layers.text() + "\n";
    TextTable figures({Align::left, Align::right});
    const std::string at = fmt::format("in sequences of {} tokens", m.sequence_length);
    figures.add({"forward and backward of a token, " + at, flops_text(m.trained_token)});
    if (m.keys_and_values.value() > 0)
        figures.add({"keys and values of such a sequence, 16 bit", to_display(m.keys_and_values)});
    if (m.states.value() > 0)
        figures.add({"states of recurrent layers, 16 bit", to_display(m.states)});
    figures.add({"parameters in bf16", to_display(Bytes(m.adam_states.value() / 8))});
    figures.add({"with gradients, fp32 copies and Adam's moments", to_display(m.adam_states)});
    out += figures.text();
    for (const std::string& sentence : read.assumed)
        out += fmt::format("\nassumed: {}", sentence);
    if (!read.ignored.empty())
        out += fmt::format("\nnot used: {}", fmt::join(read.ignored, ", "));
    return out + (read.assumed.empty() && read.ignored.empty() ? "" : "\n");
}

Json to_json(const ModelSummary& m, const ImportedModel& read)
{
    Json out = Json::object();
    out["model"] = m.name;
    out["layers"] = m.layers;
    out["parameters"] = m.parameters.total;
    out["active_parameters"] = m.parameters.active;
    out["embedding_parameters"] = m.parameters.embedding;
    out["prediction_parameters"] = m.predicting;
    out["sequence_length"] = m.sequence_length;
    out["flops_per_token"] = m.trained_token.value();
    out["kv_bytes_per_sequence"] = m.keys_and_values.value();
    out["state_bytes_per_sequence"] = m.states.value();
    out["adam_state_bytes"] = m.adam_states.value();
    Json groups = Json::array();
    for (const LayerGroup& group : m.groups) {
        Json one = Json::object();
        one["kind"] = group.name;
        one["layers"] = group.layers;
        one["ends"] = group.ends;
        one["parameters"] = group.parameters;
        one["active_parameters"] = group.active;
        one["forward_flops_per_token"] = group.forward_of_token.value();
        groups.push_back(std::move(one));
    }
    out["layers_by_kind"] = std::move(groups);
    for (const auto& [key, sentences] :
         {std::pair{"assumed", &read.assumed}, {"ignored", &read.ignored}})
        out[key] = *sentences;
    return out;
}

namespace {

// Lines of at most `width` columns, but for a part between commas that is longer by itself.
std::vector<std::string> broken_at_commas(const std::string& text, std::size_t width)
{
    constexpr std::string_view comma = ", ";
    std::vector<std::string> lines{""};
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(comma, begin), text.size() - comma.size());
        const std::string part = text.substr(begin, end + comma.size() - begin);
        if (!lines.back().empty() && lines.back().size() + part.size() > width + 1)
            lines.emplace_back();
        lines.back() += part;
        begin = end + comma.size();
    }
    for (std::string& line : lines)
        line.erase(line.find_last_not_of(' ') + 1);
    return lines;
}

} // namespace

std::string model_table(const std::vector<ModelSummary>& models)
{
    TextTable table({Align::left, Align::right, Align::right, Align::left});
    table.add({"model", "parameters", "of a token", "layers"});
    for (const ModelSummary& m : models) {
        const std::vector<std::string> lines = broken_at_commas(layers_by_kind(m), 52);
        table.add({m.name, parameter_text(m.parameters.total), parameter_text(m.parameters.active),
                   lines.front()});
        for (std::size_t i = 1; i < lines.size(); ++i)
            table.add({"", "", "", "    " + lines[i]});
    }
    return table.text();
}

} // namespace trainyard
