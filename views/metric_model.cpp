// SPDX-License-Identifier: GPL-3.0-only
#include "views/metric_model.h"

#include "views/format.h"
#include "views/roofline_chart.h"
#include "views/sign_icon.h"

#include <cmath>

namespace espalier {

namespace {

QString signedText(const QString& figure, double value)
{
    return value > 0                             ? QLatin1Char('+') + figure
           : figure.startsWith(QLatin1Char('-')) ? QChar(0x2212) + figure.mid(1)
                                                 : figure;
}

/// A spare row number after the source's own, so that equal keys keep the table's order.
QVariant keyOf(const QModelIndex& index)
{
    return index.column() == 0 ? QVariant(index.row()) : index.data(MetricModel::FigureRole);
}

} // namespace

MetricModel::MetricModel(ThemeManager& themes, QObject* parent) : QAbstractTableModel(parent), m_themes(themes)
{
    connect(&themes, &ThemeManager::themeChanged, this, &MetricModel::changedAll);
}

void MetricModel::setTable(MetricTable table)
{
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
}

void MetricModel::setNoise(double percent)
{
    m_noise = percent;
    changedAll();
}

void MetricModel::changedAll()
{
    if (rowCount() > 0 && columnCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
}

void MetricModel::setPinned(const QModelIndex& index, bool pinned)
{
    if (!index.isValid()) {
        return;
    }
    const QString id = index.data(IdRole).toString();
    if (pinned) {
        m_pinned.insert(id);
    } else {
        m_pinned.remove(id);
    }
    emit dataChanged(this->index(index.row(), 0), this->index(index.row(), columnCount() - 1));
}

void MetricModel::setPinnedIds(const QStringList& ids)
{
    m_pinned = QSet<QString>(ids.begin(), ids.end());
    changedAll();
}

QStringList MetricModel::pinnedIds() const
{
    QStringList ids(m_pinned.begin(), m_pinned.end());
    ids.sort();
    return ids;
}

MetricModel::Kind MetricModel::kindOf(int column) const
{
    if (column <= 1) {
        return column == 0 ? Kind::Name : Kind::Value;
    }
    constexpr Kind kinds[] = {Kind::Value, Kind::Delta, Kind::Percent};
    return kinds[(column - 2) % 3];
}

std::size_t MetricModel::candidateOf(int column) const
{
    return column <= 1 ? 0 : std::size_t(1 + (column - 2) / 3);
}

MetricChange MetricModel::changeAt(const QModelIndex& index) const
{
    return changeOf(m_table, m_table.rows[std::size_t(index.row())], candidateOf(index.column()), m_noise);
}

int MetricModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_table.rows.size());
}

int MetricModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || m_table.columns.empty() ? 0 : int(3 * m_table.columns.size()) - 1;
}

QString MetricModel::textAt(const QModelIndex& index) const
{
    const MetricRow& row = m_table.rows[std::size_t(index.row())];
    const std::size_t candidate = candidateOf(index.column());
    const Kind kind = kindOf(index.column());
    if (kind == Kind::Name) {
        return row.name;
    }
    if (!row.cells[candidate]) {
        return kind == Kind::Value ? QStringLiteral("–") : QString();
    }
    const QString about = m_table.columns[candidate].provenance == Provenance::Model ? QStringLiteral("≈ ") : QString();
    if (kind == Kind::Value) {
        return about + metricFigure(row.cells[candidate]->value, row.unit);
    }
    const MetricChange change = changeAt(index);
    if (change.kind == Change::None || change.kind == Change::Incomparable) {
        return change.kind == Change::Incomparable ? QStringLiteral("–") : QString();
    }
    if (kind == Kind::Delta) {
        return about + signedText(metricFigure(change.delta, row.unit), change.delta);
    }
    return change.percent
               ? about + signedText(format::number(*change.percent, 2) + QStringLiteral(" %"), *change.percent)
               : QString();
}

QVariant MetricModel::figureAt(const QModelIndex& index) const
{
    const MetricRow& row = m_table.rows[std::size_t(index.row())];
    const std::size_t candidate = candidateOf(index.column());
    const Kind kind = kindOf(index.column());
    if (kind == Kind::Name || !row.cells[candidate]) {
        return {};
    }
    if (kind == Kind::Value) {
        return row.cells[candidate]->value;
    }
    const MetricChange change = changeAt(index);
    if (change.kind == Change::None || change.kind == Change::Incomparable) {
        return {};
    }
    return kind == Kind::Delta ? QVariant(change.delta) : change.percent ? QVariant(*change.percent) : QVariant();
}

