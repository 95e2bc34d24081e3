// Sliders and the form of all fields by keyboard and mouse, without a display.

#include "gui/scenario/form_model.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/scenario/stepper.h"
#include "gui/tests/window_test.h"
#include "gui/widgets/elided.h"

#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSlider>
#include <QToolButton>
#include <QTreeView>

using namespace trainyard;
using namespace trainyard::gui;

class TestForm : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void aSizeThatWasGivenUpComesBack();
    void otherValuesTakeTheirPlaceAmongTheNumbers();
    void keysEditTheValueFromAnyColumn();
    void aRunThatEndsLeavesWhatIsBeingTyped();
    void whatIsAddedIsSeenInSpiteOfAFilter();
    void anErrorMovesNoSlider();
    void theMoveThatBroughtAProblemIsToBlame();
    void onlyWhatIsSetCanBeShown();
    void aKeyThatNobodyKnowsIsShownAndRemoved();
    void helpsOfAnyLengthMoveNothing();
    void theNextStepOfASliderIsForeseen();
    void whatIsKnownByNameIsAList();

private:
    bool settled()
    {
        return QTest::qWaitFor([&] { return !workspace_->live().busy(); }, patience_ms);
    }
    Stepper& stepper(const char* field)
    {
        return *panel_->findChild<Stepper*>(QLatin1String(field));
    }
    void choose(const char* field, int steps)
    {
        auto* const slider = stepper(field).findChild<QSlider*>();
        slider->setFocus();
        for (int i = 0; i < std::abs(steps); ++i)
            QTest::keyClick(slider, steps > 0 ? Qt::Key_Right : Qt::Key_Left);
        QVERIFY(settled());
    }
    QTreeView& tree() { return *panel_->findChild<QTreeView*>(); }
    QToolButton& button(const QString& text)
    {
        for (QToolButton* const one : panel_->findChildren<QToolButton*>())
            if (one->text() == text)
                return *one;
        qFatal("no such button: %s", qPrintable(text));
    }
    QString blocked() { return panel_->findChild<ElidedLabel*>()->text(); }

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<ScenarioPanel> panel_;
};

void TestForm::init()
{
    workspace_ = std::make_unique<Workspace>();
    QVERIFY(workspace_->document().open("scenarios/llama3-8b-h100-8.json").empty());
    panel_ = std::make_unique<ScenarioPanel>(*workspace_);
    panel_->resize(900, 800);
    panel_->show();
    panel_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(panel_.get()));
    QVERIFY(settled());
    QVERIFY(workspace_->run() != nullptr);
}

void TestForm::cleanup()
{
    panel_->close(); // ends an editor that is open
    panel_.reset();
    workspace_.reset();
}

void TestForm::aSizeThatWasGivenUpComesBack()
{
    QCOMPARE(stepper("strategy.dp").value(), QString("8"));
    choose("strategy.dp", -3);
    QCOMPARE(workspace_->run()->outcome->engine.ranks, 1); // the others are idle
    choose("strategy.dp", +3);
    QCOMPARE(stepper("strategy.dp").value(), QString("8"));
    QCOMPARE(workspace_->run()->outcome->engine.ranks, 8);
    choose("strategy.dp", -3);
    choose("strategy.tp", +2);
    QCOMPARE(workspace_->run()->outcome->job.strategy.tp, 4);
}

void TestForm::otherValuesTakeTheirPlaceAmongTheNumbers()
{
    Stepper stepper("size", "");
    QSignalSpy chosen(&stepper, &Stepper::chosen);
    auto* const slider = stepper.findChild<QSlider*>();
    stepper.set_values({"auto", "1", "2", "4"}, "3");
    QCOMPARE(slider->value(), 3);
    slider->setValue(slider->value() - 1);
    QCOMPARE(stepper.value(), QString("2"));
    stepper.set_values({"auto", "1", "2", "4"}, "12");
    QCOMPARE(slider->value(), 4);
    stepper.set_values({"512 KiB", "1 MiB", "25 MiB", "1024 MiB"}, "30 MB"); // 28.6 MiB
    QCOMPARE(slider->value(), 3);
    stepper.set_values({"1 MiB", "1024 MiB"}, "2 GiB");
    QCOMPARE(slider->value(), 2);
    QCOMPARE(chosen.count(), 1); // by the user only
}

