// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"
#include "core/judge/case_plan.h"
#include "core/model/task.h"

#include <string>

namespace espalier::judge {

/// What no kernel can beat on a device. The goal floor comes from measured roofs and is shown; the physical floor comes
/// from theoretical peaks of the fastest unit that the contract allows and rejects (0.98 of it). For a device whose
/// roofs are not known there is no goal floor, and the physical one is that of its DRAM. A value.
class Floors
{
public:
    /// `roofs`: text of resources/devices/roofs.json. A text that cannot be read gives no floors.
    static Floors create(const DeviceInfo& device, const Task& task, const std::string& roofs);

    double goalUs(const CasePlan& plan) const;
    /// `cold`: the case's bytes come from DRAM; else they may be in a cache, and only its arithmetic bounds it.
    double physicalUs(const CasePlan& plan, bool cold = true) const;

private:
    double m_dramRoof = 0, m_flopRoof = 0; ///< per second, measured
    double m_dramPeak = 0, m_flopPeak = 0; ///< per second, theoretical
};

} // namespace espalier::judge
