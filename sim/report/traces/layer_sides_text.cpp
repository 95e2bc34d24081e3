#include "sim/report/traces/layer_sides_text.h"

#include "sim/report/figures.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::string title_of(const LayerPair& layers)
{
    return layers.first == layers.last
               ? fmt::format("  layer {}", layers.first)
               : fmt::format("  layers {} to {}, each", std::min(layers.first, layers.last),
                             std::max(layers.first, layers.last));
}

bool any_time(const TimePair& pair)
{
    return pair.recorded.value() > 0 || pair.simulated.value() > 0;
}

class StageRows {
public:
    explicit StageRows(const std::string& title)
        : part_{TextTable({Align::left, Align::right, Align::right, Align::left, Align::right,
                           Align::right, Align::left})}
    {
        part_.table.add({title, "computes", "simulated", "", "elapsed", "simulated", ""});
    }

    void add(std::string title, const TimePair& compute, const TimePair& elapsed = {})
    {
        if (!any_time(compute))
            return;
        std::vector<std::string> cells{std::move(title)};
        for (const TimePair& pair : {compute, elapsed})
            if (any_time(pair))
                cells.insert(cells.end(), {to_display(pair.recorded), to_display(pair.simulated),
                                           ratio_text(pair.recorded, pair.simulated)});
        part_.table.add(std::move(cells));
    }

    void add_forward(const PassSides& sides)
    {
        add("forward", sides.all);
        add("  embedding", sides.embedding);
        for (const LayerPair& row : sides.layers)
            add(title_of(row), row.compute, row.elapsed);
        add("  head and loss", sides.head);
        note("forward", sides);
    }

    void add_backward(const PassSides& sides)
    {
        add("backward", sides.all);
        add("  head and loss", sides.head);
        for (auto row = sides.layers.rbegin(); row != sides.layers.rend(); ++row)
            add(title_of(*row), row->compute, row->elapsed);
        add("  embedding", sides.embedding);
        note("backward", sides);
    }

    ReportPart take() && { return std::move(part_); }

private:
    void note(std::string_view pass, const PassSides& sides)
    {
        if (!sides.untold.empty())
            part_.notes.push_back(
                fmt::format("Layers of {} are not compared: {}.", pass, sides.untold));
    }

    ReportPart part_;
};

Json to_json(const TimePair& pair)
{
    return Json::Object{{"recorded_seconds", pair.recorded.value()},
                        {"simulated_seconds", pair.simulated.value()}};
}

Json to_json(const PassSides& sides)
{
    Json layers = Json::array();
    for (const LayerPair& row : sides.layers)
        layers.push_back(Json::Object{{"first", row.first},
                                      {"last", row.last},
                                      {"compute", to_json(row.compute)},
                                      {"elapsed", to_json(row.elapsed)}});
    Json out = Json::Object{{"compute", to_json(sides.all)}};
    if (!sides.untold.empty()) {
        out["not_told"] = sides.untold;
        return out;
    }
    out["embedding"] = to_json(sides.embedding);
    out["layers"] = std::move(layers);
    out["head"] = to_json(sides.head);
    out["alike_share"] = sides.alike;
    return out;
}

} // namespace

std::string ratio_text(Seconds recorded, Seconds simulated)
{
    return recorded.value() > 0 && simulated.value() > 0
               ? fmt::format("x {:.2f}", simulated / recorded)
               : std::string();
}

std::vector<ReportPart> stage_parts(const std::vector<StageSides>& stages)
{
    std::vector<ReportPart> out;
    for (const StageSides& stage : stages) {
        const std::string which = stages.size() > 1 || stage.stage > 0
                                      ? fmt::format("stage {}, ", stage.stage)
                                      : std::string();
        StageRows rows(which + (stage.micro_batches > 1
                                    ? fmt::format("one of {} micro-batches", stage.micro_batches)
                                    : std::string("kernels of a step")));
        rows.add_forward(stage.forward);
        rows.add_backward(stage.backward);
        rows.add("optimizer and end of step", stage.update);
        rows.add("of no known phase", stage.other);
        out.push_back(std::move(rows).take());
    }
    return out;
}

Json to_json(const std::vector<StageSides>& stages)
{
    Json out = Json::array();
    for (const StageSides& stage : stages) {
        out.push_back(Json::Object{{"stage", stage.stage},
                                   {"ranks", stage.ranks},
                                   {"micro_batches", stage.micro_batches},
                                   {"forward", to_json(stage.forward)},
                                   {"backward", to_json(stage.backward)},
                                   {"update", to_json(stage.update)},
                                   {"other", to_json(stage.other)}});
    }
    return out;
}

} // namespace trainyard
