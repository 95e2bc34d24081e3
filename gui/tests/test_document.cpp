// The models without a window: document, form, headline, sliders, session files.

#include "gui/model/choices.h"
#include "gui/model/form.h"
#include "gui/model/open_file.h"
#include "gui/model/workspace.h"
#include "gui/scenario/form_model.h"
#include "gui/tests/window_test.h"
#include "gui/widgets/panel.h"
#include "gui/widgets/theme.h"
#include "sim/base/fields.h"
#include "sim/base/files.h"
#include "sim/topology/read_topology.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QAbstractItemModelTester>
#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const std::string scenario = "scenarios/llama3-8b-h100-8.json";

std::string text_at(const Document& document, const std::string& field)
{
    const Json* const found = document.find(field);
    return found != nullptr ? edit_text(*found) : "absent";
}

// WCAG 2: from 1 for the same to 21 for black on white.
double contrast(const QColor& one, const QColor& other)
{
    const auto luminance = [](const QColor& colour) {
        const auto linear = [](double x) {
            return x <= 0.03928 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
               0.0722 * linear(colour.blueF());
    };
    const double a = luminance(one) + 0.05;
    const double b = luminance(other) + 0.05;
    return std::max(a, b) / std::min(a, b);
}

} // namespace

class TestDocument : public QObject {
    Q_OBJECT

private slots:
    void everyChangeIsUndone();
    void aDragIsUndoneAtOnce();
    void resettingTakesEmptyObjectsAlong();
    void pathsStayRightWhereAScenarioIsSavedElsewhere();
    void undoneStepsFindTheirFilesFromAnotherFolder();
    void whatCannotBeReadChangesNothing();
    void theFormHasEveryFieldOfTheTables();
    void theFormIsASoundModel();
    void aWrongTextIsToldWhileTyping();
    void problemsStandBesideTheirFields();
    void perturbationsAreAddedAndRemoved();
    void ofAVeryLongListTheFormHasTheFirst();
    void slidersOfferDivisorsOfTheDevices();
    void aSessionComesBackAsItWas();
    void aSessionOfANewerVersionIsRefused();
    void autosavedSessionsOfOthersAreFoundOnceTheyAreGone();
    void whatAKilledProcessLeftIsFoundAtOnce();
    void filesMovedWithTheirSessionAreFound();
    void aBaselineThatCannotRunIsTold();
    void tablesAreQuotedAsCsvWantsIt();
    void inkCanBeReadOnEveryFill();
    void plainFillsStandOutInTheDark();
};

void TestDocument::everyChangeIsUndone()
{
    Document document;
    QVERIFY(document.open(scenario).empty());
    const Json before = document.json();
    QVERIFY(!document.set("strategy.tp", "4"));
    QVERIFY(!document.set("strategy.overlap.dp", "false"));
    QCOMPARE(text_at(document, "strategy.tp"), std::string("4"));
    QVERIFY(document.modified());
    document.undo_stack().undo();
    document.undo_stack().undo();
    QVERIFY(document.json() == before);
    QVERIFY(!document.modified());
    document.undo_stack().redo();
    QCOMPARE(text_at(document, "strategy.tp"), std::string("4"));
}

void TestDocument::aDragIsUndoneAtOnce()
{
    Document document;
    document.open(scenario);
    const Json before = document.json();
    for (const char* value : {"2", "4", "8"})
        document.set("strategy.tp", value, Gesture::continuing);
    QCOMPARE(document.undo_stack().count(), 1);
    document.undo_stack().undo();
    QVERIFY(document.json() == before);
}

void TestDocument::resettingTakesEmptyObjectsAlong()
{
    Document document;
    document.load(Json::object(), "");
    document.set("strategy.overlap.dp", "true");
    QVERIFY(document.find("strategy.overlap") != nullptr);
    document.reset("strategy.overlap.dp");
    QVERIFY(document.find("strategy") == nullptr);
}

void TestDocument::pathsStayRightWhereAScenarioIsSavedElsewhere()
{
    const QTemporaryDir folder;
    Document document;
    document.open("scenarios/llama3-70b-h100-64.json");
    const std::string file = folder.filePath("sub.json").toStdString();
    document.save(file);
    QVERIFY(!document.modified());
    Session session;
    const Checked<ScenarioFile> again = read_scenario_file(file);
    QVERIFY(again.has_value());
    QVERIFY(!has_errors(session.check(*again)));
}

