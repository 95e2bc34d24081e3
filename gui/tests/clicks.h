#pragma once

// What a user does with the mouse and the keyboard, counted: one for each click, choice and typed
// field. What cannot be clicked (not there, out of sight, disabled, two of them) fails the test, at
// the line that asked for it, and says why.

#include <QString>
#include <source_location>

class QAbstractItemView;
class QComboBox;
class QWidget;

namespace trainyard::gui::test {

/// Looks for what is named in the dialog in front where there is a modal one, else in all windows.
/// Every step is false where it failed: QVERIFY(clicks.click("Create")) ends the test there.
class Clicks {
public:
    using Place = std::source_location;

    /// A button by its text, without "&" and "...", or any widget.
    [[nodiscard]] bool click(const QString& text, Place at = Place::current());
    [[nodiscard]] bool click(QWidget* widget, Place at = Place::current());
    /// The entry of a menu of the menu bar: two clicks.
    [[nodiscard]] bool menu(const QString& menu, const QString& entry, Place at = Place::current());
    /// The tab of that title, also of a view.
    [[nodiscard]] bool tab(const QString& title, Place at = Place::current());
    /// The line of a list that reads so, or else the only one that begins so.
    [[nodiscard]] bool choose(QComboBox* box, const QString& text, Place at = Place::current());
    /// The row whose first text reads so, or else the only one that begins so.
    [[nodiscard]] bool pick(QAbstractItemView* view, const QString& text,
                            Place at = Place::current());
    /// In place of what stands in the field, which is then left by Tab.
    [[nodiscard]] bool type(QWidget* field, const QString& text, Place at = Place::current());

    int count() const { return count_; }

private:
    int count_ = 0;
};

} // namespace trainyard::gui::test
