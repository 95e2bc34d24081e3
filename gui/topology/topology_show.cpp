// How TopologyCanvas comes to what it shows.

#include "gui/topology/link_facts.h"
#include "gui/topology/topology_canvas.h"

#include <utility>

namespace trainyard::gui {

void TopologyCanvas::set_run(std::shared_ptr<const TopologyRun> run)
{
    wanted_run_ = std::move(run);
    if (wanted_run_) {
        refresh([this] { emit runShown(); });
        return;
    }
    task_.cancel();
    changes_.clear();
    then_.clear();
    again_ = false;
    picture_.reset();
    scene_.run = nullptr;
    scene_.layout = nullptr;
    scene_.uses.clear();
    scene_.glowing.clear();
    scene_.hovered = {};
    scene_.selected.reset();
    scene_.current.reset();
    fits_ = true;
    update();
    emit runShown();
    emit selectionChanged();
}

// The cursor's moment, else the mean of what is in sight.
LoadTime TopologyCanvas::wanted_time() const
{
    if (view_.cursor() > view_.whole().from)
        return {view_.cursor(), view_.cursor()};
    // The timeline's whole may reach beyond the step by what begins or ends outside it.
    if (wanted_run_ && view_.range() == view_.whole())
        return step_of(*wanted_run_->outcome);
    return {view_.range().from, view_.range().to};
}

PictureRequest TopologyCanvas::wanted() const
{
    PictureRequest request;
    request.run = wanted_run_;
    request.time = wanted_time();
    request.record = view_.selection().record;
    if (picture_ && picture_->run->graph == wanted_run_->graph) {
        request.layout = picture_->layout;
        request.changes = changes_;
    }
    return request;
}

void TopologyCanvas::change_layout(std::function<void(TopologyLayout&)> change, const Then& then)
{
    if (!picture_)
        return;
    changes_.push_back(std::move(change));
    refresh(then);
}

// One after the other: what is wanted meanwhile is made next, so that a picture that is asked for
// faster than it is made still comes.
void TopologyCanvas::refresh(const Then& then)
{
    if (!wanted_run_)
        return;
    if (then)
        then_.push_back(then);
    again_ = task_.busy();
    if (again_)
        return;
    const PictureRequest request = wanted();
    glow_of_ = request.record;
    const std::size_t changes = changes_.size();
    std::vector<Then> answers = std::exchange(then_, {});
    if (request.quick()) {
        take(make_picture(request), changes, answers);
        return;
    }
    task_.start([this, request, changes,
                 answers = std::move(answers)](const WorkControl&) -> BackgroundTask::Answer {
        auto picture = std::make_shared<TopologyPicture>(make_picture(request));
        return [this, picture = std::move(picture), changes, answers] {
            take(std::move(*picture), changes, answers);
        };
    });
}

void TopologyCanvas::take(TopologyPicture picture, std::size_t changes,
                          const std::vector<Then>& then)
{
    const auto before =
        std::exchange(picture_, std::make_shared<const TopologyPicture>(std::move(picture)));
    const bool same_cluster = before && before->run->graph == picture_->run->graph;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(changes));
    scene_.run = picture_->run.get();
    scene_.layout = picture_->layout.get();
    scene_.uses = picture_->uses;
    scene_.glowing = picture_->glowing;
    scene_.when = time_words(*picture_->run, picture_->time);
    if (!before || before->layout != picture_->layout)
        scene_.hovered = {};
    if (!same_cluster) {
        changes_.clear();
        scene_.current.reset();
        fits_ = true;
        // A link of another cluster.
        Selection selection = view_.selection();
        if (selection.link && selection.link->value >= picture_->run->capacity.size())
            selection.link.reset();
        view_.select(selection);
    } else if (scene_.current) // what has opened gives way to the first thing in it
        scene_.current = layout_of().items()[layout_of().showing(*scene_.current)].place;
    const bool other_run = !before || before->run != picture_->run;
    if (other_run) {
        scene_.selected = view_.selection().link;
        if (scene_.selected && scene_.selected->value >= picture_->run->capacity.size())
            scene_.selected.reset();
        if (fits_)
            fitAll();
    }
    refresh_scale();
    update();
    for (const Then& next : then)
        next();
    if (other_run)
        emit selectionChanged();
    if (!before || before->time != picture_->time || other_run)
        emit timeChanged();
    if (std::exchange(again_, false))
        refresh();
}

} // namespace trainyard::gui