void TestDocument::undoneStepsFindTheirFilesFromAnotherFolder()
{
    // A topology of the user's own: unlike shipped ones it is found only where it lies.
    const QTemporaryDir folder;
    const std::filesystem::path own = folder.path().toStdString();
    write_file(own / "topo.json", read_file("topologies/h100-1x8.json"));
    std::filesystem::create_directory(own / "other");
    Document document;
    document.open(scenario);
    document.save((own / "a.json").string());
    Json json = document.json();
    json["topology"] = "topo.json";
    document.load(json, (own / "a.json").string());
    QVERIFY(!document.set("strategy.bucket_cap", "30 MiB"));
    document.save((own / "other" / "b.json").string());
    QVERIFY(!document.set("strategy.bucket_cap", "40 MiB"));

    Session session;
    const auto runs = [&] {
        const Checked<ScenarioFile> read = document.read();
        return read.has_value() && !has_errors(session.check(*read));
    };
    QVERIFY(runs());
    document.undo_stack().undo();
    QVERIFY(!document.modified());
    document.undo_stack().undo(); // a step of before
    QCOMPARE(text_at(document, "topology"), std::string("../topo.json"));
    QVERIFY(runs());
    document.undo_stack().redo();
    QVERIFY(!document.modified());
    document.save((own / "c.json").string()); // and back again
    document.undo_stack().undo();
    QCOMPARE(text_at(document, "topology"), std::string("topo.json"));
    QVERIFY(runs());
}

void TestDocument::whatCannotBeReadChangesNothing()
{
    Document document;
    document.open(scenario);
    const Json before = document.json();
    QVERIFY_EXCEPTION_THROWN(document.open("no/such/file.json"), WorldError);
    const QTemporaryDir folder;
    for (const char* text : {"", "[1, 2]", "{\"format\": \"trainyard.profile/1\"}", "{\"a\": "}) {
        const std::string file = folder.filePath("wrong.json").toStdString();
        write_file(file, text);
        QVERIFY(has_errors(document.open(file)));
        QVERIFY(document.json() == before);
    }
    QVERIFY(document.set("strategy..tp", "4").has_value());
    QVERIFY(document.json() == before);
}

void TestDocument::theFormHasEveryFieldOfTheTables()
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

