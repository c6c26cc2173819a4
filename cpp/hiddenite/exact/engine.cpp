#include "hiddenite/exact/engine.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>

#include "hiddenite/base/error.hpp"
#include "hiddenite/exact/empty_support.hpp"

namespace hiddenite::exact {

Engine::Engine(const NgramTable& table) : table_(table) { verify(table); }
Engine::~Engine() = default;

Engine::Loan::Loan(const Engine& engine) : engine_(engine), exceptions_(std::uncaught_exceptions()) {
  const std::lock_guard lock(engine.idle_mutex_);
  if (!engine.idle_.empty()) {
    workspace_ = std::move(engine.idle_.back());
    engine.idle_.pop_back();
  }
}

Workspace& Engine::Loan::workspace() {
  if (!workspace_) workspace_ = std::make_unique<Workspace>(engine_);
  return *workspace_;
}

// What was left in the middle of its work is of no use to others.
Engine::Loan::~Loan() {
  if (!workspace_ || std::uncaught_exceptions() > exceptions_) return;
  const std::lock_guard lock(engine_.idle_mutex_);
  engine_.idle_.push_back(std::move(workspace_));
}

const StateIndex& Engine::index(bool ends) const {
  std::call_once(built_[ends], [&] {
    index_[ends] = compiled_index(table_, ends);
    if (!index_[ends]) index_[ends] = std::make_unique<StateIndex>(table_, ends);
  });
  return *index_[ends];
}

double path_log_weight(const NgramTable& table, const Reading& reading,
                       const std::vector<std::uint32_t>& path, const Route& route, bool ends) {
  NodeId state = table.start();
  double log_weight = 0.0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t c = reading.begin[slot_of_step(route, i)] + path[i];
    log_weight += table.step(state, reading.words[c]);
    log_weight += reading.log_weights[c];
  }
  if (ends) log_weight += table.step(state, SENTENCE_END);
  return log_weight;
}

WalkDecoder& Workspace::walker(bool ends) {
  if (!walkers_[ends]) walkers_[ends] = std::make_unique<WalkDecoder>(engine_.index(ends));
  return *walkers_[ends];
}

FullPosterior& Workspace::posterior(bool ends) {
  if (!posteriors_[ends]) posteriors_[ends] = std::make_unique<FullPosterior>(engine_.index(ends));
  return *posteriors_[ends];
}

// False if it is not the question, or the record, for that; then nothing is said.
bool Workspace::answer_by_graph(const Reading& reading, const Task& task, const Deadline& deadline, Answer& answer) {
  const bool may = task.method == Method::AUTO || task.method == Method::DOMINANCE;
  if (task.kind != Task::Kind::DECODE || !may || reading.spans.empty()) return false;
  std::unique_ptr<GraphWalk>& walk = graph_walks_[task.ends];
  if (!walk) walk = std::make_unique<GraphWalk>(engine_.index(task.ends));
  std::optional<GraphWalk::Best> best = walk->decode(reading, deadline);
  if (!best) return false;
  const double log_weight = path_log_weight(engine_.table(), reading, best->path, best->route, task.ends);
  answer.log_weights.push_back(log_weight);
  answer.words.emplace_back();
  for (std::size_t i = 0; i < best->path.size(); ++i) {
    answer.words.back().emplace_back(reading.word(engine_.table().vocabulary, best->route[i], best->path[i]));
  }
  answer.paths.push_back(std::move(best->path));
  answer.routes.push_back(std::move(best->route));
  answer.method = Method::DOMINANCE;
  answer.states = best->states;
  answer.certificate = proved(log_weight, Method::DOMINANCE, best->states);
  return true;
}

namespace {

// AUTO tries refinement where a position offers at most so many words on
// average, and gives it so many refinements before it walks the states. With
// very few words there is hardly a state to save.
constexpr std::size_t FEW_WORDS = 64, VERY_FEW_WORDS = 8;
constexpr std::uint64_t TRIAL_REFINEMENTS = 100;
constexpr double NEGLIGIBLE = 2e-9;  // an error of probabilities that leaves them exact: the default epsilon's
constexpr std::uint64_t TRIALS_PER_DRAW = 4, TRIAL_DRAWS = 1000;  // of AUTO's sampling by rejection

// All orders equally likely.
template <class Item>
void shuffle(std::vector<Item>& items, Random& random) {
  for (std::size_t n = items.size(); n > 1; --n) std::swap(items[n - 1], items[random.below(n)]);
}

// One task on one record; the answer is filled in by the function of its kind. All stages share one deadline.
class Solver {
 public:
  Solver(const Engine& engine, Workspace& workspace, const Reading& reading, const Task& task,
         std::uint64_t stream, const Deadline& deadline, Answer& answer)
      : engine_(engine), workspace_(workspace), reading_(reading), task_(task), stream_(stream), answer_(answer),
        deadline_(deadline),
        candidates_(Candidates::from_csr(reading.begin, reading.words, reading.log_weights, task.ends,
                                         reading.spans)) {
    if (task.method == Method::SPARSE && !candidates_.is_chain()) {
      throw ModelError("the record is a lattice, which sparse does not read; use auto");
    }
  }

