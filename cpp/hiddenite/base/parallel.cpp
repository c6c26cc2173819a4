#include "hiddenite/base/parallel.hpp"

#ifndef _WIN32
#include <pthread.h>
#endif

#include <system_error>
#include <utility>

namespace hiddenite::base {

// What the threads of one run() share. It lives in the caller's stack, which waits for them.
struct ThreadPool::Job {
  const std::function<void(int)>* run;
  Call* call;
  std::mutex mutex;
  std::condition_variable finished;
  int num_working = 0;
};

struct ThreadPool::Worker {
  std::mutex mutex;
  std::condition_variable called;
  Job* job = nullptr;
  int thread = 0;
};

namespace {

// Threads do not survive a fork: the child begins anew, and leaves the parent's pool where it is.
ThreadPool* current = nullptr;
void begin_anew() { current = new ThreadPool; }

}  // namespace

ThreadPool& ThreadPool::instance() {
  static const bool made = [] {
    begin_anew();
#ifndef _WIN32  // where no process forks
    pthread_atfork(nullptr, nullptr, begin_anew);
#endif
    return true;
  }();
  static_cast<void>(made);
  return *current;
}

void ThreadPool::serve(Worker& worker) {
  while (true) {
    Job* job = nullptr;
    {
      std::unique_lock lock(worker.mutex);
      worker.called.wait(lock, [&] { return worker.job != nullptr; });
      job = std::exchange(worker.job, nullptr);
    }
    {
      const Call::Help help(job->call);
      (*job->run)(worker.thread);
    }
    {
      const std::lock_guard lock(mutex_);  // free for others before the caller hears of it
      idle_.push_back(&worker);
    }
    const std::lock_guard lock(job->mutex);
    if (--job->num_working == 0) job->finished.notify_one();
  }
}

// A thread that waits for work, or a new one; null if the system has no more.
ThreadPool::Worker* ThreadPool::take_idle() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Worker* const worker = idle_.back();
      idle_.pop_back();
      return worker;
    }
  }
  auto* const worker = new Worker;  // both live as long as the process
  try {
    std::thread([this, worker] { serve(*worker); }).detach();
  } catch (const std::system_error&) {
    delete worker;
    return nullptr;
  }
  return worker;
}

void ThreadPool::run(int num_threads, const std::function<void(int)>& run) {
  Job job{&run, Call::current(), {}, {}, 0};
  for (int t = 1; t < num_threads; ++t) {
    Worker* const worker = take_idle();
    if (!worker) break;
    {
      const std::lock_guard lock(job.mutex);
      ++job.num_working;
    }
    const std::lock_guard lock(worker->mutex);
    worker->job = &job;
    worker->thread = t;
    worker->called.notify_one();
  }
  run(0);
  std::unique_lock lock(job.mutex);
  job.finished.wait(lock, [&] { return job.num_working == 0; });
}

}  // namespace hiddenite::base
