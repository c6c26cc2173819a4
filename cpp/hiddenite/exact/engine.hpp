// The one door to exact inference: a task, asked of one record or of many.
//
// An Engine holds what the methods need of a language model and builds it when
// it is first asked for; it may be shared by threads. A Workspace belongs to
// one thread. Batches run on a pool and answer in the order of the records,
// the same for any number of threads; what is wrong with one record is that
// record's answer and stops no other.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/exact/inference.hpp"
#include "hiddenite/exact/search.hpp"
#include "hiddenite/exact/sparse_viterbi.hpp"
#include "hiddenite/exact/walk/dominance.hpp"
#include "hiddenite/exact/walk/full.hpp"
#include "hiddenite/exact/walk/graph_walk.hpp"
#include "hiddenite/lm/compiled.hpp"

namespace hiddenite::exact {

struct Task {
  enum class Kind { DECODE, KBEST, SAMPLE, MARGINALS, MBR };
  Kind kind = Kind::DECODE;
  Method method = Method::AUTO;
  std::uint64_t count = 1;   // k, or the number of samples
  std::uint64_t seed = 0;    // samples of record i use stream i
  Budget budget;
  bool ends = true;          // </s> follows the last word
  Strategy strategy = Strategy::ALL_BY_ONE;  // of refine
  SamplerOptions sampler;                    // of refine and paper
  double epsilon = FullPosterior::EPSILON;   // of sums: the share that may be left out
};

struct Answer {
  enum class Status { DONE, BAD_RECORD, EMPTY_SUPPORT };
  Status status = Status::DONE;
  std::string error;          // one line
  std::size_t position = 0;   // of EMPTY_SUPPORT
  std::string id;             // as in Reading
  bool id_is_integer = false;
  // Candidates by their place in the slots, and as words.
  std::vector<std::vector<std::uint32_t>> paths;
  std::vector<Route> routes;  // [path]: its slots, in a lattice
  std::vector<std::vector<std::string>> words;
  std::vector<double> log_weights;
  std::vector<std::uint64_t> counts;            // samples: how often each path was drawn
  std::vector<std::uint32_t> draws;             // samples: the path of each draw, in order
  std::vector<std::vector<double>> marginals;   // [slot][candidate]
  std::vector<std::vector<std::string>> slot_words;  // marginals: the candidates' words
  std::vector<Span> spans;                      // of the slots, in a lattice
  std::optional<Certificate> certificate;       // of the best path or the k best; MBR: of minus the expected errors
  Method method = Method::AUTO;                 // that gave the answer, and what it took:
  std::uint64_t refinements = 0, states = 0;
  bool complete = false;                        // samples: as many as were asked for
  PartitionEstimate log_partition;              // sums and samples
  double error_bound = 0.0;                     // sums: no probability is further off; samples: total variation
  double expected_errors = 0.0;                 // MBR: words wrong on average,
  double least_errors = 0.0, most_errors = 0.0;  // which lies between these
  std::uint64_t trials = 0;                     // samples: draws from q, accepted or not
};

class Workspace;

class Engine {
 public:
  // Inference follows bounds without asking twice: the checksums of a compiled table are compared first.
  explicit Engine(const NgramTable& table);
  ~Engine();
  const NgramTable& table() const { return table_; }
  // Built on first use, once, whatever the threads.
  const StateIndex& index(bool ends) const;

  // A workspace that is not in use; given back when the loan ends.
  class Loan {
   public:
    explicit Loan(const Engine& engine);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Workspace& workspace();

   private:
    const Engine& engine_;
    int exceptions_;
    std::unique_ptr<Workspace> workspace_;
  };

 private:
  const NgramTable& table_;
  mutable std::once_flag built_[2];
  mutable std::unique_ptr<StateIndex> index_[2];
  mutable std::mutex idle_mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;  // they live as long as the engine
};

// One thread's memory, kept from record to record.
class Workspace {
 public:
  explicit Workspace(const Engine& engine) : engine_(engine), sparse_(engine.table()) {}
  // `stream` tells records apart: the same for any number of threads.
  Answer answer(const Reading& reading, const Task& task, std::uint64_t stream);

  WalkDecoder& walker(bool ends);
  FullPosterior& posterior(bool ends);
  SparseViterbi& sparse() { return sparse_; }

 private:
  bool answer_by_graph(const Reading& reading, const Task& task, const Deadline& deadline, Answer& answer);

  const Engine& engine_;
  SparseViterbi sparse_;
  std::unique_ptr<WalkDecoder> walkers_[2];
  std::unique_ptr<GraphWalk> graph_walks_[2];
  std::unique_ptr<FullPosterior> posteriors_[2];
};

// The weight of candidates by their place in the slots: the one routine that
// scores what is returned.
double path_log_weight(const NgramTable& table, const Reading& reading,
                       const std::vector<std::uint32_t>& path, const Route& route, bool ends);

// Answers records in order. Each line is read by the channel.
std::vector<Answer> answer_lines(const Engine& engine, const Channel& channel,
                                 const std::vector<std::string_view>& lines, const Task& task,
                                 std::uint64_t first_stream, int threads);
std::vector<Answer> answer_readings(const Engine& engine, const std::vector<const Reading*>& readings,
                                    const Task& task, std::uint64_t first_stream, int threads);

}  // namespace hiddenite::exact
