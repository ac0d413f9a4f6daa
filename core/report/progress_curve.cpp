// SPDX-License-Identifier: Apache-2.0
#include "core/report/progress_curve.h"

#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

namespace {

double along(const ProgressPoint& point, ProgressAxis axis)
{
    return axis == ProgressAxis::Usd             ? point.usd
           : axis == ProgressAxis::DeviceSeconds ? point.deviceSeconds
                                                 : static_cast<double>(point.evaluations);
}

const char* nameOf(ProgressAxis axis)
{
    return axis == ProgressAxis::Usd             ? "USD for models"
           : axis == ProgressAxis::DeviceSeconds ? "seconds of the device"
                                                 : "evaluations";
}

} // namespace

std::vector<ProgressPoint> progressOf(const NodeBook& book, const std::map<NodeId, double>& deviceSeconds)
{
    const std::vector<NodeId> leaders = book.leaders(); // in id order
    std::vector<ProgressPoint> points;
    ProgressPoint now;
    for (const auto& [id, node] : book.nodes()) {
        now.usd += node.usd.value_or(0);
        const auto spent = deviceSeconds.find(id);
        now.deviceSeconds += spent == deviceSeconds.end() ? 0 : spent->second;
        const bool evaluated = node.kind != NodeKind::Idea && node.state == NodeState::Done && id != taskRoot &&
                               node.cause != NotRunCause::NoSource && node.cause != NotRunCause::Cancelled;
        if (!evaluated) {
            continue;
        }
        ++now.evaluations;
        now.node = id;
        now.improved = node.speedupRoot && std::binary_search(leaders.begin(), leaders.end(), id);
        if (now.improved) {
            now.best = node.speedupRoot->value;
        }
        points.push_back(now);
    }
    return points;
}

std::string progressSvg(const std::vector<ProgressPoint>& points, ProgressAxis axis, Provenance provenance)
{
    const std::string_view sign = signOf(provenance);
    constexpr double width = 720, height = 300, left = 60, right = 20, top = 16, bottom = 44;
    double lastX = axis == ProgressAxis::Evaluations ? 1 : 0, top1 = 1;
    for (const ProgressPoint& point : points) {
        lastX = std::max(lastX, along(point, axis));
        top1 = std::max(top1, point.best);
    }
    lastX = lastX > 0 ? lastX : 1;
    const double highest = 1 + (top1 - 1) * 1.1 + (top1 > 1 ? 0 : 0.5);
    const auto xOf = [&](double x) { return left + x / lastX * (width - left - right); };
    const auto yOf = [&](double y) { return height - bottom - (y - 1) / (highest - 1) * (height - top - bottom); };
    std::string svg =
        fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                    "font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"best speed-up so far\">\n"
                    "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
                    width, height);
    for (int i = 0; i <= 4; ++i) {
        const double y = 1 + (highest - 1) * i / 4, x = lastX * i / 4;
        svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n", left,
                           yOf(y), width - right, yOf(y));
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#333333\">{}{:.2f}x</text>\n",
                           left - 6, yOf(y) + 4, sign, y);
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#333333\">{:.4g}</text>\n",
                           xOf(x), height - bottom + 16, x);
    }
    std::string path = fmt::format("M{:.1f} {:.1f}", xOf(0), yOf(1));
    double before = 1;
    std::string marks;
    for (const ProgressPoint& point : points) {
        const double x = xOf(along(point, axis));
        path += fmt::format(" L{:.1f} {:.1f} L{:.1f} {:.1f}", x, yOf(before), x, yOf(point.best));
        if (point.improved) {
            marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#1f6f3f\"><title>node {}: "
                                 "{}{:.3f}x</title></circle>\n",
                                 x, yOf(point.best), point.node.value, sign, point.best);
        }
        before = point.best;
    }
    svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#1f6f3f\" stroke-width=\"2\"/>\n{}", path, marks);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#333333\">{}</text>\n</svg>\n",
                       (left + width - right) / 2, height - 8, nameOf(axis));
    return svg;
}

} // namespace espalier
