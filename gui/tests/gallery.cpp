// Pictures of the window in every state that people meet, to be looked at: gallery FOLDER [PART],
// in the root of the source tree; with PART only those whose names have it. The target `gallery`
// makes them at one and at two pixels per point.

#include "gui/app/main_window.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/widgets/export.h"
#include "gui/widgets/theme.h"
#include "sim/base/files.h"
#include "sim/base/freed_memory.h"

#include <fmt/core.h>

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QMenuBar>
#include <QScreen>
#include <QTabBar>
#include <QTemporaryDir>
#include <filesystem>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const std::string usual = "scenarios/llama3-70b-h100-64.json";
const std::string huge = "scenarios/llama3-405b-h100-16k.json";
const std::string small = "scenarios/llama3-8b-h100-8.json";

// What to show, and whether the window is waited for.
struct State {
    std::string name;
    std::function<void(MainWindow&)> make;
    bool settles = true;
};

void settle(MainWindow& window)
{
    while (window.busy())
        QApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    QApplication::processEvents();
    QApplication::processEvents();
}

void show_view(MainWindow& window, const std::string& file, const QString& key)
{
    window.open(file);
    window.show_panel(key);
    settle(window);
    if (Panel* const panel = window.panel(key))
        panel->prepare_picture();
}

// The entry of a menu that reads so.
void choose(const MainWindow& window, const QString& entry)
{
    for (const QAction* const menu : window.menuBar()->actions())
        for (QAction* const action : menu->menu()->actions())
            if (action->text().remove('&').remove(QStringLiteral(" ...")) == entry)
                action->trigger();
}

// What begins without a scenario, what others' files bring, and the dialogs.
void add_others(std::vector<State>& all, const std::vector<QString>& views)
{
    for (const QString& key : views)
        all.push_back({fmt::format("{}-empty", key.toStdString()),
                       [key](MainWindow& window) { window.show_panel(key); },
                       false}); // nothing runs, and the layout takes some turns
    const auto opened = [&](const char* name, std::vector<std::string> files) {
        all.push_back({name, [files = std::move(files)](MainWindow& window) {
                           for (const std::string& file : files) {
                               window.open(file);
                               settle(window);
                           }
                       }});
    };
    opened("calibration-measured",
           {"tests/golden/data/nccl_logs/dstack_nebius_h100_2x8_allreduce.txt"});
    opened("calibration-beside",
           {small, "tests/golden/data/nccl_logs/dstack_nebius_h100_2x8_allreduce.txt"});
    opened("origin", {small, "tests/golden/data/jobs/llama3_70b.toml"});
    opened("refused", {small, "README.md"});
    all.push_back({"recorded-traces", [](MainWindow& window) {
                       const std::string folder = "tests/golden/data/traces/";
                       window.open({folder + "rank0.json", folder + "rank1.json"});
                   }});
    all.push_back({"json", [](MainWindow& window) {
                       window.open(small);
                       window.findChild<ScenarioPanel*>()->findChild<QTabBar*>()->setCurrentIndex(
                           1);
                   }});
    for (const char* dialog : {"New", "Cluster", "Price", "Keys"})
        all.push_back({fmt::format("dialog-{}", dialog), [dialog](MainWindow& window) {
                           window.open(small);
                           settle(window);
                           choose(window, QLatin1String(dialog));
                           for (int turn = 0; turn < 30; ++turn) // what it lists comes later
                               QApplication::processEvents(QEventLoop::WaitForMoreEvents, 20);
                       }});
}

std::vector<State> states(const std::vector<QString>& views)
{
    std::vector<State> all{{"start", [](MainWindow&) {}, false}}; // its examples are being drawn
    for (const QString& key : views)
        for (const auto& [size, file] : {std::pair("usual", usual), std::pair("huge", huge)})
            all.push_back(
                {fmt::format("{}-{}", key.toStdString(), size),
                 [key, file = file](MainWindow& window) { show_view(window, file, key); }});
    const auto changed = [&](const char* name, std::vector<Edit> edits, bool settles = true) {
        all.push_back({name,
                       [edits = std::move(edits)](MainWindow& window) {
                           window.open(small);
                           settle(window);
                           window.workspace().pin_baseline();
                           window.workspace().document().edit(edits);
                       },
                       settles});
    };
    changed("changed", {{"training.precision", "fp8"}});
    changed("error", {{"strategy.tp", "3"}});
    changed("does-not-fit", {{"training.sequence_length", "1048576"}});
    changed("busy", {{"run.engine", "reference"}, {"run.fold", "false"}, {"run.steps", "20000"}},
            false);
    add_others(all, views);
    return all;
}

std::vector<QString> view_keys_of_a_window()
{
    const QTemporaryDir autosave;
    MainWindow window({autosave.path().toStdString(), false});
    std::vector<QString> keys;
    for (const Panel* const panel : window.panels())
        keys.push_back(panel->key());
    return keys;
}

void take(const State& state, const QSize& size, const std::filesystem::path& file)
{
    const QTemporaryDir autosave;
    MainWindow window({autosave.path().toStdString(), false});
    window.resize(size);
    window.show();
    state.make(window);
    if (state.settles)
        settle(window);
    else
        for (int turn = 0; turn < 30; ++turn) // what is late is seen to be
            QApplication::processEvents(QEventLoop::WaitForMoreEvents, 20);
    QWidget* shown = &window;
    for (QDialog* const dialog : window.findChildren<QDialog*>())
        if (dialog->isVisible())
            shown = dialog;
    write_image(shown->grab().toImage(), file);
    window.workspace().live().cancel();
}

int run(const std::filesystem::path& folder, const std::string& part)
{
    std::filesystem::create_directories(folder);
    const int scale = qRound(QGuiApplication::primaryScreen()->devicePixelRatio());
    std::string page = "<!doctype html><meta charset=\"utf-8\"><title>Gallery</title>\n";
    const std::vector<State> all = states(view_keys_of_a_window());
    for (const auto& [theme, word] :
         {std::pair(Theme::light, "light"), std::pair(Theme::dark, "dark")})
        for (const QSize& size : {QSize(1280, 720), QSize(1600, 1000)}) {
            apply_theme(*qApp, theme);
            for (const State& state : all) {
                const std::string name = fmt::format("{}-{}-{}x{}@{}.png", state.name, word,
                                                     size.width(), size.height(), scale);
                if (name.find(part) == std::string::npos)
                    continue;
                take(state, size, folder / name);
                page += fmt::format("<h3>{0}</h3><img src=\"{0}\" width=\"{1}\">\n", name,
                                    size.width());
                fmt::print("{}\n", name);
                std::fflush(stdout);
            }
        }
    write_file(folder / fmt::format("pictures@{}.html", scale), page);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    keep_freed_memory();
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    return argc == 2 || argc == 3 ? run(argv[1], argc == 3 ? argv[2] : "") : 2;
}
