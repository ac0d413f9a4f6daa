// SPDX-License-Identifier: Apache-2.0
// Saved models, keys, prices, and the examination of a provider.
#include "core/base/subprocess.h"
#include "core/llm/endpoint_check.h"
#include "core/llm/keys.h"
#include "core/llm/prices.h"
#include "core/llm/profiles.h"
#include "tests/llm/http_fixture.h"

#include <cstdlib>
#include <thread>

using namespace espalier;
using namespace espalier::tests;

TEST(Profiles, SurviveTheFile)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-profiles"));
    const auto file = folder.path() / "deep" / "models.json";
    EXPECT_TRUE(llm::loadProfiles(file)->empty()) << "no file, no profiles";
    llm::ModelProfile profile;
    profile.name = "mine";
    profile.provider = "openai";
    profile.baseUrl = "http://localhost:8000";
    profile.model = "m";
    profile.headers = {{"X-Auth-Token", "$MY_TOKEN"}, {"HTTP-Referer", "https://example.com"}};
    profile.stallSeconds = 7.5;
    profile.mostRetries = 1;
    profile.contextTokens = 32768;
    profile.channels = {"task", "parent"};
    profile.command = {"a", "b c"};
    ASSERT_TRUE(llm::saveProfiles({profile, profile}, file));
    const auto loaded = llm::loadProfiles(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    ASSERT_EQ(loaded->size(), 2u);
    EXPECT_EQ(toJson((*loaded)[1]), toJson(profile));
    EXPECT_EQ((*loaded)[0].stallSeconds, 7.5);
    EXPECT_EQ((*loaded)[0].totalSeconds, llm::ModelProfile().totalSeconds);
}

TEST(Profiles, MistakesAreNamed)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-profiles"));
    const auto file = folder.path() / "models.json";
    const auto error = [&](const std::string& text) {
        EXPECT_TRUE(writeFileAtomically(file, text));
        const auto loaded = llm::loadProfiles(file);
        return loaded ? std::string("none") : loaded.error().message;
    };
    EXPECT_NE(error(R"({"models":[{"provider":"openai","modle":"x"}]})").find("models[0].modle: unknown field"),
              std::string::npos);
    EXPECT_NE(error(R"({"models":[{"model":"x"}]})").find("expected a provider"), std::string::npos);
    EXPECT_NE(error(R"({"models":[{"provider":"openai","stall_seconds":-1}]})").find("stall_seconds"),
              std::string::npos);
    EXPECT_NE(error("{").find("line 1"), std::string::npos);
}

TEST(B28_Profiles, ASecretIsNotSaved)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-profiles"));
    llm::ModelProfile profile;
    profile.name = "mine";
    profile.provider = "openai";
    profile.headers = {{"X-Api-Key", "planted-key-123"}};
    EXPECT_NE(
        llm::saveProfiles({profile}, folder.path() / "m.json").error().message.find("X-Api-Key looks like a secret"),
        std::string::npos);
    profile.headers.clear();
    profile.proxy = "http://me:planted@proxy";
    const auto saved = llm::saveProfiles({profile}, folder.path() / "m.json");
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().message.find("planted"), std::string::npos);
}

TEST(Profiles, AHeaderFromTheEnvironmentIsSentAndHidden)
{
    ::setenv("ESPALIER_TEST_TOKEN", "token-value-987654", 1);
    const ScriptedServer server(std::vector{refused(400, "you sent token-value-987654")});
    auto profile = testProfile("openai", server.url());
    profile.headers = {{"X-Tenant", "$ESPALIER_TEST_TOKEN"}};
    const auto outcome = askServer(profile);
    EXPECT_EQ(server.requests().at(0).headers.at("x-tenant"), "token-value-987654");
    EXPECT_EQ(outcome.text().find("token-value-987654"), std::string::npos);
    ::unsetenv("ESPALIER_TEST_TOKEN");
}

TEST(Keys, VariablesInTheirOrder)
{
    llm::ModelProfile profile;
    profile.provider = "openai";
    using Names = std::vector<std::string>;
    EXPECT_EQ(llm::keyVariables(profile, llm::openaiChat()), (Names{"ESPALIER_API_KEY", "OPENAI_API_KEY"}));
    EXPECT_EQ(llm::keyVariables(profile, llm::geminiContent()),
              (Names{"ESPALIER_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"}));
    profile.baseUrl = "https://openrouter.ai/api";
    EXPECT_EQ(llm::keyVariables(profile, llm::openaiChat()), (Names{"ESPALIER_API_KEY", "OPENROUTER_API_KEY"}))
        << "OpenAI's key is not for others";
    profile.keyVariable = "MINE";
    EXPECT_EQ(llm::keyVariables(profile, llm::openaiChat()), Names{"MINE"});
    ::setenv("MINE", "  k-1234567\n", 1);
    const auto found = llm::findKey(profile, llm::openaiChat());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->key, "k-1234567");
    EXPECT_EQ(found->source, "MINE");
    ::unsetenv("MINE");
    EXPECT_EQ(llm::findKey(profile, llm::openaiChat()).error().code, ErrorCode::NotFound);
    profile.baseUrl = "http://localhost:1234";
    EXPECT_EQ(llm::findKey(profile, llm::openaiChat())->key, "") << "a local server needs none";
}

