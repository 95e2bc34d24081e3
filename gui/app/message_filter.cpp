#include "gui/app/message_filter.h"

#include <QString>
#include <QtGlobal>

namespace trainyard::gui {

namespace {

QtMessageHandler before = nullptr;

void pass_on(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    // The second: of XDG_RUNTIME_DIR, where nobody is logged in.
    const bool noise =
        message == QLatin1String("This plugin does not support propagateSizeHints()") ||
        message.startsWith(QLatin1String("QStandardPaths: "));
    if (!noise)
        before(type, context, message);
}

} // namespace

void drop_offscreen_noise()
{
    if (before == nullptr)
        before = qInstallMessageHandler(pass_on);
}

} // namespace trainyard::gui
