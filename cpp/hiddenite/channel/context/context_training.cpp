#include "hiddenite/channel/context/context_training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/channel/word_features.hpp"

namespace hiddenite::channel {

namespace {

constexpr std::size_t MAX_DENSE_PARTS = 128;  // with more, a feature has weights for those it was seen with
constexpr double LEAST_GRADIENT = 1e-3;      // smaller ones are left out
constexpr float FIRST_SQUARE = 1.0f;
constexpr std::size_t PREFETCH = 6;  // rows ahead

}  // namespace

ContextTrainer::ContextTrainer(TagParts parts, TaggedText text, const Guesser& guesser,
                               const ContextOptions& options, const WordAttributes* attributes)
    : parts_(std::move(parts)), num_tags_(parts_.num_tags()), num_parts_(parts_.num_parts()),
      attributes_(attributes), text_(std::move(text)), options_(options) {
  text_.check(num_tags_);
  if (guesser.num_tags() != num_tags_) misfit_of_text("the guesser's number of tags");
  word_count_.assign(text_.words.size(), 0);
  for (const std::uint32_t w : text_.word) ++word_count_[w];
  number_features();
  lay_out_rows();
  compute_bases(guesser);
}

// ------------------------------------------------------------------- features

// Frequent words first: what is often needed lies together in memory.
void ContextTrainer::number_features() {
  std::vector<std::size_t> order(text_.words.size() + 1);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end() - 1,
                   [&](std::size_t a, std::size_t b) { return word_count_[a] > word_count_[b]; });
  std::rotate(order.begin(), order.end() - 1, order.end());
  KeyTable numbers(64 * text_.words.size());
  std::vector<std::uint64_t> keys;
  ContextWord word;
  for (std::size_t role = 0; role < NUM_ROLES; ++role) {
    rows_of_[role].resize(text_.words.size() + 1);
    for (const std::size_t w : order) {
      keys.clear();
      word.read(w < text_.words.size() ? std::string_view(text_.words[w]) : std::string_view(), attributes_);
      word.add_features(static_cast<Role>(role), keys);
      for (const std::uint64_t key : keys) {
        const std::uint32_t row = numbers.add(key);
        if (row == keys_.size()) keys_.push_back(key);
        rows_of_[role][w].push_back(row);
      }
    }
  }
}

// Calls visit(role, word) for the words that the features of a token are of.
template <class Visit>
void ContextTrainer::for_each_word(std::size_t sentence, std::size_t token, Visit visit) const {
  const auto first = static_cast<std::ptrdiff_t>(text_.begin[sentence]);
  const auto last = static_cast<std::ptrdiff_t>(text_.begin[sentence + 1]);
  const auto here = static_cast<std::ptrdiff_t>(token);
  visit(Role::OWN, text_.word[token]);
  if (here == first) visit(Role::FIRST, text_.word[token]);
  for (std::size_t k = 0; k < NEIGHBOURS.size(); ++k) {
    const std::ptrdiff_t other = here + NEIGHBOUR_DISTANCE[k];
    const bool inside = other >= first && other < last;
    visit(NEIGHBOURS[k], inside ? text_.word[static_cast<std::size_t>(other)]
                                : static_cast<std::uint32_t>(text_.words.size()));
  }
}

