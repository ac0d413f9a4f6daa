// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tuning_method.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

constexpr double nearby = 0.5;         ///< how much a try says about the value beside its own
constexpr std::size_t fewestKnown = 4; ///< before the model says anything
constexpr int sampled = 256;           ///< points of a grid that is too large to be listed
constexpr double sameMerit = 1e-12;

/// How often each value stands in the points, smoothed, as a density.
std::vector<double> densityOf(const std::vector<const TunedTry*>& tries, std::size_t dimension, std::size_t values)
{
    std::vector<double> density(values, 1.0);
    double sum = static_cast<double>(values);
    for (const TunedTry* one : tries) {
        const std::size_t at = one->point[dimension];
        for (std::size_t v = at == 0 ? 0 : at - 1; v < std::min(values, at + 2); ++v) {
            density[v] += v == at ? 1.0 : nearby;
            sum += v == at ? 1.0 : nearby;
        }
    }
    for (double& one : density) {
        one /= sum;
    }
    return density;
}

class Chooser
{
public:
    Chooser(const TuningSpace& space, const std::vector<TunedTry>& tries, TuningRandom& random)
        : m_space(space), m_random(random)
    {
        for (const TunedTry& one : tries) {
            m_tried.insert(one.point);
            if (one.known) {
                m_ranked.push_back(&one);
            }
        }
        std::stable_sort(m_ranked.begin(), m_ranked.end(), [](const TunedTry* a, const TunedTry* b) {
            return a->score.value_or(-1) > b->score.value_or(-1);
        });
    }

    std::optional<TuningPoint> untried()
    {
        for (int attempt = 0; attempt < 64; ++attempt) {
            const auto point = m_space.anyPoint(m_random);
            if (point && !m_tried.contains(*point)) {
                return point;
            }
        }
        std::vector<TuningPoint> rest = candidates();
        return rest.empty() ? std::nullopt : std::optional(rest[m_random.below(rest.size())]);
    }

    /// An untried neighbour of the known point of that rank.
    std::optional<TuningPoint> near(std::size_t rank)
    {
        if (rank >= m_ranked.size() || !m_ranked[rank]->score) {
            return std::nullopt;
        }
        std::vector<TuningPoint> points = m_space.neighboursOf(m_ranked[rank]->point);
        std::erase_if(points, [this](const TuningPoint& point) { return m_tried.contains(point); });
        return points.empty() ? std::nullopt : std::optional(points[m_random.below(points.size())]);
    }

    std::optional<TuningPoint> modelled()
    {
        if (m_ranked.size() < fewestKnown || !m_ranked.front()->score) {
            return std::nullopt;
        }
        const std::size_t good = std::max<std::size_t>(2, (m_ranked.size() + 3) / 4);
        std::vector<const TunedTry*> best, others;
        for (std::size_t i = 0; i < m_ranked.size(); ++i) {
            (i < good && m_ranked[i]->score ? best : others).push_back(m_ranked[i]);
        }
        std::vector<std::vector<double>> merit(m_space.dimensions());
        for (std::size_t d = 0; d < m_space.dimensions(); ++d) {
            merit[d] = densityOf(best, d, m_space.values(d));
            const std::vector<double> bad = densityOf(others, d, m_space.values(d));
            for (std::size_t v = 0; v < bad.size(); ++v) {
                merit[d][v] = std::log(merit[d][v] / bad[v]);
            }
        }
        std::vector<TuningPoint> first;
        double most = 0;
        for (TuningPoint& point : candidates()) {
            double sum = 0;
            for (std::size_t d = 0; d < point.size(); ++d) {
                sum += merit[d][point[d]];
            }
            if (first.empty() || sum > most + sameMerit) {
                first.clear();
                most = sum;
            }
            if (std::abs(sum - most) <= sameMerit) {
                first.push_back(std::move(point));
            }
        }
        return first.empty() ? std::nullopt : std::optional(first[m_random.below(first.size())]);
    }

private:
    /// What is untried: all of it, or samples and the neighbours of what is good.
    std::vector<TuningPoint> candidates()
    {
        std::vector<TuningPoint> points = m_space.points();
        if (!m_space.listed()) {
            for (int i = 0; i < sampled; ++i) {
                if (auto point = m_space.anyPoint(m_random)) {
                    points.push_back(std::move(*point));
                }
            }
            for (std::size_t i = 0; i < std::min<std::size_t>(3, m_ranked.size()); ++i) {
                const auto near = m_space.neighboursOf(m_ranked[i]->point);
                points.insert(points.end(), near.begin(), near.end());
            }
        }
        std::erase_if(points, [this](const TuningPoint& point) { return m_tried.contains(point); });
        return points;
    }

    const TuningSpace& m_space;
    TuningRandom& m_random;
    std::set<TuningPoint> m_tried;
    std::vector<const TunedTry*> m_ranked; ///< those with an outcome, best first, failures last
};

/// Whose neighbour the `turn`-th try of the halving is: 0 1 2 3, 0 1, 0 for four starting points.
std::optional<std::size_t> halvingRank(int turn, int starts)
{
    for (int kept = starts / 2; kept >= 1; kept /= 2) {
        if (turn < kept) {
            return static_cast<std::size_t>(turn);
        }
        turn -= kept;
    }
    return std::nullopt;
}

} // namespace

std::optional<TuningPoint> nextTuningPoint(const TuningSpace& space, const std::vector<TunedTry>& tries,
                                           TuningRandom& random, int ordinal, int planned)
{
    Chooser chooser(space, tries, random);
    const int starts = std::clamp(planned / 3, 3, 8);
    std::optional<TuningPoint> point;
    if (ordinal >= starts) {
        if (const auto rank = halvingRank(ordinal - starts, starts)) {
            point = chooser.near(*rank);
        } else if (ordinal % 4 == 3) {
            point = chooser.near(0);
        }
        if (!point) {
            point = chooser.modelled();
        }
    }
    return point ? point : chooser.untried();
}

} // namespace espalier
