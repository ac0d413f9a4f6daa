// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/exchange.h"

#include <string>

namespace espalier::ctl {

/// A question and its answer for people: what was sent where, what it cost, both texts whole.
std::string exchangeText(const Exchange& exchange);
Json exchangeJson(const Exchange& exchange);
Json spendingJson(const Spending& spending);
/// "12,345 tokens in 6 requests, 0.0312 USD (1 request of unknown price)"
std::string spendingText(const Spending& spending);

} // namespace espalier::ctl