void ContextTrainer::lay_out_rows() {
  row_count_.assign(keys_.size(), 0.0);
  const bool is_dense = num_parts_ <= MAX_DENSE_PARTS;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::size_t s = 0; s + 1 < text_.begin.size(); ++s) {
    for (std::size_t i = text_.begin[s]; i < text_.begin[s + 1]; ++i) {
      for_each_word(s, i, [&](Role role, std::uint32_t word) {
        for (const std::uint32_t row : rows_of_[static_cast<std::size_t>(role)][word]) {
          ++row_count_[row];
          if (is_dense || text_.tag[i] == NO_TAG) continue;
          if (parts_.is_trivial()) seen.emplace(row, text_.tag[i]);
          else for (const std::uint32_t part : parts_.of(text_.tag[i])) seen.emplace(row, part);
        }
      });
    }
  }
  begin_.assign(1, 0);
  auto next = seen.begin();
  for (std::uint32_t row = 0; row < keys_.size(); ++row) {
    if (is_dense && row_count_[row] > 0.0) {
      for (std::uint32_t t = 0; t < num_parts_; ++t) part_of_.push_back(t);
    }
    for (; next != seen.end() && next->first == row; ++next) part_of_.push_back(next->second);
    begin_.push_back(part_of_.size());
  }
  weights_.assign(part_of_.size(), 0.0f);
  squares_.assign(part_of_.size(), FIRST_SQUARE);
}

// kappa ln p(t | w) for each token, which is left out of the counts itself.
void ContextTrainer::compute_bases(const Guesser& guesser) {
  std::vector<std::map<std::uint32_t, double>> counts(text_.words.size());
  for (std::size_t i = 0; i < text_.word.size(); ++i) {
    if (text_.counted[i] != NO_TAG) ++counts[text_.word[i]][text_.counted[i]];
  }
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> known;
  std::map<std::pair<std::uint32_t, bool>, std::vector<double>> guesses;
  base_of_.resize(text_.word.size());
  for (std::size_t s = 0; s + 1 < text_.begin.size(); ++s) {
    for (std::size_t i = text_.begin[s]; i < text_.begin[s + 1]; ++i) {
      const std::uint32_t w = text_.word[i], tag = text_.counted[i];
      const bool is_first = i == text_.begin[s];
      const auto [place, is_new] =
          known.try_emplace({w, tag, is_first}, static_cast<std::uint32_t>(known.size()));
      base_of_[i] = place->second;
      if (!is_new) continue;
      std::vector<double>& guess = guesses[{w, is_first}];
      if (guess.empty()) {
        guess.resize(num_tags_);
        guesser.guess(text_.words[w], is_first, guess);
      }
      double total = tag == NO_TAG ? 0.0 : -1.0;
      for (const auto& [t, count] : counts[w]) total += count;
      const double m = std::max(options_.guess_weight, 1e-3);
      for (std::uint32_t t = 0; t < num_tags_; ++t) {
        const auto found = counts[w].find(t);
        const double count = (found == counts[w].end() ? 0.0 : found->second) - (t == tag ? 1.0 : 0.0);
        const double prob = (count + m * std::exp(guess[t])) / (total + m);
        bases_.push_back(static_cast<float>(options_.base_weight * std::max(std::log(prob), -30.0)));
      }
    }
  }
}

// --------------------------------------------------------------------- scores

// The features of a sentence's words; with `hide` some words' own names are left out.
void ContextTrainer::collect(std::size_t sentence, bool hide, Random& random) {
  const std::size_t first = text_.begin[sentence], size = text_.begin[sentence + 1] - first;
  if (positions_.size() < size) positions_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    Position& position = positions_[i];
    position.rows.clear();
    position.base = bases_.data() + base_of_[first + i] * num_tags_;
    const double count = static_cast<double>(word_count_[text_.word[first + i]]);
    const bool is_hidden = hide && random.uniform() * (1.0 + count) < 1.0;
    for_each_word(sentence, first + i, [&](Role role, std::uint32_t word) {
      const std::vector<std::uint32_t>& rows = rows_of_[static_cast<std::size_t>(role)][word];
      const std::ptrdiff_t skipped = role == Role::OWN && is_hidden ? NUM_IDENTITY : 0;
      position.rows.insert(position.rows.end(), rows.begin() + skipped, rows.end());
    });
    score(position);
  }
}

