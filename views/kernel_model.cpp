// SPDX-License-Identifier: GPL-3.0-only
#include "views/kernel_model.h"

#include "core/analysis/occupancy.h"
#include "views/format.h"
#include "views/theme.h"

#include <QLocale>
#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>

namespace espalier {

namespace {

QString demangled(const std::string& name)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && text ? QString::fromUtf8(text.get()) : format::text(name);
}

/// Without parameters and anonymous namespaces: what a person calls it.
QString shortName(QString name)
{
    name.remove(QStringLiteral("(anonymous namespace)::"));
    if (name.startsWith(QStringLiteral("void "))) {
        name.remove(0, 5);
    }
    const qsizetype open = name.indexOf(QLatin1Char('('));
    return open > 0 ? name.left(open) : name;
}

/// "sm_90a" is 9.0, "120" is 12.0.
std::pair<int, int> capabilityIn(const std::string& architecture)
{
    int number = 0;
    for (const char c : architecture) {
        if (c >= '0' && c <= '9') {
            number = std::min(number * 10 + (c - '0'), 9999);
        }
    }
    return {number / 10, number % 10};
}

qlonglong productOf(const std::vector<int>& sizes)
{
    qlonglong product = sizes.empty() ? 0 : 1;
    for (const int size : sizes) {
        product *= size;
    }
    return product;
}

void addLaunch(KernelRow& row, const ProfiledKernel& kernel, const std::string& architecture)
{
    const qlonglong blocks = productOf(kernel.grid), threads = productOf(kernel.block);
    row.threads = int(std::min<qlonglong>(threads, 1 << 16));
    if (threads > 0) {
        row.launch = QStringLiteral("%1 × %2").arg(format::count(std::uint64_t(blocks)), QString::number(threads));
    }
    row.registers = std::max(row.registers, kernel.registers);
    row.dynamicSharedBytes = kernel.dynamicSharedBytes;
    row.staticSharedBytes = std::max(row.staticSharedBytes, kernel.staticSharedBytes);
    row.occupancy = kernel.occupancyLimit;
    row.limitedBy = format::text(kernel.limitedBy);
    if (row.occupancy <= 0 && row.threads > 0) {
        const auto [major, minor] = capabilityIn(architecture);
        const Occupancy computed =
            occupancyOf({row.threads, row.registers, row.staticSharedBytes + row.dynamicSharedBytes}, major, minor);
        row.occupancy = computed.percent;
        row.limitedBy = format::text(computed.limitedBy);
    }
}

} // namespace

std::vector<KernelRow> kernelRows(const Evaluation& evaluation)
{
    std::vector<KernelRow> rows;
    const std::string architecture = evaluation.build ? evaluation.build->architecture : std::string();
    const auto start = [&](const std::string& name) -> KernelRow& {
        KernelRow row;
        row.fullName = demangled(name);
        row.name = shortName(row.fullName);
        rows.push_back(std::move(row));
        return rows.back();
    };
    if (evaluation.build) {
        for (const KernelResources& kernel : evaluation.build->kernels) {
            KernelRow& row = start(kernel.kernel);
            row.registers = kernel.registers;
            row.spillStoreBytes = kernel.spillStoreBytes;
            row.spillLoadBytes = kernel.spillLoadBytes;
            row.staticSharedBytes = kernel.sharedBytes;
            row.localBytes = kernel.stackBytes;
        }
    }
    if (evaluation.profile) {
        for (const ProfiledKernel& kernel : evaluation.profile->kernels) {
            // The build's names are demangled already, those of launches are not.
            const auto found =
                std::find_if(rows.begin(), rows.end(),
                             [name = demangled(kernel.name)](const KernelRow& row) { return row.fullName == name; });
            KernelRow& row = found == rows.end() ? start(kernel.name) : *found;
            addLaunch(row, kernel, architecture);
            row.localBytes = std::max(row.localBytes, kernel.localBytes);
        }
    }
    return rows;
}

KernelModel::KernelModel(ThemeManager& themes, QObject* parent) : QAbstractTableModel(parent), m_themes(themes)
{
    connect(&themes, &ThemeManager::themeChanged, this, [this] {
        if (!m_rows.empty()) {
            emit dataChanged(index(0, 0), index(int(m_rows.size()) - 1, columns - 1));
        }
    });
}

void KernelModel::setRows(std::vector<KernelRow> rows)
{
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int KernelModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int KernelModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(columns);
}

QString KernelModel::textAt(const KernelRow& row, int column) const
{
    const auto bytes = [](int count) {
        return count == 0 ? QStringLiteral("0") : tr("%1 B").arg(QLocale(QLocale::English).toString(count));
    };
    switch (column) {
    case Name:
        return row.name;
    case Registers:
        return QString::number(row.registers);
    case Spills:
        return row.spillStoreBytes + row.spillLoadBytes == 0
                   ? tr("none")
                   : tr("%1 / %2 B").arg(row.spillStoreBytes).arg(row.spillLoadBytes);
    case Shared:
        return row.dynamicSharedBytes > 0
                   ? tr("%1 + %2").arg(bytes(row.staticSharedBytes), bytes(row.dynamicSharedBytes))
                   : bytes(row.staticSharedBytes);
    case Local:
        return bytes(row.localBytes);
    case Launch:
        return row.launch.isEmpty() ? QStringLiteral("–") : row.launch;
    case Occupancy:
        return row.occupancy > 0 ? tr("%1 %").arg(format::number(row.occupancy)) : QStringLiteral("–");
    case Limit:
        return row.occupancy > 0 ? row.limitedBy : QStringLiteral("–");
    default:
        return {};
    }
}

QString KernelModel::tipAt(const KernelRow& row, int column) const
{
    switch (column) {
    case Name:
        return row.fullName;
    case Spills:
        return tr("Bytes that ptxas stores to and loads from local memory because registers ran out");
    case Shared:
        return tr("Shared memory of a block: static, and what the launch adds");
    case Launch:
        return row.launch.isEmpty() ? tr("It was not seen launched: profiling records the launches of one call")
                                    : tr("Blocks × threads of a block");
    case Occupancy:
    case Limit:
        return row.occupancy > 0
                   ? tr("Warps that a multiprocessor can hold of this kernel, of the most it could hold; computed from "
                        "registers, shared memory and block size, not counted. Limited by %1.")
                         .arg(row.limitedBy)
                   : tr("Occupancy needs the block size, which is known once the candidate was profiled");
    default:
        return {};
    }
}

QVariant KernelModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid()) {
        return {};
    }
    const KernelRow& row = m_rows[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return textAt(row, index.column());
    case Qt::ToolTipRole:
        return tipAt(row, index.column());
    case Qt::TextAlignmentRole:
        return int((index.column() == Name || index.column() == Limit ? Qt::AlignLeft : Qt::AlignRight) |
                   Qt::AlignVCenter);
    case Qt::ForegroundRole:
        return index.column() == Spills && row.spillStoreBytes + row.spillLoadBytes > 0
                   ? QVariant(m_themes.theme()[Token::Incorrect])
                   : QVariant();
    default:
        return {};
    }
}

QVariant KernelModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return int((section == Name || section == Limit ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Name:
        return tr("Kernel");
    case Registers:
        return tr("Registers");
    case Spills:
        return tr("Spills");
    case Shared:
        return tr("Shared memory");
    case Local:
        return tr("Stack");
    case Launch:
        return tr("Launched");
    case Occupancy:
        return tr("Occupancy");
    case Limit:
        return tr("Limited by");
    default:
        return {};
    }
}

} // namespace espalier
