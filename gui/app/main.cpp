// trainyard-gui [FILE...]: the window; --screenshot and --export-dir make pictures without one.

#include "gui/app/headless.h"
#include "gui/app/main_window.h"
#include "gui/app/message_filter.h"
#include "sim/base/build_info.h"
#include "sim/base/freed_memory.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/manual.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <QApplication>
#include <QLocale>
#include <QScreen>
#include <QSettings>
#include <QStandardPaths>
#include <clocale>
#include <csignal>

namespace trainyard::gui {
namespace {

std::string not_empty(const std::string& name)
{
    return name.empty() ? "a name is expected, not nothing" : "";
}

int run(int argc, char** argv)
{
    keep_freed_memory();
    HeadlessOptions options;
    std::string theme;
    CLI::App app("Explore distributed training: scenarios, timelines, topologies, strategies.",
                 "trainyard-gui");
    app.add_option("FILE", options.files,
                   "a scenario, session, model, topology, profile, job, log of measurements; "
                   "traces of a job's ranks");
    app.add_option("--screenshot", options.screenshot, "write a picture of the window and end")
        ->type_name("OUT.png")
        ->check(not_empty);
    app.add_option("--export-dir", options.export_dir,
                   "write every view as PNG, SVG and CSV into this folder and end")
        ->type_name("DIR")
        ->check(not_empty);
    app.add_option("--view", options.view, "the view in front")->check(CLI::IsMember(view_keys()));
    app.add_option("--size", options.size, "of the window, as 1600x1000")->type_name("WxH");
    app.add_option("--theme", theme, "light or dark; else as the last time, or as the desktop")
        ->check(CLI::IsMember({"light", "dark"}));
    app.set_version_flag("--version", std::string(version()));
    add_manual_option(app, app.get_name());
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) { // --help, --version
            app.exit(error);
            return exit_ok;
        }
        fmt::print(stderr, "error: {}\n      trainyard-gui --help shows what there is\n",
                   printable_lines(error.what()));
        return exit_usage;
    }

    if (options.wanted() && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    if (qgetenv("QT_QPA_PLATFORM").startsWith("offscreen"))
        drop_offscreen_noise();
    std::signal(SIGXFSZ, SIG_IGN); // a full disk is told, not died of
    QApplication application(argc, argv);
    // Numbers read and look as on the command line, whatever the desktop's language: Qt took over
    // the locale, in some of which a comma stands before decimals.
    std::setlocale(LC_NUMERIC, "C");
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QApplication::setApplicationName(QStringLiteral("trainyard"));
    QApplication::setOrganizationName(QStringLiteral("trainyard"));
    const Theme desktop = system_theme(); // before one is applied
    if (theme.empty() && !options.wanted())
        theme = QSettings().value(QStringLiteral("theme")).toString().toStdString();
    const bool dark = theme.empty() ? !options.wanted() && desktop == Theme::dark : theme == "dark";
    apply_theme(application, dark ? Theme::dark : Theme::light);
    if (options.wanted())
        return run_headless(options);

    Places places;
    places.autosave =
        QStandardPaths::writableLocation(QStandardPaths::AppDataLocation).toStdString();
    MainWindow window(places);
    if (window.size().width() < 900) { // nothing is remembered
        const QSize usual(1440, 900);
        constexpr int frame = 60; // more than titles of windows take
        const QSize screen = window.screen()->availableSize();
        window.resize(usual.boundedTo(screen));
        if (screen.width() < usual.width() || screen.height() < usual.height() + frame)
            window.setWindowState(Qt::WindowMaximized);
    }
    window.show();
    const std::string first = options.files.empty() ? "" : options.files.front();
    if (!window.offer_recovery(first))
        for (const std::string& file : options.files)
            window.open_later(file);
    return QApplication::exec();
}

} // namespace
} // namespace trainyard::gui

int main(int argc, char** argv)
{
    return trainyard::gui::run(argc, argv);
}
