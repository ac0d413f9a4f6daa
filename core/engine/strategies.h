// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an observer may offer for command::SetStrategy: the strategies as they describe themselves. Values; thread:
/// any.
#include "core/search/strategy.h"
