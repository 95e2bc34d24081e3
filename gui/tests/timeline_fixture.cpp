#include "gui/tests/timeline_fixture.h"

#include "gui/timeline/counter_feed.h"

namespace trainyard::gui::test {

void TimelineFixture::init()
{
    workspace_ = std::make_unique<Workspace>();
    workspace_->want_ops(true);
    QVERIFY(workspace_->document().open("scenarios/llama2-7b-tp2-pp2-dp2.json").empty());
    panel_ = std::make_unique<TimelinePanel>(*workspace_);
    panel_->resize(1280, 800);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != nullptr, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->counters().busy(), patience_ms);
    canvas().openAll();
    canvas().fitHeight();
    canvas().setFocus();
}

void TimelineFixture::cleanup()
{
    panel_.reset();
    workspace_.reset();
}

std::uint32_t TimelineFixture::track_of(const std::string& name, std::size_t nth)
{
    const auto& tracks = model().data.tracks;
    for (std::uint32_t t = 0; t < tracks.size(); ++t)
        if (tracks[t].name == name && nth-- == 0)
            return t;
    return nothing;
}

QPoint TimelineFixture::place(std::uint32_t track, double across)
{
    Scene scene;
    scene.model = &model();
    scene.layout = &canvas().tracks();
    scene.font = canvas().font();
    scene.scroll = canvas().verticalScrollBar()->value();
    const SceneFrame frame = frame_of(scene, canvas().viewport()->size());
    const Line& line = canvas().tracks().lines()[canvas().tracks().line_of(track).value()];
    return {frame.body.left() + static_cast<int>(frame.body.width() * across),
            top_of(scene, frame, line) + line.height / 2};
}

} // namespace trainyard::gui::test