  // These never ask for the engine's index.
  static bool needs_no_index(Method method) {
    return method == Method::REFINE || method == Method::PAPER || method == Method::SPARSE;
  }

  void run() {
    switch (task_.kind) {
      case Task::Kind::DECODE: return decode();
      case Task::Kind::KBEST: return kbest();
      case Task::Kind::SAMPLE: return sample();
      case Task::Kind::MARGINALS: return marginals();
      case Task::Kind::MBR: return mbr();
    }
  }

 private:
  void add_path(std::vector<std::uint32_t> path, Route route = {}) {
    answer_.log_weights.push_back(path_log_weight(engine_.table(), reading_, path, route, task_.ends));
    answer_.words.emplace_back();
    for (std::size_t i = 0; i < path.size(); ++i) {
      answer_.words.back().emplace_back(
          reading_.word(engine_.table().vocabulary, slot_of_step(route, i), path[i]));
    }
    answer_.paths.push_back(std::move(path));
    if (!candidates_.is_chain()) answer_.routes.push_back(std::move(route));
  }

  // The same certificate for weights as they were given: those of the first path, and bounds moved by the offset.
  void certify(const Certificate& found) {
    Bounds bounds;
    bounds.found(answer_.log_weights.front());
    if (found.exact()) {
      bounds.close();
    } else {
      bounds.none_above(outward(found.upper() + candidates_.log_offset, num_terms(engine_.table(), candidates_),
                                candidates_.magnitude + std::fabs(found.upper())));
    }
    add_cost(found.method(), found.refinements(), found.states());
    answer_.certificate.emplace(bounds, found.method(), found.refinements(), found.states());
  }

  void add_cost(Method method, std::uint64_t refinements, std::uint64_t states) {
    answer_.method = method;
    answer_.refinements = refinements;
    answer_.states = states;
  }

  // ------------------------------------------------------------------ maxima

  std::vector<std::uint32_t> best_candidates(const WordPath& path, const Route& route) const {
    std::vector<std::uint32_t> result(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
      const Slot& slot = candidates_.slots[slot_of_step(route, i)];
      result[i] = slot.candidate[slot.begin[path[i]]];
    }
    return result;
  }

  void decode() {
    if (task_.method == Method::SPARSE) return decode_sparsely();
    Decoded decoded = decode_by(chosen_method());
    std::vector<std::uint32_t> path = best_candidates(decoded.path, decoded.route);
    add_path(std::move(path), std::move(decoded.route));
    certify(decoded.certificate);
  }

  Decoded decode_by(Method method) {
    const bool prune = method != Method::FULL;
    if (method == Method::FULL || method == Method::DOMINANCE) return walker().decode(candidates_, prune, deadline_);
    const bool is_trial = method == Method::AUTO;
    Decoded refined = decode_by_refining(engine_.table(), candidates_, is_trial ? Method::REFINE : method,
                                         is_trial ? trial_deadline() : deadline_, task_.strategy);
    if (!is_trial || refined.certificate.exact()) return refined;
    Decoded walked = walker().decode(candidates_, prune, deadline_);
    // Where the budget ended both, the better answer has the bounds of both.
    return walked.certificate.exact() ? walked : joined(std::move(refined), std::move(walked));
  }

  static Decoded joined(Decoded a, Decoded b) {
    Bounds bounds = a.certificate.bounds();
    bounds.found(b.certificate.lower());
    bounds.none_above(b.certificate.upper());
    Decoded& better = a.log_weight >= b.log_weight ? a : b;
    better.certificate = Certificate(bounds, better.certificate.method(), a.certificate.refinements(),
                                     a.certificate.states() + b.certificate.states());
    return std::move(better);
  }

  // Refining wins by far where it wins, and is stopped early where it does not.
  Deadline trial_deadline() const { return deadline_.with_refinements(TRIAL_REFINEMENTS); }

  void decode_sparsely() {
    std::vector<std::uint32_t> path;
    double log_weight = LOG_ZERO;
    SparseViterbi& sparse = workspace_.sparse();
    const bool any = sparse.decode(reading_, task_.ends, std::numeric_limits<std::size_t>::max(), path, log_weight);
    if (!any) throw_empty_support(engine_.table(), candidates_);
    add_path(std::move(path));
    certify(proved(log_weight, Method::SPARSE, sparse.num_states()));
  }

