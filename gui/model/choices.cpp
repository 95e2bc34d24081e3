#include "gui/model/choices.h"

#include "gui/model/form.h"
#include "sim/base/units.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int most_without_cluster = 1024;

// Divisors of the number of devices; powers of two where it is not known.
QStringList group_sizes(int devices)
{
    QStringList out;
    if (devices <= 0) {
        for (int size = 1; size <= most_without_cluster; size *= 2)
            out << QString::number(size);
        return out;
    }
    for (int size = 1; size <= devices; ++size)
        if (devices % size == 0)
            out << QString::number(size);
    return out;
}

// Virtual stages: what a stage's layers can be cut into.
QStringList cuts_of_a_stage(const RunView* run)
{
    constexpr int usual = 8; // where the layers are not known
    int layers = usual;
    if (run != nullptr && run->outcome != nullptr) {
        const Job& job = run->outcome->job;
        if (const auto* const model = std::get_if<Transformer>(&job.model.architecture))
            layers = std::max(1, model->layers / job.strategy.pp);
    }
    return group_sizes(layers);
}

QStringList doubling(int from, int to, const QString& unit)
{
    QStringList out;
    for (int value = from; value <= to; value *= 2)
        out << QString::number(value) + unit;
    return out;
}

} // namespace

const std::vector<Slider>& sliders()
{
    static const std::vector<Slider> all{
        {"strategy.tp", QStringLiteral("tp")},
        {"strategy.pp", QStringLiteral("pp")},
        {"strategy.cp", QStringLiteral("cp")},
        {"strategy.ep", QStringLiteral("ep")},
        {"strategy.dp", QStringLiteral("dp")},
        {"strategy.vpp", QStringLiteral("vpp")},
        {"training.micro_batch", QStringLiteral("micro_batch")},
        {"strategy.bucket_cap", QStringLiteral("bucket_cap")},
    };
    return all;
}

QStringList slider_values(const std::string& field, const RunView* run)
{
    // Of the cluster, not of the job, which may leave some idle: sizes that it gave up come back.
    const int devices =
        run != nullptr && run->outcome != nullptr ? run->outcome->topology->device_count() : 0;
    if (field == "strategy.vpp")
        return cuts_of_a_stage(run);
    if (field == "training.micro_batch")
        return doubling(1, 256, {});
    if (field == "strategy.bucket_cap") {
        QStringList sizes = doubling(1, 1024, QStringLiteral(" MiB"));
        sizes.insert(5, QStringLiteral("25 MiB")); // DDP's own
        return sizes;
    }
    QStringList sizes = group_sizes(devices);
    if (field == "strategy.dp")
        sizes.prepend(QStringLiteral("auto"));
    return sizes;
}

bool slider_applies(const std::string& field, const RunView* run, const Json* given)
{
    const Job* const job = run != nullptr && run->outcome != nullptr ? &run->outcome->job : nullptr;
    if (field == "strategy.ep")
        return given != nullptr || (job != nullptr && job->model.is_moe());
    if (field == "strategy.vpp")
        return given != nullptr || (job != nullptr && job->strategy.pp > 1);
    return true;
}

std::vector<Edit> slider_edits(const std::string& field, const QString& text, const Json* dp)
{
    if (text == QStringLiteral("auto"))
        return {{field, std::nullopt}};
    std::vector<Edit> edits{{field, text.toStdString()}};
    const bool shares_devices =
        field == "strategy.tp" || field == "strategy.pp" || field == "strategy.cp";
    if (shares_devices && dp != nullptr)
        edits.push_back({"strategy.dp", std::nullopt});
    return edits;
}

QString slider_text(const std::string& field, const Json* given)
{
    if (given != nullptr)
        return QString::fromStdString(edit_text(*given));
    const FormField* const known = find_field(scenario_form(), field);
    const QString text =
        known != nullptr ? QString::fromStdString(known->default_text()) : QString();
    return text.isEmpty() ? QStringLiteral("auto") : text;
}

std::optional<double> number_in(const std::string& value)
{
    if (const Parsed<Bytes> size = parse_bytes(value))
        return static_cast<double>(size->value());
    if (const Parsed<Bandwidth> rate = parse_bandwidth(value))
        return rate->value();
    bool number = false;
    const double out = QString::fromStdString(value).toDouble(&number);
    return number ? std::optional(out) : std::nullopt;
}

std::size_t place_among(const std::vector<std::string>& values, const std::string& value)
{
    const std::optional<double> number = number_in(value);
    const auto larger = std::ranges::find_if(values, [&](const std::string& one) {
        const std::optional<double> other = number_in(one);
        return number && other && *other > *number;
    });
    return static_cast<std::size_t>(larger - values.begin());
}

} // namespace trainyard::gui
