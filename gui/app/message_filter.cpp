#include "gui/app/message_filter.h"

#include <QString>
#include <QtGlobal>

namespace trainyard::gui {

namespace {

QtMessageHandler before = nullptr;

void pass_on(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    if (message != QLatin1String("This plugin does not support propagateSizeHints()"))
        before(type, context, message);
}

} // namespace

void drop_offscreen_noise()
{
    if (before == nullptr)
        before = qInstallMessageHandler(pass_on);
}

} // namespace trainyard::gui
