// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/node_look.h"

#include <QIcon>

namespace espalier {

/// A node's sign as an icon for lists, cached by look and theme. Thread: GUI.
QIcon signIcon(const NodeLook& look, const Theme& theme);

/// One of our own line icons (resources/icons), drawn in the theme's colours, at any scale.
QIcon themedIcon(const QString& name, const Theme& theme, Token token = Token::Text);

} // namespace espalier
