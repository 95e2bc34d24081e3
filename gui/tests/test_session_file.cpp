// Session files and what a process leaves behind, without a window.

#include "gui/model/session_file.h"
#include "gui/tests/window_test.h"
#include "sim/base/files.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QTemporaryDir>
#include <limits>

using namespace trainyard;
using namespace trainyard::gui;

class TestSessionFile : public QObject {
    Q_OBJECT

private slots:
    void aSessionComesBackAsItWas();
    void aSessionOfANewerVersionIsRefused();
    void autosavedSessionsOfOthersAreFoundOnceTheyAreGone();
    void whatAKilledProcessLeftIsFoundAtOnce();
    void filesMovedWithTheirSessionAreFound();
};

void TestSessionFile::aSessionComesBackAsItWas()
{
    SessionContent content;
    content.file = "/tmp/a \"name\".json";
    content.scenario = *read_json_file(eight);
    content.baseline = Json::object();
    content.baseline_file = "/tmp/b.json";
    content.range = TimeRange{SimTime(5), SimTime(99)};
    content.price = {2.5, "EUR"};
    content.lanes = Json::Object{{"order", "idle"}};
    content.explore = Json::Object{{"x", "memory"}};
    content.plan = Json::Object{{"tokens", "2T"}};
    content.measured = {"/tmp/a.log", "/tmp/b.log"};
    content.view = "timeline";
    content.layout = "AAAA";
    const Checked<Json> json = parse_json(to_text(to_json(content)), "s");
    const Checked<SessionContent> again = session_from(*json, "s");
    QVERIFY(again.has_value());
    QVERIFY(*again == content);
}

void TestSessionFile::aSessionOfANewerVersionIsRefused()
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
    // Longer than a count of picoseconds can be.
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    json["range_ps"] = Json(Json::Array{Json(-huge), Json(huge)});
    QVERIFY(!session_from(json, "s.json").has_value());
}

void TestSessionFile::autosavedSessionsOfOthersAreFoundOnceTheyAreGone()
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
void TestSessionFile::whatAKilledProcessLeftIsFoundAtOnce()
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

void TestSessionFile::filesMovedWithTheirSessionAreFound()
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

TRAINYARD_WINDOW_TEST(TestSessionFile, QCoreApplication)
#include "test_session_file.moc"