TEST(Keys, TheKeychainOfTheCommandLine)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-keychain"));
    const auto program = folder.path() / "secret-tool";
    ASSERT_TRUE(writeFileAtomically(
        program, "#!/bin/sh\n[ \"$*\" = 'lookup server espalier user mine' ] && echo from-the-keychain\n"));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", (folder.path().string() + ":" + before).c_str(), 1);
    llm::ModelProfile profile;
    profile.name = "mine";
    profile.provider = "anthropic";
    profile.keyVariable = "ESPALIER_TEST_UNSET";
    const auto found = llm::findKey(profile, llm::anthropicMessages());
    ::setenv("PATH", before.c_str(), 1);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->key, "from-the-keychain");
    EXPECT_EQ(found->source, "the keychain");
}

TEST(Prices, CostOfTokens)
{
    const auto table = llm::PriceTable::parse(
        R"({"prices":[{"model":"claude-x-4.5","input":3,"cached_input":0.3,"output":15,"source":"test","date":"2026-01-01"},
        {"model":"long","input":1,"output":2,"above":{"tokens":1000,"input":10,"output":20},"source":"test","date":"2026-01-01"}]})",
        "prices");
    ASSERT_TRUE(table) << table.error().message;
    const llm::Usage usage{.input = 1'000'000, .output = 100'000, .cachedInput = 400'000, .reasoning = 50'000};
    EXPECT_NEAR(*table->costOf(usage, "claude-x-4-5"), 0.6 * 3 + 0.4 * 0.3 + 0.1 * 15, 1e-9)
        << "reasoning is part of the output";
    EXPECT_NEAR(*table->costOf({.input = 1000, .output = 0}, "long"), 0.001, 1e-12);
    EXPECT_NEAR(*table->costOf({.input = 1001, .output = 100}, "long"), 0.01001 + 0.002, 1e-12);
    EXPECT_EQ(table->costOf(usage, "nobody"), std::nullopt) << "unknown, not 0";
    EXPECT_EQ(table->costOf(llm::Usage(), "long"), std::nullopt);
    for (const char* name : {"anthropic/claude-x-4.5", "claude-x-4-5-20260101", "Claude-X-4-5-latest",
                             "claude-x-4-5:beta", "claude-x-4-5-2026-01-01"}) {
        EXPECT_TRUE(table->find(name)) << name;
    }
    EXPECT_FALSE(table->find("claude-x-4-5-mini"));
    EXPECT_FALSE(table->find(""));
    EXPECT_FALSE(
        llm::PriceTable::parse(R"({"prices":[{"model":"m","input":-1,"output":2,"source":"","date":""}]})", "p"));
    EXPECT_NE(llm::PriceTable::parse(R"({"prices":[{"model":"m","input":1,"output":2}]})", "p")
                  .error()
                  .message.find("source"),
              std::string::npos)
        << "a price without a source is none";
}

TEST(Prices, TheTableThatShipsNamesItsSources)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-prices"));
    ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
    auto table = llm::PriceTable::load();
    ASSERT_TRUE(table) << table.error().message;
    ASSERT_GT(table->prices().size(), 5u);
    for (const llm::Price& price : table->prices()) {
        EXPECT_FALSE(price.source.empty() || price.date.empty()) << price.model;
        EXPECT_LE(price.rates.cachedInput, price.rates.input) << price.model;
        EXPECT_EQ(table->find(price.model), &price) << price.model << " stands twice";
    }
    const std::string first = table->prices().front().model;
    ASSERT_TRUE(makeDirectories(folder.path() / "espalier"));
    ASSERT_TRUE(writeFileAtomically(folder.path() / "espalier" / "prices.json",
                                    R"({"prices":[{"model":")" + first +
                                        R"(","input":77,"output":78,"source":"me","date":"today"}]})"));
    table = llm::PriceTable::load();
    EXPECT_EQ(table->find(first)->rates.input, 77) << "the user's come first";
    ::unsetenv("XDG_CONFIG_HOME");
}

