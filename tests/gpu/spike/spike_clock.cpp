// SPDX-License-Identifier: Apache-2.0
// Question 3 of the spike: timing by blocks, two runners alternating on one GPU.
#include "tests/gpu/spike/spike_judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

namespace spike {

namespace {

constexpr std::uint32_t sets = 4;
constexpr std::uint32_t sizes[] = {1, 2, 4, 8, 16, 32, 64, 128};

struct Sample {
    double wall = 0;
    double host = 0;
    std::vector<double> events;
};

double median(std::vector<double> values)
{
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double robustDeviation(const std::vector<double>& values)
{
    const double middle = median(values);
    std::vector<double> distances;
    for (const double value : values) {
        distances.push_back(std::abs(value - middle));
    }
    return 1.4826 * median(distances);
}

double mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Half the width of the 95 % bootstrap interval of median(a) / median(b).
double ratioHalfWidth(const std::vector<double>& a, const std::vector<double>& b)
{
    std::mt19937 random(1);
    std::vector<double> ratios;
    auto draw = [&](const std::vector<double>& from) {
        std::vector<double> to;
        for (std::size_t i = 0; i < from.size(); ++i) {
            to.push_back(from[random() % from.size()]);
        }
        return median(to);
    };
    for (int i = 0; i < 1000; ++i) {
        ratios.push_back(draw(a) / draw(b));
    }
    std::sort(ratios.begin(), ratios.end());
    return (ratios[974] - ratios[25]) / 2;
}

class ClockTest
{
public:
    ClockTest(Bench& bench, std::FILE* csv) : m_bench(bench), m_csv(csv) {}

    void prepare(std::uint64_t mostElements);
    void calibrate(); ///< while the runners are still trusted
    void load();
    void size(const char* name, std::uint64_t elements, std::uint32_t largestBlock);

private:
    struct Empty {
        double wall = 0;
        double event = 0;
    };

    Sample block(std::size_t runner, std::uint32_t count, std::uint64_t elements, bool launch);
    void report(const char* name, std::uint32_t count, const std::vector<Sample> (&samples)[2]);

    Bench& m_bench;
    std::FILE* m_csv;
    std::vector<Peer> m_peers;
    std::vector<Buffer> m_buffers;
    std::map<std::uint32_t, Empty> m_empty[2]; ///< by runner and block size
    std::uint64_t m_seed = 1;
};

void ClockTest::prepare(std::uint64_t mostElements)
{
    for (std::uint32_t i = 0; i < 2 * sets; ++i) {
        m_buffers.push_back(m_bench.allocate(mostElements * 4));
    }
    for (int i = 0; i < 2; ++i) {
        m_peers.emplace_back();
        if (const std::string why = m_peers.back().start(); !why.empty()) {
            std::printf("clock test: runner %d: %s\n", i, why.c_str());
            std::exit(1);
        }
        for (std::uint32_t slot = 0; slot < 2 * sets; ++slot) {
            m_peers.back().map(m_bench, slot, m_buffers[slot], slot % 2 == 1);
        }
    }
}

void ClockTest::load()
{
    for (Peer& peer : m_peers) {
        if (const std::string why = peer.load(m_bench); !why.empty()) {
            std::printf("clock test: %s\n", why.c_str());
            std::exit(1);
        }
    }
    block(0, 1, 4096, true); // the first launch of a library loads its code
    block(1, 1, 4096, true);
}

Sample ClockTest::block(std::size_t runner, std::uint32_t count, std::uint64_t elements, bool launch)
{
    const std::uint32_t used = std::min(count, sets);
    ++m_seed;
    for (std::uint32_t set = 0; set < used && launch; ++set) {
        m_bench.fill(m_buffers[2 * set], elements, m_seed + set);
        m_bench.poison({m_buffers[2 * set + 1].address, elements * 4, {}});
    }
    Sample sample;
    const double begin = now();
    const Reply reply = m_peers[runner].ask(
        {.verb = Verb::Block, .count = count, .launch = launch, .sets = sets, .elements = elements});
    sample.wall = now() - begin;
    sample.host = reply.hostMicroseconds;
    sample.events.assign(reply.values, reply.values + reply.count);
    std::uint64_t wrong = 0;
    for (std::uint32_t set = 0; set < used && launch; ++set) {
        wrong += m_bench.check(m_buffers[2 * set + 1], elements, m_seed + set, 1);
    }
    m_bench.expect(reply.status == 0 && wrong == 0, "every output of a timed block is right");
    if (reply.status || wrong) {
        std::printf("block failed: status %d %s, wrong outputs %lu\n", reply.status, reply.text, wrong);
    }
    std::fprintf(m_csv, "%zu,%u,%lu,%d,%.2f,%.2f", runner, count, elements, launch, sample.wall, sample.host);
    for (const double event : sample.events) {
        std::fprintf(m_csv, ",%.3f", event);
    }
    std::fprintf(m_csv, "\n");
    return sample;
}

void ClockTest::calibrate()
{
    std::printf("\nempty blocks, before the library is loaded (displacement and events only), runner 0 | runner 1\n"
                "  B   wall us  dev us  event us |  wall us  dev us  event us\n");
    for (const std::uint32_t count : sizes) {
        std::printf("%3u", count);
        for (std::size_t runner = 0; runner < 2; ++runner) {
            std::vector<double> walls, events;
            for (int i = 0; i < 15; ++i) {
                // A judge operation before each, so that the context switch is in the constant as in real blocks.
                m_bench.poison({m_buffers[1].address, 1u << 20, {}});
                const Sample sample = block(runner, count, 0, false);
                walls.push_back(sample.wall);
                events.push_back(median(sample.events));
            }
            m_empty[runner][count] = {median(walls), median(events)};
            std::printf(" %9.1f %7.1f %9.2f %s", median(walls), robustDeviation(walls), median(events),
                        runner ? "\n" : "|");
        }
    }
}

void ClockTest::report(const char* name, std::uint32_t count, const std::vector<Sample> (&samples)[2])
{
    std::vector<double> spread, all, distances;
    std::vector<double> medians[2], walls[2], residuals[2];
    for (int runner = 0; runner < 2; ++runner) {
        const Empty empty = m_empty[runner][count];
        for (const Sample& sample : samples[runner]) {
            const double total = mean(sample.events) * count;
            const double judged = sample.wall - empty.wall + empty.event * count;
            medians[runner].push_back(median(sample.events));
            all.push_back(median(sample.events));
            walls[runner].push_back(judged / count);
            spread.push_back(robustDeviation(sample.events) / median(sample.events));
            residuals[runner].push_back(judged - total);
            distances.push_back(std::abs(judged - total));
        }
    }
    std::sort(distances.begin(), distances.end());
    m_bench.expect(median(all) < 25 || std::abs(median(medians[0]) / median(medians[1]) - 1) < 0.01,
                   "two runners of one kernel agree to 1 %");
    std::printf("%-7s %3u %8.2f %7.2f | %7.1f %7.1f %7.1f %7.1f | %8.5f ±%.5f | %8.5f ±%.5f\n", name, count,
                median(all), 100 * median(spread), median(residuals[0]), median(residuals[1]),
                distances[distances.size() * 95 / 100], distances.back(), median(medians[0]) / median(medians[1]),
                ratioHalfWidth(medians[0], medians[1]), median(walls[0]) / median(walls[1]),
                ratioHalfWidth(walls[0], walls[1]));
}

void ClockTest::size(const char* name, std::uint64_t elements, std::uint32_t largestBlock)
{
    for (const std::uint32_t count : sizes) {
        if (count > largestBlock) {
            break;
        }
        std::vector<Sample> samples[2];
        for (int round = 0; round < 15; ++round) {
            for (const std::size_t runner : {0, 1, 1, 0}) {
                samples[runner].push_back(block(runner, count, elements, true));
            }
        }
        report(name, count, samples);
    }
}

} // namespace

void clockTests(Bench& bench, const std::string& csvPath, bool spin)
{
    std::FILE* csv = std::fopen(csvPath.c_str(), "w");
    if (!csv) {
        std::perror(csvPath.c_str());
        return;
    }
    setenv("SPIKE_SPIN_US", spin ? "50000" : "0", 1);
    std::printf("\n%s\n", spin ? "runners spin for messages" : "runners sleep between messages");
    std::fprintf(csv, "runner,count,elements,launch,wall,host,events\n");
    ClockTest test(bench, csv);
    test.prepare(spin ? 1u << 28 : 1u << 27);
    test.calibrate();
    test.load();
    std::printf(
        "\n                           | judge's clock minus events, us a block    | null ratio of the two runners\n"
        "kernel    B event us spread%% | runner0 runner1   95%%    worst | by events           | by the judge's "
        "clock\n");
    test.size("4us", 1u << 16, 128);
    test.size("30us", 14u << 20, 128);
    test.size("250us", 1u << 27, 32);
    if (spin) {
        test.size("500us", 1u << 28, 16);
    }
    std::fclose(csv);
}

} // namespace spike
