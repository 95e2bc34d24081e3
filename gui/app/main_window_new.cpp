// What begins in the window: a new job on a described cluster, and the cluster of the open one.

#include "gui/app/main_window.h"
#include "gui/new/cluster_dialog.h"
#include "gui/new/cluster_editor.h"
#include "gui/new/model_list.h"
#include "gui/new/new_job_page.h"
#include "gui/new/origin_view.h"

#include <QFileInfo>

namespace trainyard::gui {

// Made when it is first wanted: it reads the models that come along.
void MainWindow::show_new()
{
    if (new_job_ == nullptr) {
        new_job_ = new NewJobPage(this);
        connect(new_job_, &NewJobPage::created, this, &MainWindow::take_first_job);
    }
    plan_wanted_ = false;
    new_job_->show();
    new_job_->raise();
    new_job_->activateWindow();
}

void MainWindow::edit_cluster()
{
    if (workspace_.document().json().members().empty()) { // there is none yet
        show_new();
        return;
    }
    if (cluster_ == nullptr)
        cluster_ = new ClusterDialog(workspace_.document(), this);
    cluster_->read();
    cluster_->show();
    cluster_->raise();
    cluster_->activateWindow();
}

void MainWindow::show_new_with(const QString& model)
{
    show_new();
    new_job_->model().choose(model);
}

// A plan is of a model and a kind of cluster: they are said first.
void MainWindow::begin_plan()
{
    show_new();
    plan_wanted_ = true;
}

void MainWindow::take_first_job(const FirstJob& job)
{
    if (!may_leave()) {
        new_job_->show(); // it can be created again
        return;
    }
    workspace_.document().load(job.scenario, {});
    workspace_.document().mark_unsaved();
    origin_->show_reasons(job.reasons);
    show_panel(QStringLiteral("origin"));
    if (plan_wanted_)
        show_panel(QStringLiteral("plan"));
}

// A model, topology or profile takes its place in the scenario. Where there is none, a model begins
// a new job.
void MainWindow::take_part(const OpenedPart& part)
{
    Document& document = workspace_.document();
    if (part.field == "model" && document.json().members().empty()) {
        show_new_with(QString::fromStdString(part.file));
        --unopened_;
        return;
    }
    const auto refused = document.set(part.field, part.file);
    if (refused)
        tell({*refused});
    else
        --unopened_;
}

// What was understood and assumed is in sight, also where there is no scenario for it. The same job
// again is a change that can be undone.
void MainWindow::take_job(OpenedJob job)
{
    if (!job.scenario) {
        tell(job.problems);
        origin_->show_job(job);
        show_panel(QStringLiteral("origin"));
        return;
    }
    Document& document = workspace_.document();
    const std::string file = std::filesystem::absolute(job.scenario->file).string();
    if (document.file() == file)
        document.replace(job.scenario->json, tr("import again"));
    else if (may_leave())
        document.load(job.scenario->json, file);
    else
        return;
    --unopened_;
    origin_->show_job(job);
    show_panel(QStringLiteral("origin"));
    add_recent(QFileInfo(QString::fromStdString(job.request.file)).absoluteFilePath());
}

} // namespace trainyard::gui
