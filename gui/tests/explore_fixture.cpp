#include "gui/tests/explore_fixture.h"

#include <QPushButton>
#include <QSignalSpy>
#include <algorithm>

namespace trainyard::gui::test {

void ExploreFixture::init()
{
    workspace_ = std::make_unique<Workspace>();
    QVERIFY(workspace_->document().open("scenarios/gpt2-xl-fsdp-4.json").empty());
    panel_ = std::make_unique<ExplorePanel>(*workspace_);
    panel_->resize(1280, 800);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->ranges().empty() && workspace_->current(), patience_ms);
}

void ExploreFixture::cleanup()
{
    panel_.reset();
    workspace_.reset();
}

void ExploreFixture::choose(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& axes)
{
    std::vector<AxisRange> ranges = panel_->ranges();
    for (AxisRange& range : ranges) {
        range.swept = false;
        for (const auto& [field, values] : axes)
            if (range.field == field) {
                range.swept = true;
                for (std::size_t i = 0; i < range.values.size(); ++i)
                    range.chosen[i] =
                        std::find(values.begin(), values.end(), range.values[i]) != values.end();
            }
    }
    panel_->set_ranges(ranges);
}

void ExploreFixture::sweep()
{
    QSignalSpy swept(panel_.get(), &ExplorePanel::swept);
    for (QPushButton* const button : panel_->findChildren<QPushButton*>())
        if (button->text().startsWith(QStringLiteral("Sweep"))) {
            QVERIFY(button->isEnabled());
            QTest::mouseClick(button, Qt::LeftButton);
        }
    QTRY_COMPARE_WITH_TIMEOUT(swept.count(), 1, patience_ms);
}

} // namespace trainyard::gui::test
