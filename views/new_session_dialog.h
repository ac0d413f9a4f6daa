// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/engine.h"
#include "core/engine/strategies.h"

#include <QDialog>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace espalier {

/// Task, device, proposers, budget and file of a new session. Says beside the field what is wrong, and keeps its button
/// disabled until nothing is. Thread: GUI.
class NewSessionDialog : public QDialog
{
    Q_OBJECT
public:
    /// `models`: names of saved ones; without any the choice says where they come from.
    explicit NewSessionDialog(const QString& folder, const QStringList& models = {}, QWidget* parent = nullptr);
    /// To choose from; the first one is chosen. None: the engine's default.
    void setStrategies(const std::vector<StrategyDescription>& strategies);
    void setFile(const QString& file);
    void setModels(const QStringList& models);
    EngineOptions options() const;

signals:
    void modelsWanted();

private:
    void chooseTaskFolder();
    void chooseFile();
    void suggestFile();
    void check();

    QString m_folder;
    QComboBox* m_task;
    QComboBox* m_device;
    QComboBox* m_strategy;
    QSpinBox* m_evaluations;
    QSpinBox* m_minutes;
    QCheckBox* m_playbook;
    QCheckBox* m_tuner;
    QComboBox* m_model;
    QDoubleSpinBox* m_usd;
    QLineEdit* m_file;
    QLabel* m_problem;
    QPushButton* m_create = nullptr;
    bool m_fileEdited = false;
};

} // namespace espalier
