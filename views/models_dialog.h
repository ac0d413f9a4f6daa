// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/model_shelf.h"

#include <QDialog>
#include <QFutureWatcher>
#include <memory>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPlainTextEdit;
class QPushButton;

namespace espalier {

/// The saved models: which provider, where, what may be sent to it and whether it answers. Keys go into the system
/// keychain, not into the file. Fields that it does not show (headers, deadlines) stay as they are in the file.
/// Thread: GUI; the Test button looks at the endpoint on another one.
class ModelsDialog : public QDialog
{
    Q_OBJECT
public:
    explicit ModelsDialog(std::shared_ptr<ModelShelf> shelf, QWidget* parent = nullptr);
    void accept() override;

private:
    QWidget* listSide();
    QFormLayout* buildForm();
    void add();
    void remove();
    void fill(int row);
    void takeOver();
    void showRows();
    void test();
    void look();
    void showCheck();
    QString keyName() const;
    llm::ModelProfile* current();

    std::shared_ptr<ModelShelf> m_shelf;
    std::vector<llm::ModelProfile> m_profiles;
    QListWidget* m_list;
    QLineEdit* m_name;
    QComboBox* m_provider;
    QLineEdit* m_baseUrl;
    QComboBox* m_model;
    QLineEdit* m_command;
    QLineEdit* m_folder;
    QLineEdit* m_variable;
    QLineEdit* m_key;
    QDoubleSpinBox* m_weight;
    QWidget* m_channelBox;
    std::vector<QCheckBox*> m_channels;
    QPushButton* m_remove;
    QPushButton* m_test;
    QPlainTextEdit* m_found;
    QLabel* m_problem;
    QFormLayout* m_form;
    QPushButton* m_save = nullptr;
    QFutureWatcher<ModelCheck> m_check;
    std::string m_asked; ///< name of the model that is tested
    bool m_filling = false;
};

} // namespace espalier
