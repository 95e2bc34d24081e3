#include "gui/calibration/fit_log.h"

#include "gui/model/qt_text.h"

#include <QCoreApplication>
#include <QDateTime>
#include <algorithm>
#include <array>
#include <filesystem>

namespace trainyard::gui {

namespace {

constexpr std::array<const char*, 3> what_names{"opened", "saved", "refused"};

QString log_text(const char* text)
{
    return QCoreApplication::translate("FitLog", text);
}

QString title_of_step(FitLogEntry::What what)
{
    switch (what) {
    case FitLogEntry::What::opened:
        return log_text("opened");
    case FitLogEntry::What::saved:
        return log_text("saved");
    case FitLogEntry::What::refused:
        break;
    }
    return log_text("refused");
}

std::string text_member(const Json& json, const char* key)
{
    const Json* const value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

} // namespace

FitLogEntry fit_log_entry(FitLogEntry::What what, std::vector<std::string> files,
                          std::string result)
{
    const QString now =
        QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd hh:mm:ss"));
    return {now.toStdString(), what, std::move(files), std::move(result)};
}

Json to_json(const FitLog& log)
{
    Json out = Json::array();
    for (const FitLogEntry& entry : log) {
        out.push_back(Json::Object{{"time", entry.time},
                                   {"what", what_names[static_cast<std::size_t>(entry.what)]},
                                   {"files", entry.files},
                                   {"result", entry.result}});
    }
    return out;
}

FitLog fit_log_from(const Json& json)
{
    FitLog out;
    if (!json.is_array())
        return out;
    for (const Json& one : json.items()) {
        if (!one.is_object())
            continue;
        const std::string what = text_member(one, "what");
        const auto* const known = std::find(what_names.begin(), what_names.end(), what);
        if (known == what_names.end())
            continue;
        FitLogEntry entry;
        entry.time = text_member(one, "time");
        entry.what = static_cast<FitLogEntry::What>(known - what_names.begin());
        entry.result = text_member(one, "result");
        if (const Json* const files = one.find("files"); files != nullptr && files->is_array())
            for (const Json& file : files->items())
                if (file.is_string())
                    entry.files.push_back(file.as_string());
        out.push_back(std::move(entry));
    }
    return out;
}

TableData table_of(const FitLog& log)
{
    TableData out{{log_text("when"), log_text("what"), log_text("measured files"),
                   log_text("profile, or why not")},
                  {}};
    for (auto entry = log.rbegin(); entry != log.rend(); ++entry) {
        QStringList names;
        for (const std::string& file : entry->files)
            names << text_of(std::filesystem::path(file).filename().string());
        out.rows.push_back({text_of(entry->time), title_of_step(entry->what),
                            names.join(QStringLiteral(", ")), text_of(entry->result)});
    }
    return out;
}

} // namespace trainyard::gui
