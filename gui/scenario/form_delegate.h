#pragma once

// Editors of the form: lists to choose from where there is a choice, texts that are checked as one
// types elsewhere.

#include <QStyledItemDelegate>

namespace trainyard::gui {

class FormDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const override;
    void setEditorData(QWidget* editor, const QModelIndex& index) const override;
    void setModelData(QWidget* editor, QAbstractItemModel* model,
                      const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

signals:
    // What would be wrong with the text being typed; empty: nothing.
    void typed(const QString& problem) const;
};

} // namespace trainyard::gui
