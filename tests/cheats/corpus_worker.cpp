// SPDX-License-Identifier: Apache-2.0
// espalier-corpus-worker: espalier-worker with an option more. `judge … --without fresh-inputs,norm-bound` takes
// defences away (core/judge/defences.h), so that the corpus shows what each of them is for. Built for tests only.
#include "core/base/fd.h"
#include "core/base/text.h"
#include "core/judge/defences.h"
#include "core/judge/judge_loop.h"
#include "core/runner/runner_main.h"
#include "core/simgpu/simgpu_server.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using espalier::judge::Defence;

/// Takes every "--without LIST" out of the words; false for a name that is no defence.
bool takeOut(std::vector<char*>& words, std::vector<Defence>& defences)
{
    for (std::size_t i = 0; i + 1 < words.size();) {
        if (std::string_view(words[i]) != "--without") {
            ++i;
            continue;
        }
        for (const std::string_view name : espalier::splitOn(words[i + 1], ',')) {
            const auto defence = espalier::judge::defenceNamed(name);
            if (!defence) {
                std::fprintf(stderr, "espalier-corpus-worker: %s is no defence\n", std::string(name).c_str());
                return false;
            }
            defences.push_back(*defence);
        }
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    }
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view verb = argc > 1 ? argv[1] : "";
    std::vector<char*> words(argv + std::min(argc, 2), argv + argc);
    std::vector<Defence> taken;
    if (!takeOut(words, taken)) {
        return 2;
    }
    espalier::judge::takeAway(taken);
    const int count = static_cast<int>(words.size());
    if (verb == "judge") {
        return espalier::judge::judgeMain(count, words.data(), "espalier-corpus-worker");
    }
    if (verb == "runner") {
        const espalier::runner::RunnerDefences defences{espalier::judge::stands(Defence::Seccomp),
                                                        espalier::judge::stands(Defence::EntryPointGate)};
        return espalier::runner::runnerMain(count, words.data(), defences);
    }
    if (verb == "simgpu") {
        return espalier::sim::runSimGpuServer(espalier::UniqueFd(3));
    }
    std::fputs("usage: espalier-corpus-worker judge … --without DEFENCE[,DEFENCE]   (started by espalier_corpus)\n",
               stderr);
    return 2;
}
