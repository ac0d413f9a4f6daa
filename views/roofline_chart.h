// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QString>
#include <QStringList>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

enum class MemoryLevel { Dram, L2, L1 };
inline constexpr std::array memoryLevels = {MemoryLevel::Dram, MemoryLevel::L2, MemoryLevel::L1};

/// One limit of the device: bytes of a level (GB/s) or operations of a precision (GFLOP/s).
struct ChartRoof {
    std::string id;
    double measured = 0, theory = 0; ///< 0: not known
    bool isMeasured() const { return measured > 0; }
    double value() const { return isMeasured() ? measured : theory; }
};

/// What one candidate asks of one level; zeros: not known.
struct LevelFigure {
    double intensity = 0; ///< FLOP a byte
    double gbs = 0;
    double percent = 0; ///< of the level's roof
};

/// One candidate under the roofs.
struct RooflinePoint {
    NodeId node{0};
    std::optional<NodeId> parent; ///< nearest candidate above
    QString title;
    Provenance provenance = Provenance::Model;
    double timeUs = 0;
    double gflops = 0;
    std::array<LevelFigure, 3> levels; ///< by MemoryLevel
    QString sentence;                  ///< verdict and headroom
    QStringList checks;                ///< why it must be looked at before it is believed: above a roof, wrong counts

    const LevelFigure& at(MemoryLevel level) const { return levels[static_cast<std::size_t>(level)]; }
    /// Log axes have no place for zero.
    bool drawable(MemoryLevel level) const { return gflops > 0 && at(level).intensity > 0; }
};

/// Everything a roofline chart shows. A value; thread: any.
struct RooflineChart {
    std::vector<ChartRoof> bandwidths; ///< ids "dram", "l2", "l1"; those that are known
    std::vector<ChartRoof> rates;      ///< ids "f32", "tensor_f16", …
    std::vector<RooflinePoint> points;

    const RooflinePoint* find(std::optional<NodeId> node) const;
    const ChartRoof* roofOf(MemoryLevel level) const;
    /// The node and those above it that are on the chart, the node first.
    std::vector<const RooflinePoint*> lineage(NodeId node) const;
};

QString nameOf(MemoryLevel level);       ///< "DRAM"
QString roofName(const std::string& id); ///< "DRAM", "FP32", "tensor TF32"; an unknown id as it is
QString bandwidthText(double gbs);       ///< "4.13 TB/s"
QString rateText(double gflops);         ///< "63.6 TFLOP/s"

/// One line a point, figures unrounded, for a spreadsheet; roofs first.
QString csvOf(const RooflineChart& chart);
/// A field as CSV wants it: quoted where it must be.
QString csvField(const QString& text);

} // namespace espalier
