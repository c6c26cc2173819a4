// Independent pieces of work on a few threads.
//
// Results must be written to places that belong to the piece, so that they do
// not depend on the number of threads. An exception stops the rest and is thrown
// again in the caller's thread; of several, that of the first piece, as with
// one thread: pieces are begun in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

// 0 means all cores.
inline int resolve_threads(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Calls work(piece, thread) for each piece below num_pieces.
template <class Work>
void parallel_for(std::size_t num_pieces, int threads, Work work) {
  const auto num_threads =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(resolve_threads(threads)), num_pieces));
  if (num_threads <= 1) {
    for (std::size_t piece = 0; piece < num_pieces; ++piece) work(piece, 0);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::size_t failed_piece = num_pieces;
  std::mutex failure_mutex;
  const auto run = [&](int thread) {
    std::size_t piece = next++;
    try {
      for (; piece < num_pieces; piece = next++) work(piece, thread);
    } catch (...) {
      next = num_pieces;
      const std::lock_guard lock(failure_mutex);
      if (piece < failed_piece) {
        failed_piece = piece;
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> pool;
  try {
    for (int t = 1; t < num_threads; ++t) pool.emplace_back(run, t);
  } catch (const std::system_error&) {
    // The system has no more threads: those that began do the work.
  }
  run(0);
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hiddenite::base
