#pragma once

// Rows and columns of widgets, said in one expression.

#include <QBoxLayout>
#include <initializer_list>

namespace trainyard::gui {

// What stands in a row or column: a widget, a layout or empty room.
struct BoxPart {
    BoxPart(QWidget* part, int share = 0, Qt::Alignment side = {});
    BoxPart(QLayout* part, int share = 0);

    QWidget* widget = nullptr;
    QLayout* layout = nullptr;
    int stretch = 0; // share of the room that is left
    Qt::Alignment alignment;
};

BoxPart room(int stretch = 0);

struct BoxLook {
    QMargins margins{};
    int spacing = -1; // the style's
};

// Of all of `owner`.
QHBoxLayout* in_a_row(QWidget* owner, std::initializer_list<BoxPart> parts,
                      const BoxLook& look = {});
QVBoxLayout* in_a_column(QWidget* owner, std::initializer_list<BoxPart> parts,
                         const BoxLook& look = {});
// Within another.
QHBoxLayout* in_a_row(std::initializer_list<BoxPart> parts, const BoxLook& look = {});
QVBoxLayout* in_a_column(std::initializer_list<BoxPart> parts, const BoxLook& look = {});

} // namespace trainyard::gui
