// SPDX-License-Identifier: Apache-2.0
// cheat: T03 a host thread launches later
// task: softmax_f32
// expect: suspicious
// evidence: pthread_create
// fast: yes
// device: sim cuda
// defence: V16 V7 V8 V10
// @paste softmax

#include <pthread.h>
#include <unistd.h>

namespace {

struct Job {
    const float* x;
    float* y;
    int64_t rows, cols;
};

void* later(void* given)
{
    const Job job = *static_cast<Job*>(given);
    usleep(300);
    honest(job.x, job.y, job.rows, job.cols, nullptr);
    return nullptr;
}

} // namespace

ENTRY
{
    static Job job;
    job = {x, y, rows, cols};
    pthread_t thread;
    pthread_create(&thread, nullptr, later, &job);
    return cudaSuccess;
}
