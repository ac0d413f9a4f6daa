// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"
#include "core/model/evaluation.h"

#include <string>
#include <vector>

namespace espalier::judge {

/// Where `espalierctl doctor --roofs` keeps what it measured on a device: by device and driver, as a new driver may
/// move clocks and limits. The file's form is that of resources/roofs/roofs.cu.
std::string measuredRoofsFile(const std::string& uuid);

/// The roofs of a device. Measured ones come from `measured` (that file's text), else from `known` (the text of
/// resources/devices/roofs.json, by the device's name); theoretical ones from both. A measured roof above its theory is
/// wrong and left out. Texts that cannot be read give nothing. Pure.
std::vector<Roof> deviceRoofs(const DeviceInfo& device, const std::string& measured, const std::string& known);

/// Those of a simulated device, from the text of its profile: what its time model computes with.
std::vector<Roof> simulatedRoofs(const std::string& profile);

} // namespace espalier::judge
