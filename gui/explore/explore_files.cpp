// Sweeps that are saved, and opened again.

#include "gui/explore/explore_panel.h"
#include "gui/explore/ranges_view.h"
#include "gui/model/qt_text.h"

#include <QFileDialog>

namespace trainyard::gui {

namespace fs = std::filesystem;

void ExplorePanel::ask_save()
{
    const fs::path scenario(workspace_.document().file());
    fs::path proposed = scenario.empty() ? fs::path("sweep") : scenario;
    proposed.replace_extension(".sweep.json");
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the sweep"),
                                                      QString::fromStdString(proposed.string()),
                                                      tr("Sweeps (*.sweep.json *.json)"));
    if (!file.isEmpty())
        save(file.toStdString());
}

void ExplorePanel::save(const std::string& file)
{
    if (!swept_ || store_.size() == 0 || job_.running())
        return;
    // The window goes on with its own: another sweep may begin meanwhile.
    file_task_.start(
        [this, file, plan = *swept_, store = std::make_shared<const PointStore>(store_)](
            const WorkControl& work) -> BackgroundTask::Answer {
            write_sweep(file, plan, *store, work);
            return [this, file] {
                file_ = fs::absolute(file).string();
                set_state(tr("Saved as %1").arg(QString::fromStdString(file)));
                emit saved();
            };
        });
}

void ExplorePanel::show_saved(std::shared_ptr<const SavedSweep> saved)
{
    job_.cancel();
    file_task_.start(
        [this, saved,
         open = std::make_shared<const Checked<ScenarioFile>>(workspace_.document().read())](
            const WorkControl&) -> BackgroundTask::Answer {
            auto points = std::make_shared<Checked<SavedPoints>>(points_of(*saved, *open));
            return [this, saved, points] { take_saved(*saved, std::move(*points)); };
        });
}

// Of a session: the scenario stays as the session has it.
void ExplorePanel::read_again(const std::string& file)
{
    file_task_.start([this, file](const WorkControl& work) -> BackgroundTask::Answer {
        auto saved = std::make_shared<Checked<SavedSweep>>(read_saved_sweep(file, work));
        return [this, saved] {
            if (*saved)
                show_saved(std::make_shared<const SavedSweep>(std::move(**saved)));
            else
                emit told(saved->error());
        };
    });
}

void ExplorePanel::take_saved(const SavedSweep& saved, Checked<SavedPoints> points)
{
    if (!points) {
        emit told(points.error());
        return;
    }
    file_ = fs::absolute(saved.file).string();
    const QString name = QString::fromStdString(fs::path(saved.file).filename().string());
    source_ = points->nameless ? tr("%1, which does not say whose points they are: ").arg(name)
                               : tr("%1: ").arg(name);
    show_points_of(std::move(points->plan));
    std::vector<SweptField> fields;
    for (const SweepAxis& axis : swept_->grid.axes)
        fields.push_back({axis.field, axis.values});
    awaited_ = fields;
    if (facts_)
        take_facts(*facts_);
    job_.replay(std::move(points->found));
    tell_progress();
    show_page();
    if (!saved.notes.empty())
        emit told(saved.notes);
    emit busyChanged();
}

} // namespace trainyard::gui