// s(t), into `gradient`.
void ContextTrainer::score(Position& position) const {
  std::vector<float> scores(num_parts_, 0.0f);
  if (parts_.is_trivial()) scores.assign(position.base, position.base + num_tags_);
  for (std::size_t i = 0; i < position.rows.size(); ++i) {
    if (i + PREFETCH < position.rows.size()) {
      const std::uint64_t next = begin_[position.rows[i + PREFETCH]];
      prefetch(weights_.data() + next);
      prefetch(squares_.data() + next);
    }
    const std::uint32_t row = position.rows[i];
    const float* weights = weights_.data() + begin_[row];
    const std::uint32_t* tags = part_of_.data() + begin_[row];
    const std::size_t size = begin_[row + 1] - begin_[row];
    if (size == num_parts_) {
      for (std::size_t t = 0; t < size; ++t) scores[t] += weights[t];
    } else {
      for (std::size_t k = 0; k < size; ++k) scores[tags[k]] += weights[k];
    }
  }
  if (!parts_.is_trivial()) {
    std::vector<float> tags(position.base, position.base + num_tags_), work;
    parts_.add_to_tags(scores, tags, work);
    scores.swap(tags);
  }
  position.gradient.assign(scores.begin(), scores.end());
}

// The gradient by parts in place of that by tags.
void ContextTrainer::by_part(Position& position) const {
  if (parts_.is_trivial()) return;
  std::vector<double> parts, work;
  parts_.sum_by_part(position.gradient, parts, work);
  position.gradient.swap(parts);
}

// p(t) - p(t | evidence) in place of the scores; returns ln p(evidence).
double ContextTrainer::local_gradient(std::size_t token, Position& position) const {
  std::vector<double>& g = position.gradient;
  const std::uint32_t right = text_.tag[token];
  const std::span<const std::uint32_t> tags = text_.evidence_tags(token);
  if (right == NO_TAG && tags.empty()) {
    std::fill(g.begin(), g.end(), 0.0);
    return 0.0;
  }
  const double most = *std::max_element(g.begin(), g.end());
  const double score = right == NO_TAG ? 0.0 : g[right] - most;
  double total = 0.0;
  for (double& x : g) total += x = std::exp(x - most);
  for (double& x : g) x /= total;
  if (right != NO_TAG) {
    g[right] -= 1.0;
    return score - std::log(total);
  }
  double supported = 0.0;
  for (const std::uint32_t t : tags) supported += g[t] * std::exp(text_.log_evidence(token, t));
  supported = std::max(supported, std::numeric_limits<double>::min());
  std::vector<double> posterior;
  for (const std::uint32_t t : tags) posterior.push_back(g[t] * std::exp(text_.log_evidence(token, t)) / supported);
  for (std::size_t k = 0; k < tags.size(); ++k) g[tags[k]] -= posterior[k];
  return std::log(supported);
}

// ----------------------------------------------------------------- structured

void ContextTrainer::set_transitions(FoldTransitions transitions) {
  transitions_ = std::move(transitions);
  steps_.clear();
  for (const NgramTable* table : transitions_.tables) steps_.emplace_back(*table);
  if (transitions_.fold.size() + 1 != text_.begin.size()) misfit_of_text("the number of folds' sentences");
  std::map<std::string, std::uint32_t> own;
  symbol_of_.assign(num_tags_, -1);
  for (std::size_t i = 0; i < transitions_.symbols.size(); ++i) {
    const ContextSymbol& symbol = transitions_.symbols[i];
    std::uint32_t row = 0;
    if (!symbol.word.empty()) {
      row = own.try_emplace(symbol.word, static_cast<std::uint32_t>(own.size()) + 1).first->second;
    }
    if (symbol_of_.size() < (row + 1) * num_tags_) symbol_of_.resize((row + 1) * num_tags_, -1);
    if (symbol.tag >= num_tags_ || symbol.ids.size() != transitions_.tables.size()) misfit_of_text("a symbol's ids");
    for (std::size_t f = 0; f < symbol.ids.size(); ++f) {
      if (symbol.ids[f] >= transitions_.tables[f]->vocabulary.size()) misfit_of_text("a symbol's ids");
    }
    symbol_of_[row * num_tags_ + symbol.tag] = static_cast<std::int32_t>(i);
  }
  for (const std::uint32_t f : transitions_.fold) {
    if (f >= transitions_.tables.size()) misfit_of_text("a fold is out of range");
  }
  own_word_.clear();
  for (const std::string& word : text_.words) {
    const auto found = own.find(to_lower(word));
    own_word_.push_back(found == own.end() ? 0 : found->second);
  }
}

