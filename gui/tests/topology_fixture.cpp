#include "gui/tests/topology_fixture.h"

#include <algorithm>

namespace trainyard::gui::test {

void TopologyFixture::init()
{
    workspace_ = std::make_unique<Workspace>();
    workspace_->want_ops(true);
    QVERIFY(workspace_->document().open("scenarios/two-nodes-hdr.json").empty());
    panel_ = std::make_unique<TopologyPanel>(*workspace_);
    panel_->resize(1280, 800);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
    QTRY_VERIFY_WITH_TIMEOUT(canvas().run() != nullptr, patience_ms);
    canvas().setFocus();
}

void TopologyFixture::cleanup()
{
    panel_.reset();
    workspace_.reset();
}

LinkId TopologyFixture::link(const char* name)
{
    for (std::size_t i = 0; i < run().capacity.size(); ++i)
        if (run().name(make_id<LinkId>(i)) == name)
            return make_id<LinkId>(i);
    return {};
}

std::uint32_t TopologyFixture::place(const char* name)
{
    const auto& places = run().graph->places;
    const auto found = std::ranges::find(places, std::string(name), &Place::name);
    return static_cast<std::uint32_t>(found - places.begin());
}

void TopologyFixture::wait_for_another(const std::shared_ptr<const TopologyRun>& before)
{
    QTRY_VERIFY_WITH_TIMEOUT(
        canvas().run() != before && !panel_->busy() && !workspace_->live().busy(), patience_ms);
}

} // namespace trainyard::gui::test
