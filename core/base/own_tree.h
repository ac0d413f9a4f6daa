// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"

#include <string>
#include <sys/types.h>

namespace espalier {

/// A fork whose child is the root of a process tree of its own: whatever the child starts, in whatever group or
/// session, ends when the child ends, and when its owner (the thread that forked) does, at whatever moment they are
/// killed.
///
/// Why a process group and PDEATHSIG are not enough: bubblewrap's inner process waits for the outer one to say that its
/// user namespace is ready. If the outer one is killed before, the inner one waits for ever and belongs to init.
///
/// Two ways, the first that this system allows:
/// - the child is the first process of a pid namespace of its own: when it goes, the kernel ends all in it, and the
/// child
///   can be reaped only after that. An ordinary user's child gets a user namespace for it, in which it is the same
///   user.
/// - a keeper stands between the two: a subreaper that hears of the owner's end, ends what is left below it, and then
///   ends as the child did. It is no member of the child's process group, for a SIGKILL to that must not take it; it
///   hands SIGTERM on to it.
/// Thread: one; made for one fork.
class OwnTree
{
public:
    enum class Way { Namespace, UserNamespace, Keeper };

    /// What this system allows, found by trying once. Thread: any.
    static Way possibleWay();

    /// Prepares what the child needs, for nothing allocates in it.
    explicit OwnTree(Way way = possibleWay());

    /// As fork(2); the caller has blocked all signals. In the child, a process group of its own, only async-signal-safe
    /// calls are allowed. -1 with errno when it fails.
    pid_t fork();

    /// Whether what fork() gives is a keeper: SIGKILL would end it before what is below it.
    bool isKept() const { return m_way == Way::Keeper; }
    /// Tells a keeper to end all below it and then itself, as if by SIGKILL. Returns at once. Thread: any.
    static void end(pid_t keeper);

private:
    pid_t forkIntoNamespace();
    pid_t forkUnderKeeper();

    pid_t m_owner;
    UniqueFd m_ownerEnds; ///< a pidfd: readable once the owner's process has ended
    Way m_way;
    std::string m_userMap, m_groupMap;
};

} // namespace espalier