QString MetricModel::tipAt(const QModelIndex& index) const
{
    const MetricRow& row = m_table.rows[std::size_t(index.row())];
    const std::size_t candidate = candidateOf(index.column());
    if (kindOf(index.column()) == Kind::Name) {
        const QString merit = row.better == BetterWhen::Lower    ? tr("Lower is better.")
                              : row.better == BetterWhen::Higher ? tr("Higher is better.")
                                                                 : tr("It explains; neither direction is a merit.");
        return QStringLiteral("%1\n%2").arg(row.description.isEmpty() ? row.name : row.description, merit);
    }
    if (!row.cells[candidate]) {
        return tr("This candidate has no such figure.");
    }
    const MetricColumn& column = m_table.columns[candidate];
    if (kindOf(index.column()) == Kind::Value) {
        QString tip =
            tr("%1, %2").arg(QString::number(row.cells[candidate]->value, 'g', 10) + QLatin1Char(' ') + row.unit,
                             format::provenance(column.provenance));
        if (row.cells[candidate]->peak > 0) {
            tip += tr("\n%1 % of at most %2")
                       .arg(format::number(100 * row.cells[candidate]->value / row.cells[candidate]->peak),
                            metricFigure(row.cells[candidate]->peak, row.unit));
        }
        return column.source.isEmpty() ? tip : tip + QLatin1Char('\n') + column.source;
    }
    return changeWord(changeAt(index).kind);
}