// Whether the evidence names a tag that the word has a symbol for: frequent words lack those of unseen tags.
bool ContextTrainer::has_support(const std::int32_t* symbols, std::size_t token) const {
  for (std::uint32_t t = 0; t < num_tags_; ++t) {
    if (symbols[t] >= 0 && text_.log_evidence(token, t) != LOG_ZERO) return true;
  }
  return false;
}

// The candidates of a sentence whose scores are in `gradient`; constrained: weighted by the evidence.
void ContextTrainer::fill_lattice(std::size_t sentence, bool constrained) {
  const std::size_t first = text_.begin[sentence], size = text_.begin[sentence + 1] - first;
  const std::uint32_t fold = transitions_.fold[sentence];
  slot_begin_.assign(1, 0);
  slot_ids_.clear(), slot_tags_.clear(), slot_scores_.clear();
  std::vector<double> scores(num_tags_);
  for (std::size_t i = 0; i < size; ++i) {
    const std::int32_t* symbols = symbol_of_.data() + own_word_[text_.word[first + i]] * num_tags_;
    double best = LOG_ZERO;
    for (std::size_t t = 0; t < num_tags_; ++t) {
      if (symbols[t] < 0) continue;
      const double log_prior = transitions_.symbols[static_cast<std::size_t>(symbols[t])].log_prior;
      scores[t] = positions_[i].gradient[t] - options_.prior_weight * log_prior;
      best = std::max(best, scores[t]);
    }
    const bool is_known = constrained && has_support(symbols, first + i);
    for (std::uint32_t t = 0; t < num_tags_; ++t) {
      if (symbols[t] < 0) continue;
      const double log_e = text_.log_evidence(first + i, t);
      const bool is_named = log_e != LOG_ZERO && text_.is_annotated(first + i);
      if ((is_known && log_e == LOG_ZERO) || (!is_named && scores[t] < best - options_.margin)) continue;
      slot_ids_.push_back(transitions_.symbols[static_cast<std::size_t>(symbols[t])].ids[fold]);
      slot_tags_.push_back(t);
      slot_scores_.push_back(scores[t] + (is_known ? log_e : 0.0));
    }
    if (slot_ids_.size() == slot_begin_.back()) misfit_of_text("a word has a tag without a symbol");
    slot_begin_.push_back(slot_ids_.size());
  }
  marginals_.resize(slot_ids_.size());
}

// The marginals less those that the annotation leaves, in place of the scores; returns ln p(annotation).
double ContextTrainer::structured_gradient(std::size_t sentence) {
  const std::size_t size = text_.begin[sentence + 1] - text_.begin[sentence];
  StepMemory& steps = steps_[transitions_.fold[sentence]];
  std::vector<std::vector<double>> result(size, std::vector<double>(num_tags_, 0.0));
  double log_likelihood = 0.0;
  for (const bool constrained : {false, true}) {
    const double sign = constrained ? -1.0 : 1.0;
    fill_lattice(sentence, constrained);
    log_likelihood -= sign * lattice_.sum(steps, slot_begin_, slot_ids_, slot_scores_, marginals_);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t c = slot_begin_[i]; c < slot_begin_[i + 1]; ++c) {
        result[i][slot_tags_[c]] += sign * marginals_[c];
      }
    }
  }
  for (std::size_t i = 0; i < size; ++i) positions_[i].gradient = std::move(result[i]);
  return log_likelihood;
}