  void kbest() {
    if (task_.method == Method::SPARSE) throw ModelError("sparse finds the best path only; use auto for the k best");
    KBest best = kbest_by(chosen_method());
    for (std::size_t i = 0; i < best.paths.size(); ++i) {
      add_path(std::move(best.paths[i]), best.routes.empty() ? Route{} : std::move(best.routes[i]));
    }
    certify(best.certificate);
  }

  KBest kbest_by(Method method) {
    const NgramTable& table = engine_.table();
    if (method == Method::AUTO) {
      KBest best = kbest_by_refining(table, candidates_, task_.count, Method::REFINE, trial_deadline(),
                                     task_.strategy);
      if (best.certificate.exact()) return best;
      method = Method::DOMINANCE;
    }
    if (method == Method::FULL || method == Method::DOMINANCE) {
      return walker().kbest(candidates_, task_.count, method == Method::DOMINANCE, deadline_);
    }
    return kbest_by_refining(table, candidates_, task_.count, method, deadline_, task_.strategy);
  }

  // AUTO stays AUTO where refining is worth a try: few words to choose from.
  Method chosen_method() const {
    if (task_.method != Method::AUTO) return task_.method;
    if (!candidates_.is_chain()) return Method::DOMINANCE;
    std::size_t num_words = 0;
    for (const Slot& slot : candidates_.slots) num_words += slot.size();
    const std::size_t length = candidates_.length();
    const bool few = num_words > VERY_FEW_WORDS * length && num_words <= FEW_WORDS * length;
    return few ? Method::AUTO : Method::DOMINANCE;
  }

  // -------------------------------------------------------------------- sums

  FullPosterior& posterior() { return posterior(task_.epsilon); }

  FullPosterior& posterior(double epsilon) {
    FullPosterior& result = workspace_.posterior(task_.ends);
    result.observe(candidates_, deadline_, epsilon);
    const double offset = candidates_.log_offset;
    const auto [lower, upper] = result.bounds();
    answer_.log_partition = {outward(upper + offset, 1), result.log_partition() + offset, 0.0,
                             -outward(-(lower + offset), 1)};
    answer_.error_bound = result.bounds().error();
    add_cost(Method::FULL, 0, result.num_states());
    return result;
  }

  void sample() {
    const Method method = chosen_method();
    if (method == Method::SPARSE) throw ModelError("sparse finds the best path only; use auto to draw samples");
    if (method == Method::REFINE || method == Method::PAPER) {
      return add_sampled(sample_by_rejection(method, task_.sampler), method);
    }
    if (method == Method::AUTO) {
      // Giving up depends on how many trials failed, not on what was drawn: the draws stay fair either way.
      SamplerOptions trial = task_.sampler;
      trial.max_trials = TRIALS_PER_DRAW * task_.count + TRIAL_DRAWS;
      const Sampled sampled = sample_by_rejection(Method::REFINE, trial);
      if (sampled.complete) return add_sampled(sampled, Method::REFINE);
    }
    Random random(task_.seed, stream_);
    // All draws are had by one pass; where the budget ends it, there are none.
    for (DrawnPath& drawn : posterior().sample(task_.count, random)) {
      answer_.draws.insert(answer_.draws.end(), drawn.count, static_cast<std::uint32_t>(answer_.paths.size()));
      answer_.counts.push_back(drawn.count);
      add_path(std::move(drawn.candidates), std::move(drawn.route));
    }
    shuffle(answer_.draws, random);  // a multiset of independent draws in random order: independent draws
    answer_.trials = task_.count;
    answer_.complete = true;
  }

  Sampled sample_by_rejection(Method method, const SamplerOptions& options) const {
    return sample_by_refining(engine_.table(), candidates_, task_.count, Random(task_.seed, stream_), method, options,
                              deadline_, task_.strategy);
  }

  void add_sampled(const Sampled& sampled, Method method) {
    for (std::size_t i = 0; i < sampled.paths.size(); ++i) {
      add_draw(sampled.paths[i], sampled.routes.empty() ? Route{} : sampled.routes[i]);
    }
    answer_.trials = sampled.trials;
    answer_.log_partition = sampled.log_partition;
    answer_.complete = sampled.complete;
    add_cost(method, sampled.refinements, sampled.states);
  }

  void add_draw(const std::vector<std::uint32_t>& path, const Route& route) {
    const auto size = static_cast<std::uint32_t>(answer_.paths.size());
    const auto [place, is_new] = place_of_.try_emplace({route, path}, size);
    if (is_new) {
      add_path(path, route);
      answer_.counts.push_back(0);
    }
    ++answer_.counts[place->second];
    answer_.draws.push_back(place->second);
  }

