// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::runner {

/// Lets a candidate launch graphs of its own in a call that the judge captures. The runtime refuses that (error 900),
/// which would leave such a candidate without the check of its captured call, and tell it that it is captured. So the
/// runner answers the runtime's functions around executable graphs itself: it keeps a copy of the graph behind each
/// one, up to date with every change, and a launch on a stream that is captured adds that copy as a child graph. What
/// cannot be copied (memory nodes) is refused when the executable is made, captured or not, so that both calls look
/// alike. `trusted`: every call goes straight to the runtime. Call once, after the runtime was loaded. Thread: the
/// runner's.
void installGraphGate(bool trusted);

} // namespace espalier::runner
