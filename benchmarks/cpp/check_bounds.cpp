// The bounds of state_index.hpp against what continuations really do.
//
//   check_bounds LM.arpa COUNT SEED NOISE
//
// COUNT times: a random state s and a random continuation y that ends in </s>.
// With r_j = ln p(y_j | s y_1 ..) - ln p(y_j | suf(s) y_1 ..) it is checked that
//   ends:      down(s) <= sum of all r_j <= up(s),
//   no end:    the same for every partial sum, in the index for text that may
//              end anywhere,
// and that the sum against the empty context is at most up_to_root(s).
// Half of the words of a continuation follow the model's arcs, so that long
// contexts are met; the others are any words. NOISE > 0 adds to every back-off
// weight a random number of that standard deviation: the bounds must hold for
// any back-off table, with weights above 1 too.
//
// Prints: count, violations, states with a back-off weight above 1, sums that
// reach a bound (to 1e-6), the largest excess.
#include <cmath>
#include <cstdio>

#include "hiddenite/base/random.hpp"
#include "hiddenite/lm/state_index.hpp"
#include "read_table.hpp"

using namespace hiddenite::exact;

namespace {

constexpr double TOLERANCE = 1e-9;  // a sum of doubles against a float that was rounded outwards
constexpr double CLOSE = 1e-6;

double normal(Random& random) {
  return std::sqrt(-2.0 * std::log(random.positive_uniform())) * std::cos(6.283185307179586 * random.uniform());
}

class Check {
 public:
  Check(const NgramTable& table, Random random)
      : table_(table), with_end_(table, true), without_end_(table, false), random_(random) {}

  void run(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) try_one();
    std::printf("%llu %llu %zu %llu %.3g\n", static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(violations_), num_above_one(), static_cast<unsigned long long>(reached_),
                largest_excess_);
  }

 private:
  // A context of any order, each order as often.
  NodeId draw_state() {
    const int n = 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(table_.order - 1)));
    const NodeId begin = table_.level_begin[n], size = table_.level_begin[n + 1] - begin;
    for (;;) {
      const NodeId s = begin + static_cast<NodeId>(random_.below(size));
      if (table_.word[s] != SENTENCE_END) return s;
    }
  }

  WordId draw_word(NodeId context) {
    if (random_.below(4) == 0) return SENTENCE_END;
    const NodeId first = table_.first_child[context], last = table_.first_child[context + 1];
    if (first < last && random_.below(2) == 0) {
      return table_.word[first + static_cast<NodeId>(random_.below(last - first))];
    }
    return static_cast<WordId>(random_.below(table_.vocabulary.size()));
  }

  void try_one() {
    const NodeId s = draw_state();
    NodeId longer = s, shorter = table_.suffix[s], root = ROOT;
    double sum = 0.0, sum_to_root = 0.0;
    for (WordId w = NO_WORD; w != SENTENCE_END;) {
      do w = draw_word(longer);
      while (w == SENTENCE_BEGIN);
      const double p = table_.step(longer, w), p_shorter = table_.step(shorter, w), p_root = table_.step(root, w);
      if (!std::isfinite(p) || !std::isfinite(p_shorter) || !std::isfinite(p_root)) return;
      sum += p - p_shorter;
      sum_to_root += p - p_root;
      compare(without_end_.state(s).down, sum, without_end_.state(s).up);
    }
    const StateIndex::State& state = with_end_.state(s);
    compare(state.down, sum, state.up);
    compare(LOG_ZERO, sum_to_root, state.up_to_root);
    reached_ += sum > state.up - CLOSE || sum < state.down + CLOSE;
  }

  void compare(double low, double sum, double high) {
    const double excess = std::max(low - sum, sum - high);
    largest_excess_ = std::max(largest_excess_, excess);
    violations_ += excess > TOLERANCE;
  }

  std::size_t num_above_one() const {
    std::size_t result = 0;
    for (NodeId s = 1; s < table_.num_contexts(); ++s) result += table_.log_backoff[s] > 0.0f;
    return result;
  }

  const NgramTable& table_;
  StateIndex with_end_, without_end_;
  Random random_;
  std::uint64_t violations_ = 0, reached_ = 0;
  double largest_excess_ = LOG_ZERO;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) throw std::runtime_error("usage: check_bounds LM.arpa COUNT SEED NOISE");
  NgramTable table = hiddenite::bench::read_table(argv[1]);
  Random random(std::stoull(argv[3]));
  const double noise = std::stod(argv[4]);
  for (NodeId s = 1; noise > 0.0 && s < table.num_contexts(); ++s) {
    table.log_backoff[s] += static_cast<float>(noise * normal(random));
  }
  Check(table, random).run(std::stoull(argv[2]));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "check_bounds: %s\n", e.what());
  return 1;
}
