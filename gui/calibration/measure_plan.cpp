#include "gui/calibration/measure_plan.h"

#include "gui/model/qt_text.h"

#include <filesystem>

namespace trainyard::gui {

namespace {

bool on_gpus(const MeasurePlan& plan)
{
    return plan.backend == "nccl";
}

QStringList parts_of(const MeasurePlan& plan)
{
    QStringList out;
    if (plan.collectives)
        out << QStringLiteral("collectives");
    if (plan.pairs)
        out << QStringLiteral("pairs");
    if (plan.kernels)
        out << QStringLiteral("gemm") << QStringLiteral("memory") << QStringLiteral("overlap");
    if (plan.kernels && on_gpus(plan))
        out << QStringLiteral("launch") << QStringLiteral("attention");
    return out;
}

// What is measured and how, wherever it is.
QStringList measuring(const MeasurePlan& plan)
{
    QStringList out;
    if (!on_gpus(plan))
        out << QStringLiteral("--backend") << text_of(plan.backend);
    if (!(plan.collectives && plan.pairs && plan.kernels))
        out << QStringLiteral("--only") << parts_of(plan).join(',');
    if (plan.quick)
        out << QStringLiteral("--quick");
    if (plan.collectives && !plan.min_size.empty())
        out << QStringLiteral("--min-size") << text_of(plan.min_size);
    if (plan.collectives && !plan.max_size.empty())
        out << QStringLiteral("--max-size") << text_of(plan.max_size);
    return out << QStringLiteral("--timeout") << QString::number(plan.timeout);
}

QStringList outputs(const MeasurePlan& plan, const std::string& profile, const std::string& samples)
{
    return makes_profile(plan) ? QStringList{QStringLiteral("-o"), text_of(profile)}
                               : QStringList{QStringLiteral("--samples"), text_of(samples)};
}

// As a shell takes it.
QString quoted(const QString& word)
{
    for (const QChar c : word)
        if (!c.isLetterOrNumber() && !QStringLiteral("-_./,=+:").contains(c))
            return '\'' + QString(word).replace('\'', QStringLiteral("'\\''")) + '\'';
    return word;
}

} // namespace

std::string samples_of(const MeasurePlan& plan)
{
    return plan.name + ".samples.jsonl";
}

std::string profile_of(const MeasurePlan& plan)
{
    return plan.name + ".json";
}

bool makes_profile(const MeasurePlan& plan)
{
    return plan.kernels || (on_gpus(plan) && plan.collectives);
}

bool makes_curves(const MeasurePlan& plan)
{
    return plan.collectives || plan.pairs;
}

QStringList arguments_of(const MeasurePlan& plan)
{
    QStringList out = measuring(plan);
    if (plan.ranks > 0)
        out << QStringLiteral("--ranks") << QString::number(plan.ranks);
    return out + outputs(plan, profile_of(plan), samples_of(plan));
}

QString srun_line(const MeasurePlan& plan, int nodes, int per_node)
{
    QStringList words{QStringLiteral("srun"), QStringLiteral("--nodes=%1").arg(nodes),
                      QStringLiteral("--ntasks-per-node=%1").arg(per_node)};
    if (on_gpus(plan))
        words << QStringLiteral("--gpus-per-node=%1").arg(per_node);
    words << QStringLiteral("--exclusive") << QStringLiteral("--kill-on-bad-exit=1")
          << QStringLiteral("trainyard") << QStringLiteral("calibrate");
    MeasurePlan there = plan;
    there.name = std::filesystem::path(plan.name).filename().string();
    words += measuring(there) + outputs(there, profile_of(there), samples_of(there));
    for (QString& word : words)
        word = quoted(word);
    return words.join(' ');
}

} // namespace trainyard::gui
