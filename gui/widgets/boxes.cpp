#include "gui/widgets/boxes.h"

#include <QWidget>

namespace trainyard::gui {

BoxPart::BoxPart(QWidget* part, int share, Qt::Alignment side)
    : widget(part), stretch(share), alignment(side)
{}

BoxPart::BoxPart(QLayout* part, int share) : layout(part), stretch(share) {}

BoxPart room(int stretch)
{
    return {static_cast<QWidget*>(nullptr), stretch};
}

namespace {

template <class Box>
Box* filled(Box* box, std::initializer_list<BoxPart> parts, const BoxLook& look)
{
    box->setContentsMargins(look.margins);
    box->setSpacing(look.spacing);
    for (const BoxPart& part : parts)
        if (part.widget != nullptr)
            box->addWidget(part.widget, part.stretch, part.alignment);
        else if (part.layout != nullptr)
            box->addLayout(part.layout, part.stretch);
        else
            box->addStretch(part.stretch);
    return box;
}

} // namespace

QHBoxLayout* in_a_row(QWidget* owner, std::initializer_list<BoxPart> parts, const BoxLook& look)
{
    return filled(new QHBoxLayout(owner), parts, look);
}

QVBoxLayout* in_a_column(QWidget* owner, std::initializer_list<BoxPart> parts, const BoxLook& look)
{
    return filled(new QVBoxLayout(owner), parts, look);
}

QHBoxLayout* in_a_row(std::initializer_list<BoxPart> parts, const BoxLook& look)
{
    return filled(new QHBoxLayout, parts, look);
}

QVBoxLayout* in_a_column(std::initializer_list<BoxPart> parts, const BoxLook& look)
{
    return filled(new QVBoxLayout, parts, look);
}

} // namespace trainyard::gui