QVariant MetricModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid()) {
        return {};
    }
    const MetricRow& row = m_table.rows[std::size_t(index.row())];
    const Kind kind = kindOf(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return textAt(index);
    case FigureRole:
        return figureAt(index);
    case FillRole:
        return kind == Kind::Value ? QVariant(fillOf(row, candidateOf(index.column()))) : QVariant();
    case PinnedRole:
        return m_pinned.contains(format::text(row.id));
    case IdRole:
        return format::text(row.id);
    case Qt::ToolTipRole:
        return tipAt(index);
    case Qt::TextAlignmentRole:
        return int((kind == Kind::Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::DecorationRole:
        return kind == Kind::Name && m_pinned.contains(format::text(row.id))
                   ? QVariant(themedIcon(QStringLiteral("pin"), m_themes.theme()))
                   : QVariant();
    case Qt::FontRole: {
        QFont font;
        font.setItalic(kind != Kind::Name &&
                       m_table.columns[candidateOf(index.column())].provenance == Provenance::Model);
        return font;
    }
    case Qt::ForegroundRole: {
        if (kind != Kind::Delta && kind != Kind::Percent) {
            return {};
        }
        const Change change = changeAt(index).kind;
        return change == Change::Better      ? QVariant(m_themes.theme()[Token::Passed])
               : change == Change::Worse     ? QVariant(m_themes.theme()[Token::Incorrect])
               : change == Change::Different ? QVariant()
                                             : QVariant(m_themes.theme()[Token::Muted]);
    }
    case Qt::AccessibleTextRole:
        return kind == Kind::Name
                   ? QVariant(row.name)
                   : QVariant(
                         QStringLiteral("%1 %2")
                             .arg(textAt(index), kind == Kind::Value ? QString() : changeWord(changeAt(index).kind))
                             .trimmed());
    default:
        return {};
    }
}

QVariant MetricModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section >= columnCount()) {
        return {};
    }
    const Kind kind = kindOf(section);
    if (role == Qt::TextAlignmentRole) { // what is cut off is never the number that a name begins with
        return int((kind == Kind::Name || kind == Kind::Value ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (kind == Kind::Name) {
        return role == Qt::DisplayRole ? QVariant(tr("Metric")) : QVariant();
    }
    const MetricColumn& column = m_table.columns[candidateOf(section)];
    if (role == Qt::ToolTipRole) {
        return tr("%1  %2\n%3\n%4")
            .arg(QString::number(column.node.value), column.title, format::provenance(column.provenance), column.source)
            .trimmed();
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (kind) {
    case Kind::Delta:
        return tr("Change");
    case Kind::Percent:
        return tr("%");
    default:
        return QStringLiteral("%1  %2").arg(column.node.value).arg(column.title);
    }
}

MetricProxy::MetricProxy(MetricModel& model, QObject* parent) : QSortFilterProxyModel(parent), m_model(model)
{
    setSourceModel(&model);
    setDynamicSortFilter(true);
    sort(0);
}

void MetricProxy::setWords(const QString& words)
{
    m_words = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void MetricProxy::setOnlyChanged(bool only)
{
    m_onlyChanged = only;
    invalidateFilter();
}

bool MetricProxy::filterAcceptsRow(int row, const QModelIndex&) const
{
    const MetricRow& metric = m_model.table().rows[std::size_t(row)];
    if (m_onlyChanged) {
        bool changed = false;
        for (std::size_t i = 1; i < metric.cells.size(); ++i) {
            const Change change = changeOf(m_model.table(), metric, i, m_model.noise()).kind;
            changed = changed || change == Change::Better || change == Change::Worse || change == Change::Different;
        }
        if (!changed) {
            return false;
        }
    }
    const QString text = metric.name + QLatin1Char(' ') + metric.group + QLatin1Char(' ') + format::text(metric.id);
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

bool MetricProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const bool descending = sortOrder() == Qt::DescendingOrder;
    const bool a = left.data(MetricModel::PinnedRole).toBool(), b = right.data(MetricModel::PinnedRole).toBool();
    if (a != b) {
        return a != descending; // pinned ones on top in both orders
    }
    const QVariant keyLeft = keyOf(left), keyRight = keyOf(right);
    if (keyLeft.isValid() != keyRight.isValid()) {
        return keyLeft.isValid() != descending; // what has no figure at the end in both orders
    }
    if (keyLeft.toDouble() != keyRight.toDouble()) {
        return keyLeft.toDouble() < keyRight.toDouble();
    }
    return descending ? left.row() > right.row() : left.row() < right.row();
}

QString markdownOf(const QAbstractItemModel& shown)
{
    const auto cell = [](const QString& text) {
        QString escaped = text;
        escaped.replace(QLatin1Char('|'), QStringLiteral("\\|"));
        return escaped.replace(QChar(0xa0), QLatin1Char(' '));
    };
    QString out = QStringLiteral("|"), rule = QStringLiteral("|");
    for (int column = 0; column < shown.columnCount(); ++column) {
        out += QStringLiteral(" %1 |").arg(cell(shown.headerData(column, Qt::Horizontal).toString()));
        rule += column == 0 ? QStringLiteral(" --- |") : QStringLiteral(" ---: |");
    }
    out += QLatin1Char('\n') + rule + QLatin1Char('\n');
    for (int row = 0; row < shown.rowCount(); ++row) {
        out += QLatin1Char('|');
        for (int column = 0; column < shown.columnCount(); ++column) {
            out += QStringLiteral(" %1 |").arg(cell(shown.index(row, column).data().toString()));
        }
        out += QLatin1Char('\n');
    }
    return out;
}

QString csvOf(const QAbstractItemModel& shown, const MetricModel& model)
{
    QString out = QStringLiteral("id,unit");
    for (int column = 1; column < shown.columnCount(); ++column) {
        const MetricColumn& about = model.table().columns[model.candidateOf(column)];
        const char* suffix = model.kindOf(column) == MetricModel::Kind::Value   ? ""
                             : model.kindOf(column) == MetricModel::Kind::Delta ? " change"
                                                                                : " change %";
        out += QLatin1Char(',') + csvField(QStringLiteral("%1 %2 (%3)%4")
                                               .arg(QString::number(about.node.value), about.title,
                                                    format::text(nameOf(about.provenance)), QLatin1String(suffix)));
    }
    out += QLatin1Char('\n');
    std::map<QString, QString> units;
    for (const MetricRow& row : model.table().rows) {
        units.emplace(format::text(row.id), row.unit);
    }
    for (int row = 0; row < shown.rowCount(); ++row) {
        const QString id = shown.index(row, 0).data(MetricModel::IdRole).toString();
        out += csvField(id) + QLatin1Char(',') + csvField(units[id]);
        for (int column = 1; column < shown.columnCount(); ++column) {
            const QVariant figure = shown.index(row, column).data(MetricModel::FigureRole);
            out += QLatin1Char(',') + (figure.isValid() ? QString::number(figure.toDouble(), 'g', 12) : QString());
        }
        out += QLatin1Char('\n');
    }
    return out;
}

} // namespace espalier
