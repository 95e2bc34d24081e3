// The form of all fields and what sliders offer, without a window.

#include "gui/model/choices.h"
#include "gui/model/form.h"
#include "gui/scenario/form_model.h"
#include "gui/tests/document_text.h"
#include "gui/tests/window_test.h"
#include "sim/base/fields.h"
#include "sim/topology/read_topology.h"

#include <QAbstractItemModelTester>

using namespace trainyard;
using namespace trainyard::gui;

class TestFormModel : public QObject {
    Q_OBJECT

private slots:
    void theFormHasEveryFieldOfTheTables();
    void theFormIsASoundModel();
    void aWrongTextIsToldWhileTyping();
    void aLabelSaysTheUnitOfPlainNumbers();
    void problemsStandBesideTheirFields();
    void perturbationsAreAddedAndRemoved();
    void ofAVeryLongListTheFormHasTheFirst();
    void slidersOfferDivisorsOfTheDevices();
};

void TestFormModel::theFormHasEveryFieldOfTheTables()
{
    const FormField& root = scenario_form();
    for (const auto& field : fields_of<Strategy>().fields())
        QVERIFY(find_field(root, "strategy." + field.description.name) != nullptr);
    const FormField* const bucket = find_field(root, "strategy.bucket_cap");
    QVERIFY(bucket->kind == FieldKind::quantity);
    QCOMPARE(bucket->default_text(), std::string("25 MiB"));
    QVERIFY(find_field(root, "training.global_batch")->required);
    QVERIFY(find_field(root, "model")->kind == FieldKind::file);
    QVERIFY(find_field(root, "perturbations")->kind == FieldKind::list);
    QCOMPARE(field_at(root, "/strategy/overlap/dp")->field, std::string("strategy.overlap.dp"));
    QCOMPARE(field_at(root, "/strategy/tp/nowhere")->field, std::string("strategy.tp"));
    QVERIFY(field_at(root, "") == nullptr);
}

void TestFormModel::theFormIsASoundModel()
{
    Document document;
    FormModel form(document);
    const QAbstractItemModelTester tester(&form,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    document.open("scenarios/perturbed-a100-16.json");
    form.add_entry(form.index_of("perturbations"));
    form.remove_entry(form.index_of("perturbations.0"));
    document.undo_stack().undo();
    document.open(eight);
}

void TestFormModel::aWrongTextIsToldWhileTyping()
{
    Document document;
    document.open(eight);
    const FormModel form(document);
    const QModelIndex tp = form.index_of("strategy.tp");
    QVERIFY(form.problem_with(tp, "8").isEmpty());
    QVERIFY(form.problem_with(tp, "0").contains("1"));
    QVERIFY(!form.problem_with(tp, "eight").isEmpty());
    const QModelIndex bucket = form.index_of("strategy.bucket_cap");
    QVERIFY(!form.problem_with(bucket, "25 s").isEmpty()); // another unit
    QVERIFY(form.problem_with(bucket, "25").isEmpty());    // in the label's
    QVERIFY(form.problem_with(bucket, "25 MB").isEmpty());
    QCOMPARE(document.undo_stack().count(), 0);
}

void TestFormModel::aLabelSaysTheUnitOfPlainNumbers()
{
    Document document;
    document.open(eight);
    FormModel form(document);
    const QModelIndex bucket = form.index_of("strategy.bucket_cap");
    QCOMPARE(bucket.data().toString(), QString("bucket_cap [MiB]"));
    QCOMPARE(form.index_of("strategy.tp").data().toString(), QString("tp"));
    const QModelIndex value = bucket.siblingAtColumn(FormModel::value_column);
    QVERIFY(form.setData(value, "40", Qt::EditRole));
    QCOMPARE(document.find("strategy.bucket_cap")->as_string(), std::string("40 MiB"));
    QVERIFY(form.setData(value, "1 GiB", Qt::EditRole));
    QCOMPARE(document.find("strategy.bucket_cap")->as_string(), std::string("1 GiB"));
    // No quantity of the form is without one.
    const auto check = [](const auto& self, const FormField& field) -> void {
        if (field.kind == FieldKind::quantity)
            QVERIFY2(!field.unit().empty(), field.field.c_str());
        for (const FormField& inner : field.fields)
            self(self, inner);
    };
    check(check, scenario_form());
}

void TestFormModel::problemsStandBesideTheirFields()
{
    Document document;
    document.open(eight);
    FormModel form(document);
    form.set_problems({{"", 0, "/strategy/tp", "does not divide", "try 2", Severity::error}});
    const QModelIndex tp = form.index_of("strategy.tp");
    QCOMPARE(tp.siblingAtColumn(FormModel::problem_column).data().toString(),
             QString("does not divide"));
    QVERIFY(form.index_of("strategy.pp")
                .siblingAtColumn(FormModel::problem_column)
                .data()
                .toString()
                .isEmpty());
}

void TestFormModel::perturbationsAreAddedAndRemoved()
{
    Document document;
    document.open(eight);
    FormModel form(document);
    const Json before = document.json();
    form.add_entry(form.index_of("perturbations"));
    const QModelIndex slowdown = form.index_of("perturbations.0.slowdown");
    QVERIFY(form.setData(slowdown.siblingAtColumn(FormModel::value_column), "1.5", Qt::EditRole));
    QCOMPARE(test::text_at(document, "perturbations.0.slowdown"), std::string("1.5"));
    form.remove_entry(form.index_of("perturbations.0"));
    QVERIFY(document.json() == before);
    QCOMPARE(form.rowCount(form.index_of("perturbations")), 0);
}

void TestFormModel::ofAVeryLongListTheFormHasTheFirst()
{
    Document document;
    FormModel form(document);
    document.open(eight);
    Json json = document.json();
    json["perturbations"] = Json(Json::Array(5000, Json(Json::Object{{"rank", Json(1)}})));
    document.replace(json, QStringLiteral("many"));
    const QModelIndex list = form.index_of("perturbations");
    QVERIFY(form.rowCount(list) <= 1000);
    const QString says = list.siblingAtColumn(FormModel::value_column).data().toString();
    QVERIFY2(says.startsWith(QStringLiteral("5,000 given")), qPrintable(says));
    form.remove_entry(form.index_of("perturbations.0"));
    QCOMPARE(document.find("perturbations")->items().size(), std::size_t{4999});
}

void TestFormModel::slidersOfferDivisorsOfTheDevices()
{
    QCOMPARE(slider_values("strategy.tp", nullptr).first(), QString("1"));
    RunView run;
    auto outcome = std::make_shared<Outcome>();
    outcome->topology =
        std::make_shared<const Topology>(*read_topology_file("topologies/h100-1x4.json"));
    outcome->engine.ranks = 2; // the rest is idle
    run.outcome = outcome;
    QCOMPARE(slider_values("strategy.tp", &run), QStringList({"1", "2", "4"}));
    QCOMPARE(slider_values("strategy.dp", &run).first(), QString("auto"));
    QCOMPARE(slider_text("strategy.dp", nullptr), QString("auto"));
    QCOMPARE(slider_text("strategy.bucket_cap", nullptr), QString("25 MiB"));
}

TRAINYARD_WINDOW_TEST(TestFormModel, QCoreApplication)
#include "test_form_model.moc"
