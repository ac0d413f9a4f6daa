// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>
#include <functional>

class QObject;

namespace espalier {

/// Puts a model's key into the system keychain, as the entry that core/llm/keys.cpp looks up (server espalier, user
/// NAME), and nowhere else: where no keychain answers nothing is kept. Returns at once; `done` is called from the event
/// loop while `context` lives, with an empty text or one sentence that names `variable` as the remedy. Thread: GUI.
void keepModelKey(const QString& name, const QString& key, const QString& variable, QObject* context,
                  const std::function<void(const QString& problem)>& done);

} // namespace espalier
