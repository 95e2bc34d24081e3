#pragma once

// The scenario that is edited: its JSON, every change undoable, and the file it came from.

#include "sim/study/scenario.h"

#include <QObject>
#include <QUndoStack>

namespace trainyard::gui {

// Changes of one field in a row that belong to one gesture (a slider dragged) are undone together.
enum class Gesture : std::uint8_t { single, continuing };

// A field set from text, or taken out so that its default counts again.
struct Edit {
    std::string field;
    std::optional<std::string> text;
};

class Document : public QObject {
    Q_OBJECT

public:
    explicit Document(QObject* parent = nullptr);

    // Replaces everything; what was done before cannot be undone. `file` may name no file yet.
    void load(Json json, const std::string& file);
    // The same, read from a scenario's file. The form of the fields may be wrong (`read` says so);
    // a text that is no JSON object, or of another kind, is a problem and changes nothing. Throws
    // WorldError.
    Problems open(const std::string& file);
    // Writes the file whole or not at all, in the layout and with the comments of the one it came
    // from, and goes on with it. Paths inside that are relative to
    // the old folder are rewritten. Throws WorldError.
    void save(const std::string& file);

    // Whether its file has something that was neither read nor written here: saving would lose it.
    bool would_lose() const;

    // What it is now was never written: a crash left it.
    void mark_unsaved();

    const Json& json() const { return json_; }
    const std::string& file() const { return file_; }
    bool named() const { return !file_.empty(); }
    QString title() const; // the file's name, or what the scenario says of itself

    // Sets a field from text as `--set` takes it. What keeps it from being set; nothing is changed
    // then.
    std::optional<Diagnostic> set(const std::string& field, const std::string& text,
                                  Gesture gesture = Gesture::single);
    // Several fields as one change, named by the first.
    std::optional<Diagnostic> edit(const std::vector<Edit>& edits,
                                   Gesture gesture = Gesture::single);
    // Takes a field out of the scenario: its default counts again. Objects left empty go too.
    void reset(const std::string& field);
    // Replaces the whole scenario as one undoable change.
    void replace(Json json, const QString& what);

    // What the file gives there ("strategy.tp"); null: nothing.
    const Json* find(const std::string& field) const;

    // As a run takes it, or what is wrong with its form.
    Checked<ScenarioFile> read() const;
    // The same after changes that are not made.
    Checked<ScenarioFile> read_with(const std::vector<Edit>& edits) const;

    QUndoStack& undo_stack() { return undo_; }
    // The scenario, not what was done in views alone: that is on the stack too.
    bool modified() const { return !(json_ == saved_); }

signals:
    void changed(); // the JSON, the file's name, or whether it is saved
    void loaded();  // all of it, before the change is told

private:
    class Change;

    std::optional<Diagnostic> apply(const std::vector<Edit>& edits, Json& json) const;
    std::string text_for(const Json& json) const;

    Json json_;
    Json saved_; // as it is in the file
    std::string file_;
    QUndoStack undo_;
};

} // namespace trainyard::gui
