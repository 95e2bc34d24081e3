#include "gui/tests/plan_fixture.h"

#include <QComboBox>
#include <QSignalSpy>
#include <QToolButton>

namespace trainyard::gui::test {

void PlanFixture::init()
{
    workspace_ = std::make_unique<Workspace>();
    QVERIFY(workspace_->document().open("scenarios/gpt2-xl-fsdp-4.json").empty());
    panel_ = std::make_unique<PlanPanel>(*workspace_);
    panel_->resize(1280, 800);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    settle();
}

void PlanFixture::cleanup()
{
    panel_.reset();
    workspace_.reset();
}

void PlanFixture::type(const char* field, const char* text)
{
    auto& edit = part<QLineEdit>(field);
    QVERIFY(edit.isVisible());
    edit.setFocus();
    edit.selectAll();
    QTest::keyClick(&edit, Qt::Key_Backspace);
    QTest::keyClicks(&edit, QString::fromLatin1(text));
}

void PlanFixture::settle()
{
    QTRY_VERIFY_WITH_TIMEOUT(panel_->checked() && !panel_->busy(), patience_ms);
}

void PlanFixture::plan()
{
    settle();
    QSignalSpy answered(panel_.get(), &PlanPanel::answered);
    auto& start = part<QPushButton>("plan/start");
    QVERIFY(start.isVisible() && start.isEnabled());
    QTest::mouseClick(&start, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 1, patience_ms);
    QVERIFY(panel_->plan() != nullptr);
}

void PlanFixture::ask_for_clusters()
{
    auto& kind = part<QComboBox>("plan/kind");
    kind.setFocus();
    QTest::keyClick(&kind, Qt::Key_Down);
    QTest::mouseClick(&part<QToolButton>("plan/add"), Qt::LeftButton);
    type("plan/tokens", "20B");
    type("plan/cluster/0", "8xh100");
    type("plan/price/0", "2.5/h");
    type("plan/cluster/1", "16xa100");
    type("plan/price/1", "1.5/h");
}

QString PlanFixture::cell(int row, const char* heading)
{
    const TableData table = panel_->table();
    const auto column = table.columns.indexOf(QString::fromLatin1(heading));
    return column < 0 ? QString() : table.rows[static_cast<std::size_t>(row)][column];
}

} // namespace trainyard::gui::test
