// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/verbs.h"
#include "core/llm/endpoint_check.h"
#include "core/llm/prices.h"
#include "core/llm/profiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::ctl {

namespace {

/// A saved profile of that name, else the provider itself; options of the command line go before what is saved.
Result<llm::ModelProfile> profileOf(const ProviderDoctorVerb& options)
{
    ESPALIER_TRY(const std::vector<llm::ModelProfile> saved, llm::loadProfiles());
    const auto named = std::find_if(saved.begin(), saved.end(), [&options](const llm::ModelProfile& each) {
        return each.name == options.provider;
    });
    llm::ModelProfile profile;
    if (named != saved.end()) {
        profile = *named;
    } else {
        profile.provider = options.provider;
    }
    const auto prefer = [](std::string& into, const std::string& given) { into = given.empty() ? into : given; };
    prefer(profile.baseUrl, options.baseUrl);
    prefer(profile.model, options.model);
    prefer(profile.folder, options.folder);
    profile.command = options.command.empty() ? profile.command : options.command;
    return profile;
}

std::string priceText(const llm::ModelProfile& profile)
{
    const auto table = llm::PriceTable::load();
    if (!table) {
        return table.error().message;
    }
    const llm::Price* price = table->find(profile.model);
    return price ? fmt::format("{:g} USD in, {:g} out for a million tokens ({}, {})", price->rates.input,
                               price->rates.output, price->source, price->date)
                 : "not known, so money is not counted; add it to prices.json in the configuration folder";
}

void printReport(const llm::ModelProfile& profile, const llm::EndpointReport& report)
{
    const auto row = [](std::string_view what, std::string_view text) { print(fmt::format("{:<10} {}", what, text)); };
    row("provider", profile.provider);
    for (const std::string& url : report.urlsTried) {
        row("tried", url);
    }
    row("key", report.keySource.empty() ? "none sent" : "from " + report.keySource);
    row("state", report.good ? "ok" : report.error);
    if (!report.models.empty()) {
        row("models", fmt::format("{}", fmt::join(report.models, "\n           ")));
    }
    if (!profile.model.empty()) {
        row("model", fmt::format("{}{}", profile.model,
                                 report.offered ? (*report.offered ? ", offered" : ", not in the list") : ""));
        row("price", priceText(profile));
    }
}

} // namespace

int providerDoctor(const ProviderDoctorVerb& options)
{
    const auto profile = profileOf(options);
    if (!profile) {
        return failWith(profile.error(), options.json);
    }
    llm::EndpointReport report = llm::checkEndpoint(*profile);
    std::string said;
    if (report.good && options.ask) {
        const auto asked = llm::askBriefly(*profile);
        report.good = asked.has_value();
        report.error = asked ? "" : asked.error().message;
        said = asked.value_or("");
    }
    if (options.json) {
        Json json = {{"usable", report.good},        {"provider", profile->provider}, {"model", profile->model},
                     {"urls", report.urlsTried},     {"status", report.status},       {"error", report.error},
                     {"key_from", report.keySource}, {"models", report.models}};
        if (report.offered) {
            json["offered"] = *report.offered;
        }
        if (!said.empty()) {
            json["answer"] = said;
        }
        printJson(json);
    } else {
        printReport(*profile, report);
        if (!said.empty()) {
            print(fmt::format("{:<10} {}", "answered", said));
        }
    }
    return report.good ? exitOk : exitNotRun;
}

} // namespace espalier::ctl
