// SPDX-License-Identifier: Apache-2.0
// A judge that speaks the protocol and misbehaves on request: `fake_judge judge --device BEHAVIOUR[:FILE]`. FILE is
// made at the first misbehaviour; once it is there, the judge is well-behaved.
#include "core/worker/protocol.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <unistd.h>

namespace {

using namespace espalier;

void say(const worker::FromJudge& message)
{
    std::cout << worker::encode(message) << std::endl;
}

Evaluation passed()
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::Passed;
    evaluation.stage = Stage::Time;
    evaluation.reason = "verified and timed";
    return evaluation;
}

void stall()
{
    for (;;) {
        ::pause();
    }
}

struct FakeJudge {
    std::string behaviour;
    std::set<std::string> stored;

    bool is(const char* name) const { return behaviour == name; }

    void hello()
    {
        if (is("stall-hello")) {
            stall();
        }
        if (is("no-device")) {
            say(worker::Complaint{"there is no GPU here; use --device sim"});
            std::exit(1);
        }
        if (is("print-and-exit")) {
            std::cerr << "libcuda.so.1: cannot open\n";
            std::exit(3);
        }
        worker::HelloReply reply;
        reply.version = is("other-version") ? 99 : worker::protocolVersion;
        reply.judge.deviceId = "fake:0";
        reply.judge.deviceName = "Fake device";
        reply.judge.architecture = "90a";
        reply.judge.sandbox = "none: a fake";
        reply.judge.runtime = "13.0";
        reply.judge.simulated = true;
        reply.judge.deviceBytes = 1 << 20;
        say(reply);
    }

    void evaluate(const worker::Evaluate& job)
    {
        if (is("stall-job")) {
            stall();
        }
        if (is("crash-job")) {
            ::raise(SIGKILL);
        }
        if (is("garbage-job")) {
            std::cout << "{\"type\":\"finished\",\"id\":\n" << std::flush;
            return;
        }
        if (is("missing-artefacts") || !stored.contains(job.candidate) || !stored.contains(job.task)) {
            Evaluation evaluation;
            evaluation.reason = "artefact missing";
            return say(worker::Finished{job.id, evaluation});
        }
        if (is("wait-for-cancel")) {
            return;
        }
        say(worker::Progress{job.id, Stage::Verify, "case small"});
        say(worker::Verified{job.id, {}});
        say(worker::Finished{job.id, passed()});
    }

    int run()
    {
        for (std::string line; std::getline(std::cin, line);) {
            const auto message = worker::decodeToJudge(line);
            if (!message) {
                say(worker::Complaint{message.error().message});
            } else if (std::holds_alternative<worker::Hello>(*message)) {
                hello();
            } else if (const auto* have = std::get_if<worker::Have>(&*message)) {
                worker::Missing missing;
                for (const std::string& hash : have->hashes) {
                    if (!stored.contains(hash)) {
                        missing.hashes.push_back(hash);
                    }
                }
                say(missing);
            } else if (const auto* put = std::get_if<worker::Put>(&*message)) {
                stored.insert(put->hash);
                say(worker::Stored{put->hash});
            } else if (const auto* job = std::get_if<worker::Evaluate>(&*message)) {
                evaluate(*job);
            } else if (const auto* cancel = std::get_if<worker::Cancel>(&*message)) {
                Evaluation evaluation;
                evaluation.cause = NotRunCause::Cancelled;
                evaluation.reason = "cancelled";
                say(worker::Finished{cancel->id, evaluation});
            } else {
                return 0;
            }
        }
        return 0;
    }
};

} // namespace

int main(int argc, char** argv)
{
    std::string behaviour = argc > 3 ? argv[3] : "";
    if (const auto colon = behaviour.find(':'); colon != std::string::npos) {
        const std::string file = behaviour.substr(colon + 1);
        behaviour.resize(colon);
        if (std::ifstream(file).good()) {
            behaviour = "good";
        } else {
            std::ofstream(file) << "once\n";
        }
    }
    return FakeJudge{behaviour, {}}.run();
}
