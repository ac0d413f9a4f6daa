// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"
#include "core/search/library_shelf.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace espalier {

/// Whose fault it is when a build ends for a reason of ours, the candidate's or the machine's. It may be chance, so it
/// is tried once more; when it comes again, the task's root is compiled as a control, under a comment that no cache
/// knows. Where that gets a verdict the machine is well, and the source is one that its compiler does not survive: the
/// candidate ends and the search goes on. Else nothing can be built here. Names are keys of build orders. Thread: the
/// engine's.
class BuildFaults
{
public:
    enum class Next { Again, Control };

    Next after(const std::string& key, Evaluation evaluation);
    void settled(const std::string& key); ///< it has a verdict: what was before is forgotten
    void convict(const std::string& key) { m_convicted.insert(key); } ///< the control was built
    /// Its compilers do not survive it: it is not built again, and who needs its library does without.
    bool convicted(const std::string& key) const { return m_convicted.contains(key); }

    void order(const BuildOrder& root, const std::string& word); ///< the control to be built; `word` is new each time
    const BuildOrder* control() const { return m_control ? &*m_control : nullptr; }
    bool isControl(const std::string& key) const { return m_control && m_control->key() == key; }
    bool awaitsControl(const std::string& key) const { return m_accused.contains(key); }
    /// The control has ended: those that waited for it, with what was said of them last. They are forgotten here.
    std::map<std::string, Evaluation> end();

private:
    std::map<std::string, int> m_faults;
    std::set<std::string> m_convicted;
    std::map<std::string, Evaluation> m_accused; ///< those that a control is built for
    std::optional<BuildOrder> m_control;
};

/// The same for the judge, which has tried each of them twice already: when several candidates in a row could not be
/// run, the root is verified as a control before anything else. Thread: the engine's.
class JudgeFaults
{
public:
    static constexpr int mostInRow = 3;

    /// True when it is time for a control.
    bool after(const Evaluation& evaluation);
    void doubt(const std::string& why) { m_reason = why; } ///< a control is wanted for this reason
    void start(RequestId control) { m_control = control; }
    bool controlling() const { return m_control.has_value(); }
    bool isControl(RequestId id) const { return m_control == id; }
    /// The control has ended, or was lost (nullptr). Empty: the device runs the root, the candidates were to blame.
    std::string end(const Evaluation* control);
    void forget(); ///< another judge: what the last one could not run says nothing

private:
    int m_inRow = 0;
    std::string m_reason;
    std::optional<RequestId> m_control;
};

/// A verdict of ours on the machine, not on a kernel.
bool isInfrastructure(const Evaluation& evaluation);

} // namespace espalier
