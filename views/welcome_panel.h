// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QWidget>

namespace espalier {

/// What the window shows without a session: what Espalier does, and three ways to begin. Thread: GUI.
class WelcomePanel : public QWidget
{
    Q_OBJECT
public:
    explicit WelcomePanel(QWidget* parent = nullptr);

signals:
    void sampleWanted();
    void newWanted();
    void openWanted();
};

} // namespace espalier
