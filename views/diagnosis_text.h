// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QString>

namespace espalier {

class Theme;

/// Why a candidate is as fast as it is, in words. Pure; thread: any.
/// For the inspector's card: the roofline's verdict and the finding that promises most; empty: nothing is known.
QString diagnosisCard(const NodeDetail& detail, const Theme& theme);
/// Everything that was found, what gains most first, with links "line:42" to the lines; and what could not be looked
/// at.
QString diagnosisPage(const NodeDetail& detail, const Theme& theme);

} // namespace espalier
