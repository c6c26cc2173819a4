#include "hiddenite/hmm/guide/guide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hiddenite/base/error.hpp"

namespace hiddenite::hmm {

void Guide::check(WordId w) const {
  if (w >= chain_->num_words()) throw ModelError("a word that the model does not have");
}

GuidePrefix Guide::begin() const {
  const std::uint32_t start = ahead_.automaton().start;
  return {chain_->begin(), 0, ahead_.is_live(0, start) ? start : DEAD, false};
}

double Guide::follow(GuidePrefix& prefix, WordId w) const {
  check(w);
  return chain_->advance(w, prefix.belief);
}

double Guide::advance(GuidePrefix& prefix, WordId w) const {
  check(w);
  if (prefix.ended) return w == chain_->end() ? 1.0 : 0.0;
  const double probability = chain_->advance(w, prefix.belief);
  if (w == chain_->end()) {
    prefix.ended = true;
    if (prefix.state != DEAD && !ahead_.may_end(prefix.length, prefix.state)) prefix.state = DEAD;
    return probability;
  }
  const WordId fixed = ahead_.window().word(prefix.length);
  const bool fits = prefix.state != DEAD && (fixed == NO_WORD || fixed == w);
  const std::uint32_t next = fits ? ahead_.automaton().next(prefix.state, w) : DEAD;
  ++prefix.length;
  prefix.state = ahead_.is_live(prefix.length, next) ? next : DEAD;
  return probability;
}

void Guide::advance_unknown(GuidePrefix& prefix, std::uint32_t class_id) const {
  const Automaton& automaton = ahead_.automaton();
  if (class_id >= automaton.num_classes()) throw ModelError("a class that the automaton does not have");
  if (prefix.ended) return;
  chain_->advance(NO_WORD, prefix.belief);
  const bool fits = prefix.state != DEAD && ahead_.window().word(prefix.length) == NO_WORD;
  const std::uint32_t next =
      fits ? automaton.target[std::size_t{prefix.state} * automaton.num_classes() + class_id] : DEAD;
  ++prefix.length;
  prefix.state = ahead_.is_live(prefix.length, next) ? next : DEAD;
}

NextWords Guide::next_words(const GuidePrefix& prefix, const std::vector<WordId>& words) const {
  for (const WordId w : words) check(w);
  const std::size_t size = words.empty() ? chain_->num_words() : words.size();
  NextWords result{std::vector<double>(size, 0.0), std::vector<double>(size, 0.0), {}, 0.0};
  const NextColumns columns = ahead_.columns(prefix.length, prefix.state, result.log_scale);
  result.unknown.assign(columns.column.size(), 0.0);
  chain_->next_words(prefix.belief, columns, words, threads_, result.probability.data(), result.joint.data(),
                     result.unknown.data());
  return result;
}

NextBounds Guide::next_bounds(const GuidePrefix& prefix) const {
  if (!chain_->states_emit()) throw ModelError("bounds need a model whose states emit");
  NextBounds result;
  const NextColumns columns = ahead_.columns(prefix.length, prefix.state, result.log_scale);
  const std::size_t classes = columns.column.size();
  for (auto* to : {&result.least, &result.most, &result.mean}) to->assign(classes, 0.0);
  for (std::size_t c = 0; c < classes; ++c) {
    const std::uint32_t column = columns.column[c];
    if (column == DEAD) continue;
    const auto same = std::find(columns.column.begin(), columns.column.end(), column) - columns.column.begin();
    const auto first = static_cast<std::size_t>(same);  // classes that lead to one state have one column
    double least = result.least[first], most = result.most[first], mean = result.mean[first];
    if (first == c) {
      least = std::numeric_limits<double>::infinity();
      for (std::size_t z = 0; z < prefix.belief.size(); ++z) {
        if (!(prefix.belief[z] > 0.0)) continue;
        const double value = columns.factor[column] * columns.values[z * columns.width + column];
        least = std::min(least, value);
        most = std::max(most, value);
        mean += prefix.belief[z] * value;
      }
    }
    result.least[c] = std::min(least, most);
    result.most[c] = most;
    result.mean[c] = mean;
  }
  return result;
}

double Guide::log_prob(const GuidePrefix& prefix) const {
  if (prefix.state == DEAD) return LOG_ZERO;
  if (prefix.ended) return is_satisfied(prefix) ? 0.0 : LOG_ZERO;
  if (chain_->end() == NO_WORD && prefix.length == ahead_.window().longest) return 0.0;
  double log_scale = LOG_ZERO, total = 0.0;
  if (!chain_->states_emit()) {
    const NextWords next = next_words(prefix);
    for (const double joint : next.joint) total += joint;
    return total > 0.0 ? std::log(total) + next.log_scale : LOG_ZERO;
  }
  const std::vector<double> values = ahead_.emitted(prefix.length, prefix.state, log_scale);
  for (std::size_t z = 0; z < values.size(); ++z) total += prefix.belief[z] * values[z];
  return total > 0.0 ? std::log(total) + log_scale : LOG_ZERO;
}

std::vector<bool> Guide::allowed_classes(const GuidePrefix& prefix) const {
  const Automaton& automaton = ahead_.automaton();
  std::vector<bool> result(automaton.num_classes(), false);
  for (std::uint32_t c = 0; c < result.size() && prefix.state != DEAD && !prefix.ended; ++c) {
    const std::uint32_t next = automaton.target[std::size_t{prefix.state} * automaton.num_classes() + c];
    result[c] = ahead_.is_live(prefix.length + 1, next);
  }
  return result;
}

bool Guide::is_satisfied(const GuidePrefix& prefix) const {
  if (prefix.state == DEAD) return false;
  return prefix.ended || ahead_.may_end(prefix.length, prefix.state);
}

}  // namespace hiddenite::hmm