// -------------------------------------------------------------------- updates

// Calls visit(index of the weight, tag) for the weights of a row whose tags are active.
template <class Visit>
void ContextTrainer::for_each_weight(std::uint32_t row, const Position& position, Visit visit) const {
  const std::size_t begin = begin_[row], size = begin_[row + 1] - begin;
  if (size == num_parts_) {
    for (const std::uint32_t t : position.active) visit(begin + t, t);
    return;
  }
  for (std::size_t k = begin; k < begin + size; ++k) {
    if (std::binary_search(position.active.begin(), position.active.end(), part_of_[k])) visit(k, part_of_[k]);
  }
}

void ContextTrainer::apply(Position& position, double rate) {
  position.active.clear();
  by_part(position);
  for (std::uint32_t t = 0; t < num_parts_; ++t) {
    if (std::abs(position.gradient[t]) > LEAST_GRADIENT) position.active.push_back(t);
  }
  if (position.active.empty()) return;
  const auto step = static_cast<float>(rate);
  for (const std::uint32_t row : position.rows) {
    const auto pull = static_cast<float>(options_.penalty / row_count_[row]);
    for_each_weight(row, position, [&](std::size_t k, std::uint32_t t) {
      const float g = static_cast<float>(position.gradient[t]) + pull * weights_[k];
      squares_[k] += g * g;
      weights_[k] -= step * g / std::sqrt(squares_[k]);
    });
  }
}

void ContextTrainer::epoch(double rate, bool structured) {
  if (structured && transitions_.tables.empty()) misfit_of_text("the structured stage has no model of tags");
  Random random(options_.seed, num_epochs_++);
  std::vector<std::uint32_t> order(text_.begin.size() - 1);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const std::uint32_t sentence : order) {
    base::check_interrupt();
    const std::size_t first = text_.begin[sentence], size = text_.begin[sentence + 1] - first;
    if (size == 0) continue;
    collect(sentence, options_.drop_words, random);
    if (structured) structured_gradient(sentence);
    for (std::size_t i = 0; i < size; ++i) {
      if (!structured) local_gradient(first + i, positions_[i]);
      apply(positions_[i], rate);
    }
  }
}

double ContextTrainer::log_likelihood(bool structured, std::vector<double>* gradient) {
  if (gradient != nullptr) gradient->assign(weights_.size(), 0.0);
  Random random(options_.seed);
  double result = 0.0;
  for (std::size_t s = 0; s + 1 < text_.begin.size(); ++s) {
    const std::size_t first = text_.begin[s], size = text_.begin[s + 1] - first;
    if (size == 0) continue;
    collect(s, false, random);
    if (structured) result += structured_gradient(s);
    for (std::size_t i = 0; i < size; ++i) {
      Position& position = positions_[i];
      if (!structured) result += local_gradient(first + i, position);
      if (gradient == nullptr) continue;
      by_part(position);
      position.active.resize(num_parts_);
      std::iota(position.active.begin(), position.active.end(), 0);
      for (const std::uint32_t row : position.rows) {
        for_each_weight(row, position, [&](std::size_t k, std::uint32_t t) { (*gradient)[k] -= position.gradient[t]; });
      }
    }
  }
  return result;
}

ContextWeights ContextTrainer::finish(double least) const {
  ContextWeights result;
  result.begin.push_back(0);
  for (std::size_t row = 0; row < keys_.size(); ++row) {
    for (std::size_t k = begin_[row]; k < begin_[row + 1]; ++k) {
      if (std::abs(weights_[k]) < least || weights_[k] == 0.0f) continue;
      result.parts.push_back(part_of_[k]);
      result.weights.push_back(weights_[k]);
    }
    if (result.parts.size() == result.begin.back()) continue;
    result.keys.push_back(keys_[row]);
    result.begin.push_back(result.parts.size());
  }
  return result;
}

}  // namespace hiddenite::channel
