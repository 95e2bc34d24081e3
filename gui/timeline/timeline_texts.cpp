#include "gui/timeline/timeline_texts.h"

#include "gui/model/qt_text.h"
#include "gui/timeline/timeline_panel.h"

namespace trainyard::gui {

QString details_html(const SliceFacts& facts)
{
    QString html = QStringLiteral("<b>%1</b> &nbsp; %2<table cellspacing=\"0\" cellpadding=\"1\">")
                       .arg(escaped(facts.title), escaped(facts.place));
    for (const Fact& fact : facts.facts) {
        QString value = escaped(fact.value);
        if (fact.slice != nothing)
            value = QStringLiteral("<a href=\"slice:%1\">%2</a>").arg(fact.slice).arg(value);
        html += QStringLiteral("<tr><td>%1&nbsp;&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(escaped(fact.name), value);
    }
    return html + QStringLiteral("</table>");
}

const std::vector<KeyHelp>& timeline_keys()
{
    static const std::vector<KeyHelp> keys{
        {"W S", TimelinePanel::tr("closer, further")},
        {"A D", TimelinePanel::tr("earlier, later")},
        {"F", TimelinePanel::tr("fit the pinned operation, then all")},
        {"Shift+F", TimelinePanel::tr("fit all lines")},
        {"M", TimelinePanel::tr("measure")},
        {"/", TimelinePanel::tr("search")},
        {"N, Shift+N", TimelinePanel::tr("next, previous match")},
        {"[ ]", TimelinePanel::tr("previous, next of the name")},
        {TimelinePanel::tr("arrow keys"), TimelinePanel::tr("neighbours")},
        {TimelinePanel::tr("Return"), TimelinePanel::tr("fold a line")},
        {"+ -", TimelinePanel::tr("line height")},
        {"T", TimelinePanel::tr("lane to the top, or back")},
        {"H, Shift+H", TimelinePanel::tr("hide the lane, show all")},
        {"O", TimelinePanel::tr("order: by stage, by rank, by idle time")},
        {TimelinePanel::tr("right click"), TimelinePanel::tr("what else can be done")},
        {"P", TimelinePanel::tr("critical path")},
        {TimelinePanel::tr("Esc"), TimelinePanel::tr("lets go: measure, stretch, operation")},
        {TimelinePanel::tr("wheel"), TimelinePanel::tr("scrolls; Ctrl zooms, Shift pans")},
    };
    return keys;
}

QString timeline_help()
{
    QString text = TimelinePanel::tr("<p>Click an operation for its details, its cause and its "
                                     "effects; drag for a table of a stretch of time.</p><p>");
    for (const KeyHelp& key : timeline_keys())
        text += QStringLiteral("<b>%1</b>&nbsp;%2 &nbsp; ")
                    .arg(key.keys.toHtmlEscaped(), key.what.toHtmlEscaped());
    return text + QStringLiteral("</p>");
}

} // namespace trainyard::gui
