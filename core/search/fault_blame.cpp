// SPDX-License-Identifier: Apache-2.0
#include "core/search/fault_blame.h"

#include <fmt/format.h>
#include <utility>

namespace espalier {

bool isInfrastructure(const Evaluation& evaluation)
{
    return evaluation.outcome == Outcome::NotRun && evaluation.cause == NotRunCause::Infrastructure;
}

BuildFaults::Next BuildFaults::after(const std::string& key, Evaluation evaluation)
{
    if (++m_faults[key] < 2) {
        return Next::Again;
    }
    m_accused.insert_or_assign(key, std::move(evaluation));
    return Next::Control;
}

void BuildFaults::settled(const std::string& key)
{
    m_faults.erase(key);
    m_convicted.erase(key);
}

void BuildFaults::order(const BuildOrder& root, const std::string& word)
{
    m_control = root;
    m_control->source += fmt::format("\n// control of the compilers, {}\n", word);
}

std::map<std::string, Evaluation> BuildFaults::end()
{
    m_control.reset();
    for (const auto& [key, evaluation] : m_accused) {
        m_faults.erase(key);
    }
    return std::exchange(m_accused, {});
}

bool JudgeFaults::after(const Evaluation& evaluation)
{
    m_inRow = isInfrastructure(evaluation) ? m_inRow + 1 : 0;
    m_reason = evaluation.reason;
    return m_inRow >= mostInRow;
}

std::string JudgeFaults::end(const Evaluation* control)
{
    const std::string reason = std::exchange(m_reason, {});
    const bool well = control && control->outcome != Outcome::NotRun;
    forget();
    return well ? std::string() : reason;
}

void JudgeFaults::forget()
{
    m_inRow = 0;
    m_control.reset();
}

} // namespace espalier
