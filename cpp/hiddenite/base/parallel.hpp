// Independent pieces of work on a few threads.
//
// Results must be written to places that belong to the piece, so that they do
// not depend on the number of threads. An exception stops the rest and is thrown
// again in the caller's thread; of several, that of the first piece, as with
// one thread: pieces are begun in order.
//
// The threads live as long as the process: handing a piece to one that waits
// costs microseconds. The caller is one of them. A piece may itself ask for
// threads; whoever finds none free does all the work alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::base {

// 0 means all cores.
inline int resolve_threads(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

class ThreadPool {
 public:
  // The one of this process; a child that was forked has its own.
  static ThreadPool& instance();

  // Calls run(thread) for thread = 0 in the caller and, as far as threads are free or can be made, for
  // thread = 1 .. num_threads - 1 in others; returns when all have returned. `run` must not throw.
  void run(int num_threads, const std::function<void(int)>& run);

 private:
  struct Worker;
  struct Job;
  void serve(Worker& worker);
  Worker* take_idle();

  std::mutex mutex_;
  std::vector<Worker*> idle_;
};

// Calls work(piece, thread) for each piece below num_pieces.
template <class Work>
void parallel_for(std::size_t num_pieces, int threads, Work work) {
  const auto num_threads =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(resolve_threads(threads)), num_pieces));
  if (num_threads <= 1) {
    for (std::size_t piece = 0; piece < num_pieces; ++piece) {
      check_interrupt();
      work(piece, 0);
    }
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::size_t failed_piece = num_pieces;
  std::mutex failure_mutex;
  ThreadPool::instance().run(num_threads, [&](int thread) {
    std::size_t piece = next++;
    try {
      for (; piece < num_pieces; piece = next++) {
        check_interrupt();
        work(piece, thread);
      }
    } catch (...) {
      next = num_pieces;
      const std::lock_guard lock(failure_mutex);
      if (piece < failed_piece) {
        failed_piece = piece;
        failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hiddenite::base