  std::vector<std::vector<double>> slot_marginals(double epsilon) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < reading_.length(); ++i) sizes.push_back(reading_.begin[i + 1] - reading_.begin[i]);
    return posterior(epsilon).marginals(sizes);
  }

  void marginals() {
    answer_.marginals = slot_marginals(task_.epsilon);
    for (std::size_t i = 0; i < reading_.length(); ++i) {
      answer_.slot_words.emplace_back();
      for (std::size_t c = 0; c < answer_.marginals[i].size(); ++c) {
        answer_.slot_words.back().emplace_back(reading_.word(engine_.table().vocabulary, i, c));
      }
    }
  }

  // Positions are fixed, so the least expected number of wrong words is found slot by slot.
  void mbr() {
    if (!candidates_.is_chain()) {
      throw ModelError("the record is a lattice, where words have no fixed positions to be wrong at; use the "
                       "objective map, or lattice decode --objective mbr");
    }
    std::vector<std::vector<double>> slots = slot_marginals(task_.epsilon);
    if (!tells_apart(slots, 2.0 * answer_.error_bound)) slots = slot_marginals(0.0);
    std::vector<std::uint32_t> path;
    for (const std::vector<double>& slot : slots) {
      const auto best = std::max_element(slot.begin(), slot.end());
      path.push_back(static_cast<std::uint32_t>(best - slot.begin()));
      answer_.expected_errors += 1.0 - *best;
    }
    const auto length = static_cast<double>(path.size());
    answer_.least_errors = std::max(answer_.expected_errors - length * answer_.error_bound, 0.0);
    answer_.most_errors = std::min(answer_.expected_errors + length * answer_.error_bound, length);
    add_path(std::move(path));
    if (answer_.error_bound <= NEGLIGIBLE) {  // as few as can be
      answer_.certificate = proved(-answer_.expected_errors, Method::FULL, answer_.states);
      return;
    }
    Bounds bounds;  // of weights so large that their sums have lost digits
    bounds.found(-answer_.most_errors);
    bounds.none_above(-answer_.least_errors);
    answer_.certificate = Certificate(bounds, Method::FULL, 0, answer_.states);
  }

  // The best candidate of each slot is ahead of all others by more than so much.
  static bool tells_apart(const std::vector<std::vector<double>>& slots, double margin) {
    for (const std::vector<double>& slot : slots) {
      double best = 0.0, second = 0.0;
      for (const double prob : slot) {
        second = std::max(second, std::min(best, prob));
        best = std::max(best, prob);
      }
      if (best - second <= margin) return false;
    }
    return true;
  }

  WalkDecoder& walker() { return workspace_.walker(task_.ends); }

  const Engine& engine_;
  Workspace& workspace_;
  const Reading& reading_;
  const Task& task_;
  std::uint64_t stream_;
  Answer& answer_;
  Deadline deadline_;
  Candidates candidates_;
  // Of a drawn path among the answer's.
  std::map<std::pair<Route, std::vector<std::uint32_t>>, std::uint32_t> place_of_;
};

// What to do where a position has nothing but words that the model gives probability zero; else nothing.
std::string remedy(const NgramTable& table, const Reading& reading, std::size_t position) {
  if (table.unknown_is_listed || !reading.spans.empty() || position >= reading.length()) return {};
  const auto first = reading.words.begin() + static_cast<std::ptrdiff_t>(reading.begin[position]);
  const auto last = reading.words.begin() + static_cast<std::ptrdiff_t>(reading.begin[position + 1]);
  if (first == last || std::any_of(first, last, [](WordId w) { return w != UNKNOWN; })) return {};
  return "; the model does not list '" + std::string(reading.word(table.vocabulary, position, 0)) +
         "' and has no <unk>: give p(<unk>) with --unk-log10 -5, or train with the word";
}

}  // namespace

Answer Workspace::answer(const Reading& reading, const Task& task, std::uint64_t stream) {
  Answer answer;
  answer.id = reading.id;
  answer.id_is_integer = reading.id_is_integer;
  answer.spans = reading.spans;
  if (!Solver::needs_no_index(task.method)) engine_.index(task.ends);  // no record's time
  try {
    const Deadline deadline(task.budget);
    if (!answer_by_graph(reading, task, deadline, answer)) {
      Solver(engine_, *this, reading, task, stream, deadline, answer).run();
    }
  } catch (const EmptySupport& e) {
    answer.status = Answer::Status::EMPTY_SUPPORT;
    answer.error = e.what() + remedy(engine_.table(), reading, e.position);
    answer.position = reading.spans.empty() ? e.position : reading.length();
  } catch (const ModelError& e) {
    answer.status = Answer::Status::BAD_RECORD;
    answer.error = e.what();
  }
  return answer;
}

}  // namespace hiddenite::exact
