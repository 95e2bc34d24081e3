#include "gui/new/model_list.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/theme.h"
#include "sim/api/catalogue.h"

#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QToolButton>
#include <QTreeView>

namespace trainyard::gui {

namespace {

constexpr std::int64_t any_length = 4096; // parameters do not hang on it

double figure_in(const Json& facts, std::string_view key)
{
    const Json* const value = facts.find(key);
    return value != nullptr && value->is_number() ? value->as_double() : 0;
}

// "70.6 billion"
QString count_words(double count)
{
    for (const auto& [unit, name] : {std::pair(1e12, ModelList::tr("%L1 trillion")),
                                     std::pair(1e9, ModelList::tr("%L1 billion")),
                                     std::pair(1e6, ModelList::tr("%L1 million"))})
        if (count >= 0.9995 * unit) // rounds to it
            return name.arg(count / unit, 0, 'f', count >= 100 * unit ? 0 : 1);
    return QStringLiteral("%L1").arg(count, 0, 'f', 0);
}

// "80 layers, 70.6 billion parameters, 37 billion of them at work for a token"
QString model_words(const Json& facts)
{
    const double parameters = figure_in(facts, "parameters");
    const double active = figure_in(facts, "active_parameters");
    QString out = ModelList::tr("%1: %L2 layers, %3 parameters")
                      .arg(text_of(facts.find("model")->as_string()))
                      .arg(figure_in(facts, "layers"))
                      .arg(count_words(parameters));
    if (active > 0 && active < 0.95 * parameters)
        out += ModelList::tr(", %1 at work for a token").arg(count_words(active));
    return out;
}

} // namespace

ModelList::ModelList(QWidget* parent)
    : QWidget(parent),
      search_(new QLineEdit),
      list_(new QTreeView),
      models_(new QStandardItemModel(this)),
      found_(new QSortFilterProxyModel(this)),
      facts_(new QLabel)
{
    search_->setObjectName(QStringLiteral("model"));
    search_->setAccessibleName(tr("Model"));
    search_->setPlaceholderText(tr("search, or a file, or a name"));
    search_->setClearButtonEnabled(true);
    auto* const browse_button = new QToolButton;
    browse_button->setText(tr("File ..."));
    auto* const row = in_a_row({{search_, 1}, browse_button});

    found_->setSourceModel(models_);
    found_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    found_->setSortRole(Qt::UserRole);
    list_->setModel(found_);
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->setSortingEnabled(true);
    list_->setAllColumnsShowFocus(true);
    list_->setTabKeyNavigation(false);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list_->setAccessibleName(tr("Models that come along"));
    facts_->setWordWrap(true);
    facts_->setTextFormat(Qt::PlainText);
    facts_->setMinimumHeight(2 * fontMetrics().lineSpacing() + 4);
    facts_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    in_a_column(this, {row, {list_, 1}, facts_});
    setFocusProxy(search_);
    facts_->setText(tr("Choose a model, or name its config.json."));

    connect(search_, &QLineEdit::textEdited, this, &ModelList::take_text);
    connect(browse_button, &QToolButton::clicked, this, &ModelList::browse);
    connect(list_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &ModelList::take_row);
    const auto say = [this](const QString& message) { facts_->setText(message); };
    connect(&listing_, &BackgroundTask::failed, this, say);
    connect(&reading_, &BackgroundTask::failed, this, say);
    listing_.start([this](const WorkControl& work) -> BackgroundTask::Answer {
        auto models = std::make_shared<std::vector<Listed>>();
        for (const std::string& name : shipped_names(ShippedKind::models)) {
            work.check();
            const Checked<Json> facts = model_facts(name, any_length);
            models->push_back({name, facts ? figure_in(*facts, "parameters") : 0,
                               facts ? figure_in(*facts, "active_parameters") : 0});
        }
        return [this, models] { fill(*models); };
    });
}

void ModelList::fill(const std::vector<Listed>& models)
{
    models_->setHorizontalHeaderLabels({tr("Model"), tr("Parameters")});
    for (const Listed& model : models) {
        auto* const name = new QStandardItem(text_of(model.name));
        name->setData(text_of(model.name), Qt::UserRole);
        auto* const size = new QStandardItem(count_words(model.parameters));
        size->setData(model.parameters, Qt::UserRole);
        if (model.active > 0 && model.active < 0.95 * model.parameters)
            size->setToolTip(tr("%1 at work for a token").arg(count_words(model.active)));
        models_->appendRow({name, size});
    }
    list_->sortByColumn(0, Qt::AscendingOrder);
    list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    list_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    list_->header()->setStretchLastSection(false);
}

void ModelList::choose(const QString& model)
{
    search_->setText(model);
    found_->setFilterFixedString(QString());
    chosen_ = model.trimmed().toStdString();
    read();
}

// What is found is listed; what is not is taken for a file or a published name.
void ModelList::take_text()
{
    const QString text = search_->text().trimmed();
    list_->setCurrentIndex({});
    found_->setFilterFixedString(text);
    chosen_ = text.toStdString();
    read();
}

void ModelList::take_row()
{
    const QModelIndex index = list_->currentIndex().siblingAtColumn(0);
    if (!index.isValid())
        return;
    search_->setText(index.data().toString());
    chosen_ = search_->text().toStdString();
    read();
}

void ModelList::read()
{
    valid_ = false;
    if (chosen_.empty()) {
        reading_.cancel();
        facts_->setText(tr("Choose a model, or name its config.json."));
        emit changed();
        return;
    }
    reading_.start([this, name = chosen_](const WorkControl&) -> BackgroundTask::Answer {
        auto facts = std::make_shared<const Checked<Json>>(model_facts(name, any_length));
        return [this, facts] {
            valid_ = facts->has_value();
            const bool searching = !valid_ && found_->rowCount() > 0;
            if (valid_)
                facts_->setText(model_words(**facts));
            else if (searching)
                facts_->setText(tr("%n models: choose one", nullptr, found_->rowCount()));
            else
                facts_->setText(QStringLiteral("✕ %1 (%2)")
                                    .arg(text_of(facts->error().front().message),
                                         text_of(facts->error().front().hint)));
            emit changed();
        };
    });
    emit changed();
}

void ModelList::browse()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Model"), QString(),
                                                      tr("Models (*.json);;All files (*)"));
    if (!file.isEmpty())
        choose(file);
}

} // namespace trainyard::gui