void TestDocument::theFormIsASoundModel()
{
    Document document;
    FormModel form(document);
    const QAbstractItemModelTester tester(&form,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    document.open("scenarios/perturbed-a100-16.json");
    form.add_entry(form.index_of("perturbations"));
    form.remove_entry(form.index_of("perturbations.0"));
    document.undo_stack().undo();
    document.open(scenario);
}

void TestDocument::aWrongTextIsToldWhileTyping()
{
    Document document;
    document.open(scenario);
    const FormModel form(document);
    const QModelIndex tp = form.index_of("strategy.tp");
    QVERIFY(form.problem_with(tp, "8").isEmpty());
    QVERIFY(form.problem_with(tp, "0").contains("1"));
    QVERIFY(!form.problem_with(tp, "eight").isEmpty());
    const QModelIndex bucket = form.index_of("strategy.bucket_cap");
    QVERIFY(!form.problem_with(bucket, "25").isEmpty()); // no unit
    QVERIFY(form.problem_with(bucket, "25 MB").isEmpty());
    QCOMPARE(document.undo_stack().count(), 0);
}

void TestDocument::problemsStandBesideTheirFields()
{
    Document document;
    document.open(scenario);
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

void TestDocument::perturbationsAreAddedAndRemoved()
{
    Document document;
    document.open(scenario);
    FormModel form(document);
    const Json before = document.json();
    form.add_entry(form.index_of("perturbations"));
    const QModelIndex slowdown = form.index_of("perturbations.0.slowdown");
    QVERIFY(form.setData(slowdown.siblingAtColumn(FormModel::value_column), "1.5", Qt::EditRole));
    QCOMPARE(text_at(document, "perturbations.0.slowdown"), std::string("1.5"));
    form.remove_entry(form.index_of("perturbations.0"));
    QVERIFY(document.json() == before);
    QCOMPARE(form.rowCount(form.index_of("perturbations")), 0);
}

void TestDocument::ofAVeryLongListTheFormHasTheFirst()
{
    Document document;
    FormModel form(document);
    document.open(scenario);
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

void TestDocument::slidersOfferDivisorsOfTheDevices()
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

void TestDocument::aSessionComesBackAsItWas()
{
    SessionContent content;
    content.file = "/tmp/a \"name\".json";
    content.scenario = *read_json_file(scenario);
    content.baseline = Json::object();
    content.baseline_file = "/tmp/b.json";
    content.range = TimeRange{SimTime(5), SimTime(99)};
    content.price = {2.5, "EUR"};
    content.measured = {"/tmp/a.log", "/tmp/b.log"};
    content.view = "timeline";
    content.layout = "AAAA";
    const Checked<Json> json = parse_json(to_text(to_json(content)), "s");
    const Checked<SessionContent> again = session_from(*json, "s");
    QVERIFY(again.has_value());
    QVERIFY(*again == content);
}

void TestDocument::aSessionOfANewerVersionIsRefused()
{
    SessionContent content;
    content.scenario = Json::object();
    Json json = to_json(content);
    json["format"] = "trainyard.session/2";
    const Checked<SessionContent> newer = session_from(json, "s.json");
    QVERIFY(!newer.has_value());
    QVERIFY(newer.error().front().message.find("another version") != std::string::npos);
    json["format"] = session_format;
    json["range_ps"] = Json(Json::Array{Json(5), Json(5)});
    QVERIFY(!session_from(json, "s.json").has_value());
}

void TestDocument::autosavedSessionsOfOthersAreFoundOnceTheyAreGone()
{
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.path().toStdString();
    SessionContent content;
    content.scenario = Json::object();
    {
        Autosave ours(path);
        ours.write(content);
        QVERIFY(std::filesystem::exists(ours.file()));
        QVERIFY(ours.left_behind().empty());              // we are still there
        write_file(path / "session-99999999.json", "{}"); // nobody holds it
        write_file(path / "notes.json", "{}");
        QCOMPARE(ours.left_behind().size(), std::size_t{1});
        Autosave another(path);
        another.write(content);
        QCOMPARE(ours.left_behind().size(), std::size_t{1}); // that of nobody
        Autosave::forget(path / "session-99999999.json");
        QVERIFY(another.left_behind().empty());
    }
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{"notes.json"}); // a goodbye
}

// A killed process that nobody waited for keeps its number; one that starts anew may have it again.
void TestDocument::whatAKilledProcessLeftIsFoundAtOnce()
{
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.path().toStdString();
    const auto sessions = [&] {
        return QDir(folder.path()).entryList({"session-*.json"}, QDir::Files).size();
    };
    SessionContent content;
    content.scenario = Json::object();
    content.file = "killed.json";
    const pid_t child = ::fork();
    if (child == 0) {
        Autosave autosave(path);
        autosave.write(content);
        for (;;)
            ::pause();
    }
    QTRY_COMPARE_WITH_TIMEOUT(sessions(), 1, 60'000);
    Autosave ours(path);
    ours.write(content);
    QVERIFY(ours.left_behind().empty()); // it runs
    QCOMPARE(::kill(child, SIGKILL), 0);
    siginfo_t ended{};
    QCOMPARE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    QCOMPARE(::kill(child, 0), 0); // its number is still taken
    const std::vector<std::filesystem::path> left = ours.left_behind();
    QCOMPARE(left.size(), std::size_t{1});
    const Checked<Json> json = read_json_file(left.front().string());
    QVERIFY(json.has_value());
    QCOMPARE(session_from(*json, "")->file, std::string("killed.json"));
    QCOMPARE(::waitpid(child, nullptr, 0), child);

    const std::string again = "session-" + std::to_string(::getpid()) + ".json";
    write_file(path / again, "{}"); // of one that had our number
    QCOMPARE(ours.left_behind().size(), std::size_t{2});
}

void TestDocument::filesMovedWithTheirSessionAreFound()
{
    const QTemporaryDir folder;
    const std::filesystem::path here = folder.path().toStdString();
    for (const char* name : {"a.json", "b.json"})
        write_file(here / name, "{}");
    SessionContent content;
    content.file = "/no/such/folder/a.json";
    content.baseline_file = "/no/such/place/b.json";
    follow_moved_files(content, here / "s.trainyard.json");
    QCOMPARE(content.file, (here / "a.json").string());
    QCOMPARE(content.baseline_file, (here / "b.json").string());
}

void TestDocument::aBaselineThatCannotRunIsTold()
{
    Workspace workspace;
    Problems told;
    int times = 0;
    connect(&workspace, &Workspace::baselineRefused, this, [&](const Problems& problems) {
        told = problems;
        ++times;
    });
    Json json = *read_json_file(scenario);
    json["topology"] = "no-such-topology.json"; // found when it runs
    workspace.pin_baseline_of(json, scenario);
    QTRY_COMPARE_WITH_TIMEOUT(times, 1, 60'000);
    QVERIFY(workspace.baseline() == nullptr);
    QVERIFY(has_errors(told));
    QVERIFY(told.front().message.starts_with("the baseline cannot run: "));
    json["topology"] = 5; // wrong in its form
    workspace.pin_baseline_of(json, scenario);
    QCOMPARE(times, 2);
}

void TestDocument::tablesAreQuotedAsCsvWantsIt()
{
    const TableData table{{"a", "b"}, {{"1,5", "say \"x\""}, {"two\nlines", ""}}};
    QCOMPARE(to_csv(table), QString("a,b\n\"1,5\",\"say \"\"x\"\"\"\n\"two\nlines\",\n"));
}

void TestDocument::inkCanBeReadOnEveryFill()
{
    // WCAG 2 asks for 3:1 of large text and marks; what black or white gives on each colour.
    for (const Theme theme : {Theme::light, Theme::dark})
        for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
            const QColor fill = colour_of(fill_of(static_cast<TimeKind>(kind)), palette_of(theme));
            QVERIFY(contrast(fill, ink_on(fill)) >= 4.5);
        }
}

void TestDocument::plainFillsStandOutInTheDark()
{
    // What has no hatch is told from what lies behind it by its colour alone.
    const QPalette palette = palette_of(Theme::dark);
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        const Fill& fill = fill_of(static_cast<TimeKind>(kind));
        for (const QPalette::ColorRole behind : {QPalette::Window, QPalette::Base})
            QVERIFY(fill.hatch != Hatch::none ||
                    contrast(colour_of(fill, palette), palette.color(behind)) >= 2);
    }
}

TRAINYARD_WINDOW_TEST(TestDocument, QCoreApplication)
#include "test_document.moc"
