// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/worker/evaluator.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier {

/// Several equal devices as one evaluator: each takes one candidate at a time and has a judge of its own, so that every
/// candidate is timed beside its rivals on one device and ratios can be compared. Request ids are those of the jobs. A
/// judge that is lost loses its own job alone. Thread: the engine's. Owns the judges.
class EvaluatorGroup : public Evaluator
{
public:
    /// Errors: InvalidInput where the devices differ in name, driver, architecture or toolkit. `judges`: not empty.
    static Result<std::unique_ptr<Evaluator>> of(std::vector<std::unique_ptr<Evaluator>> judges);

    const JudgeHello& hello() const override { return m_hello; } ///< the first one's, with all uuids, by commas
    int lanes() const override { return static_cast<int>(m_judges.size()); }
    void
    submit(EvaluationJob job) override; ///< to a judge that has none; where all are busy, to the one with the fewest
    void cancel(RequestId id) override;
    int descriptor() const override { return m_poll.get(); }
    int timeoutMilliseconds() const override;
    std::vector<evaluator::Event> receive() override;

private:
    EvaluatorGroup(std::vector<std::unique_ptr<Evaluator>> judges, UniqueFd poll);
    void watchAll();

    std::vector<std::unique_ptr<Evaluator>> m_judges;
    JudgeHello m_hello;
    UniqueFd m_poll; ///< an epoll over their descriptors, which change when a judge is started anew
    std::vector<int> m_watched;
    std::map<RequestId, std::size_t> m_jobs; ///< under way, and whose
};

/// "cuda:0,cuda:1" into its devices. One or none: the text itself.
std::vector<std::string> devicesNamed(const std::string& text);

} // namespace espalier