void TestForm::keysEditTheValueFromAnyColumn()
{
    const auto row = [&] {
        panel_->go_to("/training/global_batch");
        if (auto* const open = tree().findChild<QLineEdit*>())
            QTest::keyClick(open, Qt::Key_Escape);
        tree().setFocus();
        return tree().currentIndex();
    };
    const auto editor = [&] { return tree().viewport()->findChild<QLineEdit*>(); };
    int batch = 16;
    for (const int column : {0, 1, 2, 4})
        for (const int key : {int{Qt::Key_Return}, int{Qt::Key_F2}, 0}) {
            tree().setCurrentIndex(row().siblingAtColumn(column));
            QTRY_VERIFY(editor() == nullptr);
            const QString text = QString::number(batch);
            if (key != 0) {
                QTest::keyClick(&tree(), static_cast<Qt::Key>(key));
                QVERIFY(editor() != nullptr);
                QTest::keyClicks(editor(), text); // in place of the old one, which is selected
            } else {
                QTest::keyClick(&tree(), text.front().toLatin1()); // typing begins
                QVERIFY(editor() != nullptr);
                QTest::keyClicks(editor(), text.mid(1));
            }
            QTest::keyClick(editor(), Qt::Key_Return);
            QTRY_COMPARE(workspace_->document().find("training.global_batch")->as_integer(),
                         std::int64_t{batch});
            QTRY_VERIFY(editor() == nullptr);
            batch += 8;
        }
    // A group has no value: nothing opens.
    tree().setCurrentIndex(tree().currentIndex().parent());
    QTest::keyClick(&tree(), Qt::Key_Return);
    QVERIFY(editor() == nullptr);
}

void TestForm::aRunThatEndsLeavesWhatIsBeingTyped()
{
    QVERIFY(workspace_->document().set("training.micro_batch", "2") == std::nullopt);
    panel_->go_to("/training/global_batch");
    auto* const editor = tree().viewport()->findChild<QLineEdit*>();
    QTest::keyClicks(editor, "32");
    QSignalSpy told(workspace_.get(), &Workspace::problemsChanged);
    QVERIFY(told.wait(patience_ms));
    QCOMPARE(editor->text(), QString("32"));
}

void TestForm::whatIsAddedIsSeenInSpiteOfAFilter()
{
    auto* const filter = panel_->findChild<QLineEdit*>();
    filter->setText("micro_batch");
    for (auto* const button : panel_->findChildren<QToolButton*>())
        if (button->text() == QLatin1String("Add perturbation"))
            button->click();
    QVERIFY(workspace_->document().find("perturbations") != nullptr);
    QVERIFY(filter->text().isEmpty());
    const QModelIndex shown = tree().currentIndex();
    QCOMPARE(shown.data().toString(), QString("number 1"));
    QVERIFY(tree().viewport()->rect().intersects(tree().visualRect(shown)));
}

void TestForm::anErrorMovesNoSlider()
{
    const auto places = [&] {
        QCoreApplication::processEvents();
        QList<QRect> out;
        for (const Stepper* const one : panel_->findChildren<Stepper*>())
            out << QRect(one->mapTo(panel_.get(), QPoint()), one->size());
        return out << QRect(tree().mapTo(panel_.get(), QPoint()), tree().size());
    };
    const QList<QRect> before = places();
    QVERIFY(blocked().isEmpty());
    choose("strategy.tp", +3); // 8
    choose("strategy.pp", +1); // 2: 16 devices
    QVERIFY(has_errors(workspace_->problems()));
    QVERIFY2(blocked().startsWith(QStringLiteral("pp: ")), qPrintable(blocked()));
    QVERIFY(stepper("strategy.pp").toolTip().startsWith(blocked().mid(4)));
    QCOMPARE(places(), before);
    choose("strategy.pp", -1);
    QVERIFY(blocked().isEmpty());
    QVERIFY(!stepper("strategy.pp").toolTip().contains(QStringLiteral("16")));
    QCOMPARE(places(), before);
}

void TestForm::theMoveThatBroughtAProblemIsToBlame()
{
    choose("strategy.tp", +3);
    choose("strategy.pp", +1);
    QVERIFY2(blocked().startsWith(QStringLiteral("pp: ")), qPrintable(blocked()));
    choose("training.micro_batch", +1); // does not help
    QVERIFY2(blocked().startsWith(QStringLiteral("pp: ")), qPrintable(blocked()));
    QVERIFY(workspace_->document().set("training.global_batch", "64") == std::nullopt);
    QVERIFY(settled());
    QVERIFY(has_errors(workspace_->problems()));
    QVERIFY(blocked().isEmpty()); // the form's
}