TEST(Doctor, ListsWhatIsOffered)
{
    const ScriptedServer server(std::vector{Reply{
        .body = R"({"object":"list","data":[{"id":"b"},{"id":"test-model"}]})", .contentType = "application/json"}});
    auto report = llm::checkEndpoint(testProfile("openai", server.url()));
    EXPECT_TRUE(report.good) << report.error;
    EXPECT_EQ(report.urlsTried, std::vector<std::string>{server.url() + "/v1/models"});
    EXPECT_EQ(report.models, (std::vector<std::string>{"b", "test-model"}));
    EXPECT_EQ(report.offered, true);
    EXPECT_EQ(server.requests()[0].method, "GET");
}

TEST(Doctor, B26_TriesBothFormsAndNamesThem)
{
    const ScriptedServer server([](const ServedRequest& served, std::size_t) {
        return served.target == "/models" ? Reply{.body = R"({"data":[]})", .contentType = "application/json"}
                                          : Reply{.status = 404, .body = "no"};
    });
    const auto report = llm::checkEndpoint(testProfile("openai", server.url()));
    EXPECT_TRUE(report.good) << report.error;
    EXPECT_EQ(report.urlsTried.size(), 2u);
    EXPECT_EQ(report.offered, std::nullopt);
}

TEST(Doctor, QuotesTheProvider)
{
    ::setenv("ESPALIER_TEST_KEY", "planted-key-1234", 1);
    const ScriptedServer server(std::vector{refused(401, "Incorrect API key provided: planted-key-1234")});
    const auto report = llm::checkEndpoint(testProfile("openai", server.url() + "/v1"));
    ::unsetenv("ESPALIER_TEST_KEY");
    EXPECT_FALSE(report.good);
    EXPECT_EQ(report.error, "answered 401: Incorrect API key provided: [redacted]; check the key in ESPALIER_TEST_KEY");
    EXPECT_EQ(report.status, 401);
}

TEST(Doctor, TlsWantsAnAuthorityThatItKnows)
{
    if (findProgram("openssl").empty()) {
        GTEST_SKIP() << "openssl is not there to make a certificate and serve with it";
    }
    const auto folder = std::move(*ScratchFolder::create("espalier-tls"));
    const auto certificate = (folder.path() / "certificate.pem").string(), key = (folder.path() / "key.pem").string();
    const auto made =
        runToEnd({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                           "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                           "-keyout", key, "-out", certificate}},
                 "", std::chrono::seconds(30));
    ASSERT_TRUE(made && made->status.success()) << made->err;
    ASSERT_TRUE(makeDirectories(folder.path() / "v1"));
    ASSERT_TRUE(writeFileAtomically(folder.path() / "v1" / "models",
                                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: "
                                    "close\r\n\r\n{\"data\":[{\"id\":\"over-tls\"}]}"));
    const int port = [] {
        const ScriptedServer probe(std::vector{Reply{}});
        return std::atoi(probe.url().substr(probe.url().rfind(':') + 1).c_str());
    }();
    ProcessSpec spec;
    spec.argv = {"openssl", "s_server", "-accept", std::to_string(port), "-cert", certificate, "-key",
                 key,       "-HTTP",    "-quiet"};
    spec.workingDirectory = folder.path().string();
    spec.standardOutput = spec.standardError = ProcessSpec::Stream::Null;
    const auto server = Subprocess::start(spec);
    ASSERT_TRUE(server) << server.error().message;
    auto profile = testProfile("openai", "https://localhost:" + std::to_string(port));
    llm::EndpointReport report;
    for (int tries = 0; tries < 100; ++tries) {
        report = llm::checkEndpoint(profile);
        if (report.error.find("connect to") == std::string::npos) {
            break; // it listens
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    EXPECT_FALSE(report.good);
    EXPECT_NE(report.error.find("ca_bundle"), std::string::npos) << report.error;
    profile.caBundle = certificate;
    report = llm::checkEndpoint(profile);
    EXPECT_TRUE(report.good) << report.error;
    EXPECT_EQ(report.models, std::vector<std::string>{"over-tls"});
}

TEST(Doctor, AsksBriefly)
{
    const ScriptedServer server(std::vector{Reply{.body = chatEvents("ready")}});
    EXPECT_EQ(llm::askBriefly(testProfile("openai", server.url())).value_or("?"), "ready");
    const ScriptedServer bad(std::vector{refused(400, "no such thing")});
    const auto said = llm::askBriefly(testProfile("openai", bad.url()));
    ASSERT_FALSE(said);
    EXPECT_NE(said.error().message.find("no such thing"), std::string::npos);
}

TEST(Doctor, LocalProviders)
{
    llm::ModelProfile profile;
    profile.provider = "command";
    profile.command = {"cat"};
    EXPECT_TRUE(llm::checkEndpoint(profile).good);
    profile.command = {"no-such-program"};
    EXPECT_NE(llm::checkEndpoint(profile).error.find("no-such-program"), std::string::npos);
}
