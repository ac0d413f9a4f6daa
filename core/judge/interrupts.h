// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::judge {

/// What may end a job from outside while the judge waits for a runner: the engine cancels it, or goes away.
/// Thread: the judge's.
class Interrupts
{
public:
    virtual ~Interrupts() = default;
    virtual int descriptor() const = 0; ///< readable when service() has something to do
    virtual void service() = 0;         ///< reads what the engine said; never blocks
    virtual bool cancelled() const = 0; ///< the current job is not wanted any more
};

/// Nobody interrupts (tests, start-up).
class NoInterrupts final : public Interrupts
{
public:
    int descriptor() const override { return -1; }
    void service() override {}
    bool cancelled() const override { return false; }
};

} // namespace espalier::judge