void TestForm::onlyWhatIsSetCanBeShown()
{
    const auto rows = [&] {
        QStringList out;
        for (QModelIndex at = tree().model()->index(0, 0); at.isValid(); at = tree().indexBelow(at))
            if (!tree().model()->hasChildren(at))
                out << at.data(FormModel::field_role).toString();
        return out;
    };
    QTest::mouseClick(&button(QStringLiteral("Only what is set")), Qt::LeftButton);
    QVERIFY(rows().contains(QStringLiteral("training.global_batch")));
    QVERIFY(!rows().contains(QStringLiteral("strategy.vpp")));
    QVERIFY(workspace_->document().set("strategy.vpp", "2") == std::nullopt);
    tree().expandAll();
    QVERIFY(rows().contains(QStringLiteral("strategy.vpp")));
    workspace_->document().reset("strategy.vpp");
    QVERIFY(!rows().contains(QStringLiteral("strategy.vpp")));
    QTest::mouseClick(&button(QStringLiteral("Only what is set")), Qt::LeftButton);
    tree().expandAll();
    QVERIFY(rows().contains(QStringLiteral("strategy.vpp")));
}

void TestForm::aKeyThatNobodyKnowsIsShownAndRemoved()
{
    Json json = workspace_->document().json();
    json["strategy"]["tpp"] = 4;
    json["notes"] = Json::object();
    workspace_->document().replace(json, QStringLiteral("typed"));
    QVERIFY(settled());
    QVERIFY(has_errors(workspace_->problems()));
    for (const char* key : {"/strategy/tpp", "/notes"}) {
        panel_->go_to(key);
        if (auto* const editor = tree().viewport()->findChild<QLineEdit*>())
            QTest::keyClick(editor, Qt::Key_Escape);
        const QModelIndex at = tree().currentIndex();
        QCOMPARE(at.siblingAtColumn(FormModel::name_column).data().toString(),
                 QString::fromLatin1(key + 1).replace('/', '.'));
        QVERIFY(button(QStringLiteral("Remove the key")).isEnabled());
        QTest::mouseClick(&button(QStringLiteral("Remove the key")), Qt::LeftButton);
        QVERIFY(workspace_->document().find(
                    QString::fromLatin1(key + 1).replace('/', '.').toStdString()) == nullptr);
    }
    QVERIFY(settled());
    const Problems& left = workspace_->problems();
    QVERIFY2(!has_errors(left), left.empty() ? "" : left.front().message.c_str());
    QVERIFY(workspace_->document().find("strategy.tpp") == nullptr);
    QVERIFY(workspace_->document().find("notes") == nullptr);
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().find("notes") != nullptr);
}

void TestForm::helpsOfAnyLengthMoveNothing()
{
    const QRect before = tree().geometry();
    for (const char* field : {"/training/global_batch", "/training/recompute_modules", "/run/fold"})
    {
        panel_->go_to(field);
        if (auto* const editor = tree().viewport()->findChild<QLineEdit*>())
            QTest::keyClick(editor, Qt::Key_Escape);
        QCoreApplication::processEvents();
        QCOMPARE(tree().geometry(), before);
    }
}

// Two steps on and one back have run before anybody asks: each move needs one run, that of what it
// may come to after the next.
void TestForm::theNextStepOfASliderIsForeseen()
{
    const auto foreseen = [&] {
        return QTest::qWaitFor([&] { return !workspace_->lookahead().busy(); }, patience_ms);
    };
    const auto runs = [&] { return workspace_->live().session().counts().run; };
    QVERIFY(!workspace_->lookahead().busy()); // no slider was moved yet
    const int before = runs();
    choose("strategy.bucket_cap", +1);
    QVERIFY(foreseen());
    QCOMPARE(runs(), before + 3);
    choose("strategy.bucket_cap", +1);
    QVERIFY(foreseen());
    QCOMPARE(runs(), before + 4);

    choose("strategy.bucket_cap", -1);
    workspace_->document().set("training.micro_batch", "2");
    QVERIFY(!workspace_->lookahead().busy()); // what is asked for comes first
    QVERIFY(settled());
}

void TestForm::whatIsKnownByNameIsAList()
{
    const auto list = [&](const char* pointer) -> QComboBox* {
        if (auto* const open = tree().viewport()->findChild<QComboBox*>())
            QTest::keyClick(open, Qt::Key_Escape);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete); // it is gone
        panel_->go_to(pointer);
        return tree().viewport()->findChild<QComboBox*>();
    };
    for (const char* const pointer : {"/strategy/schedule", "/profile", "/software/framework"}) {
        QComboBox* const box = list(pointer);
        QVERIFY2(box != nullptr && box->count() > 5, pointer);
    }
    QVERIFY(list("/description") == nullptr); // any text
}

TRAINYARD_WINDOW_TEST(TestForm, QApplication)
#include "test_form.moc"
