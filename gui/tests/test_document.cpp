// The scenario that is edited, without a window: changes, undo, files, the baseline.

#include "gui/model/workspace.h"
#include "gui/tests/document_text.h"
#include "gui/tests/window_test.h"
#include "sim/base/files.h"

#include <QTemporaryDir>

using namespace trainyard;
using namespace trainyard::gui;

class TestDocument : public QObject {
    Q_OBJECT

private slots:
    void everyChangeIsUndone();
    void aDragIsUndoneAtOnce();
    void resettingTakesEmptyObjectsAlong();
    void pathsStayRightWhereAScenarioIsSavedElsewhere();
    void undoneStepsFindTheirFilesFromAnotherFolder();
    void savingKeepsTheLayoutOfTheFile();
    void whatOthersWroteIsKnownBeforeItIsLost();
    void whatCannotBeReadChangesNothing();
    void aBaselineThatCannotRunIsTold();
};

void TestDocument::everyChangeIsUndone()
{
    Document document;
    QVERIFY(document.open(eight).empty());
    const Json before = document.json();
    QVERIFY(!document.set("strategy.tp", "4"));
    QVERIFY(!document.set("strategy.overlap.dp", "false"));
    QCOMPARE(test::text_at(document, "strategy.tp"), std::string("4"));
    QVERIFY(document.modified());
    document.undo_stack().undo();
    document.undo_stack().undo();
    QVERIFY(document.json() == before);
    QVERIFY(!document.modified());
    document.undo_stack().redo();
    QCOMPARE(test::text_at(document, "strategy.tp"), std::string("4"));
}

void TestDocument::aDragIsUndoneAtOnce()
{
    Document document;
    document.open(eight);
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
    document.open(eight);
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
    QCOMPARE(test::text_at(document, "topology"), std::string("../topo.json"));
    QVERIFY(runs());
    document.undo_stack().redo();
    QVERIFY(!document.modified());
    document.save((own / "c.json").string()); // and back again
    document.undo_stack().undo();
    QCOMPARE(test::text_at(document, "topology"), std::string("topo.json"));
    QVERIFY(runs());
}

void TestDocument::savingKeepsTheLayoutOfTheFile()
{
    const QTemporaryDir folder;
    const std::string file = folder.filePath("own.json").toStdString();
    std::string text = read_file(eight);
    text.insert(text.find('{') + 1, "\n  // the first of a series");
    write_file(file, text);
    Document document;
    QVERIFY(document.open(file).empty());
    QVERIFY(!document.set("training.global_batch", "96"));
    document.save(file);
    const std::string after = read_file(file);
    QVERIFY(after.find("// the first of a series") != std::string::npos);
    const auto lines = [](const std::string& all) {
        return QString::fromStdString(all).split('\n');
    };
    QCOMPARE(lines(after).size(), lines(text).size());
    int changed = 0;
    for (qsizetype i = 0; i < lines(text).size(); ++i)
        changed += lines(after)[i] == lines(text)[i] ? 0 : 1;
    QCOMPARE(changed, 1);
    // Changed by somebody else meanwhile, it is written as we do.
    write_file(file, "{\"format\": \"trainyard.scenario/1\"}");
    document.save(file);
    QVERIFY(*read_json_file(file) == document.json());
}

void TestDocument::whatOthersWroteIsKnownBeforeItIsLost()
{
    const QTemporaryDir folder;
    const std::string file = folder.filePath("own.json").toStdString();
    const std::string text = read_file(eight);
    write_file(file, text);
    Document document;
    QVERIFY(!document.would_lose()); // it has no file
    QVERIFY(document.open(file).empty());
    QVERIFY(!document.set("training.global_batch", "96"));
    QVERIFY(!document.would_lose());
    write_file(file, text + "\n"); // the same, laid out otherwise
    QVERIFY(!document.would_lose());
    for (const char* other : {"{\"format\": \"trainyard.scenario/1\"}", "{ half wri", ""}) {
        write_file(file, other);
        QVERIFY(document.would_lose());
    }
    document.save(file);
    QVERIFY(!document.would_lose());
    std::filesystem::remove(file);
    QVERIFY(!document.would_lose());
    // A job whose scenario has a name already, of which a file was written before.
    write_file(file, text);
    Json imported = document.json();
    document.load(imported, file);
    QVERIFY(document.would_lose());
}

void TestDocument::whatCannotBeReadChangesNothing()
{
    Document document;
    document.open(eight);
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

void TestDocument::aBaselineThatCannotRunIsTold()
{
    Workspace workspace;
    Problems told;
    int times = 0;
    connect(&workspace, &Workspace::baselineRefused, this, [&](const Problems& problems) {
        told = problems;
        ++times;
    });
    Json json = *read_json_file(eight);
    json["topology"] = "no-such-topology.json"; // found when it runs
    workspace.pin_baseline_of(json, eight);
    QTRY_COMPARE_WITH_TIMEOUT(times, 1, 60'000);
    QVERIFY(workspace.baseline() == nullptr);
    QVERIFY(has_errors(told));
    QVERIFY(told.front().message.starts_with("the baseline cannot run: "));
    json["topology"] = 5; // wrong in its form
    workspace.pin_baseline_of(json, eight);
    QCOMPARE(times, 2);
}

TRAINYARD_WINDOW_TEST(TestDocument, QCoreApplication)
#include "test_document.moc"
