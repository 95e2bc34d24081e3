#include "gui/app/headless.h"

#include "gui/app/main_window.h"
#include "gui/widgets/export.h"
#include "sim/base/files.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTimer>

namespace trainyard::gui {

namespace {

constexpr QSize least_size(200, 150);
constexpr QSize most_size(16'384, 16'384);

void say(const std::string& text)
{
    fmt::print(stderr, "{}", printable_lines(text));
}

// "1600x1000"; an empty size where it is none, or none that a picture can have.
QSize size_from(const std::string& text)
{
    const QStringList parts = QString::fromStdString(text).split('x');
    if (parts.size() != 2)
        return {};
    const QSize size(parts[0].toInt(), parts[1].toInt());
    const bool fits = size.expandedTo(least_size) == size && size.boundedTo(most_size) == size;
    return fits ? size : QSize();
}

// Until every run asked for has been answered and drawn.
void settle(MainWindow& window)
{
    QTimer look; // what is waited for need not be an event
    look.start(20);
    while (window.busy())
        QApplication::processEvents(QEventLoop::WaitForMoreEvents); // sleeps, unlike with a limit
    QApplication::processEvents();
    QApplication::processEvents();
}

// Has the pictures made of the views that are drawn, also what the window would be asked for first.
void prepare(MainWindow& window, const HeadlessOptions& options)
{
    for (Panel* const panel : window.panels()) {
        const bool exported = !options.export_dir.empty();
        if (exported)
            panel->set_in_sight(true);
        const std::string key = panel->key().toStdString();
        if (exported || options.view == key || options.view.starts_with(key + "-"))
            panel->prepare_picture();
    }
    settle(window);
}

// Smaller than its views allow the window cannot be.
QImage picture_of(MainWindow& window, const HeadlessOptions& options)
{
    if (window.size() != size_from(options.size))
        say(fmt::format("warning: --size {}: the picture has {}x{}, the least the window needs\n",
                        options.size, window.width(), window.height()));
    return window.grab().toImage();
}

void make_folder(const std::filesystem::path& folder)
{
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        throw WorldError{
            fmt::format("cannot make the folder {}: {}", folder.string(), failed.message())};
    require_writable(folder / "view");
}

void export_all(const MainWindow& window, const QSize& size, const std::string& folder)
{
    for (Panel* const panel : window.panels())
        for (Panel* const part : panel->parts())
            for (const char* ending : {".png", ".svg", ".csv"})
                export_view(*part, size,
                            std::filesystem::path(folder) / (part->key().toStdString() + ending));
}

} // namespace

std::vector<std::string> view_keys()
{
    return {"scenario",         "timeline",           "topology", "explore",
            "explore-parallel", "explore-importance", "plan",     "calibration",
            "breakdown",        "recorded",           "report"};
}

int run_headless(const HeadlessOptions& options)
{
    const QSize size = size_from(options.size);
    if (size.isEmpty()) {
        say(fmt::format("error: --size {}: expected WIDTHxHEIGHT from {}x{} to {}x{}\n",
                        options.size, least_size.width(), least_size.height(), most_size.width(),
                        most_size.height()));
        return exit_usage;
    }
    const std::string ending = std::filesystem::path(options.screenshot).extension().string();
    if (!ending.empty() && ending != ".png") {
        say(fmt::format("error: --screenshot {}: pictures of the window are written as .png\n",
                        options.screenshot));
        return exit_usage;
    }
    if (options.files.empty()) {
        say("error: a picture needs a FILE to show\n");
        return exit_usage;
    }
    try {
        if (!options.screenshot.empty())
            require_writable(options.screenshot);
        if (!options.export_dir.empty())
            make_folder(options.export_dir);
        const QTemporaryDir autosave;
        MainWindow window({autosave.path().toStdString(), false});
        window.resize(size);
        window.show();
        const bool opened = window.open(options.files);
        if (!options.view.empty()) // in front of the one that a scenario opens with
            window.show_panel(QString::fromStdString(options.view));
        settle(window);
        prepare(window, options);
        const Problems& problems = window.workspace().problems();
        if (window.world_refused())
            throw WorldError{window.refused().front().message};
        const bool drawn = window.workspace().current(); // also what does not fit
        if (!opened || (has_errors(problems) && !drawn) || has_errors(window.refused())) {
            say(trainyard::render(has_errors(problems) ? problems : window.refused(),
                                  "nothing was drawn."));
            return exit_invalid_input;
        }
        if (!options.screenshot.empty())
            write_image(picture_of(window, options), options.screenshot);
        if (!options.export_dir.empty())
            export_all(window, size, options.export_dir);
        if (has_errors(problems)) {
            say(trainyard::render(problems, "it was drawn as if there were room."));
            return exit_no;
        }
    } catch (const WorldError& error) {
        say(fmt::format("error: {}\n", error.message));
        return exit_input_output;
    }
    return exit_ok;
}

} // namespace trainyard::gui
