#include "hiddenite/hmm/lexical/guided.hpp"

#include <algorithm>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t NEXT_WORDS_AT_ONCE = 256;

ContextId context_of(const std::vector<double>& belief) { return static_cast<ContextId>(belief[0]); }

}  // namespace

LexicalAhead::LexicalAhead(const LexicalHmm& model, const Automaton& automaton,
                           const std::vector<AutomatonEdge>& edges, bool best)
    : model_(model), class_of_(automaton.class_of), num_classes_(automaton.num_classes()) {
  if (best) {
    maxima_ = std::make_unique<LexicalMaxima>(model);
  } else {
    backward_ = std::make_unique<LexicalBackward>(model);
  }
  for (const AutomatonEdge& edge : edges) edge_classes_.push_back(edge.classes);
}

void LexicalAhead::apply(const AheadStep& step, const double* next, double* out, int threads) const {
  std::vector<std::vector<AheadStep::Term>> by_class(num_classes_);
  for (const AheadStep::Term& term : step.terms) {
    if (step.word != NO_WORD) {
      by_class[class_of_[step.word]].push_back(term);
    } else {
      for (const std::uint32_t c : edge_classes_[term.edge]) by_class[c].push_back(term);
    }
  }
  std::vector<double> ahead(model_.num_states() * step.width, 0.0);
  std::copy(step.ends.begin(), step.ends.end(), ahead.begin() + static_cast<std::ptrdiff_t>(
                                                                    model_.state_begin[SENTENCE_END] * step.width));
  for (ContextId y = 0; y < model_.contexts.size(); ++y) {
    const WordId w = model_.contexts.last(y);
    if (w == SENTENCE_END || !model_.emits(w) || (step.word != NO_WORD && step.word != w)) continue;
    for (std::uint64_t s = model_.state_begin[y]; s < model_.state_begin[y + 1]; ++s) {
      for (const AheadStep::Term& term : by_class[class_of_[w]]) {
        ahead[s * step.width + term.column] = term.factor * next[s * step.next_width + term.next_column];
      }
    }
  }
  if (maxima_ != nullptr) {
    maxima_->step(ahead.data(), step.width, out, threads);
  } else {
    backward_->step(ahead.data(), step.width, out, threads);
  }
}

void LexicalAhead::emit(const AheadStep&, const double*, double*) const {
  throw ModelError("the states of a lexicalised model do not emit");
}

double GuidedLexical::advance(WordId w, std::vector<double>& belief) const {
  if (w == NO_WORD || !model_.emits(w)) return 0.0;
  if (context_of(belief) == SENTENCE_END) belief = begin();  // another sentence
  LexicalMove move(model_);
  move.open(context_of(belief), w);
  std::vector<double> next(std::size_t{move.to_size()} + 1, 0.0);
  move.add_forward(belief.data() + 1, next.data() + 1);
  double sum = 0.0;
  for (std::size_t i = 1; i < next.size(); ++i) sum += next[i];
  if (!(sum > 0.0)) return 0.0;
  for (double& x : next) x /= sum;
  next[0] = static_cast<double>(move.to());
  belief = std::move(next);
  return sum;
}

void GuidedLexical::next_words(const std::vector<double>& belief, const NextColumns& columns,
                               const std::vector<WordId>& words, int threads, double* probability, double* joint,
                               double* unknown) const {
  const ContextId x = context_of(belief);
  const double* const shares = belief.data() + 1;
  const auto value = [&](ContextId y, std::uint32_t i, std::uint32_t column) {
    return columns.values[(model_.state_begin[y] + i) * columns.width + column];
  };
  for (std::size_t c = 0; c < columns.column.size(); ++c) {
    unknown[c] = 0.0;
    const std::uint32_t column = columns.column[c];
    for (std::uint32_t i = 0; i < model_.states_of(x) && column != DEAD; ++i) {
      unknown[c] += columns.factor[column] * shares[i] * value(x, i, column);
    }
  }
  const std::size_t size = words.empty() ? model_.num_words() : words.size();
  parallel_for((size + NEXT_WORDS_AT_ONCE - 1) / NEXT_WORDS_AT_ONCE, threads, [&](std::size_t piece, int) {
    LexicalMove move(model_);
    std::vector<double> moved;
    for (std::size_t i = piece * NEXT_WORDS_AT_ONCE; i < std::min(size, (piece + 1) * NEXT_WORDS_AT_ONCE); ++i) {
      const WordId w = words.empty() ? static_cast<WordId>(i) : words[i];
      probability[i] = joint[i] = 0.0;
      if (x == SENTENCE_END || !model_.emits(w)) continue;
      move.open(x, w);
      for (std::uint32_t s = 0; s < move.from_size(); ++s) probability[i] += shares[s] * move.probability(s);
      if (w == SENTENCE_END) joint[i] = probability[i] * columns.end;
      const std::uint32_t column = columns.column[(*columns.class_of)[w]];
      if (w == SENTENCE_END || column == DEAD || (columns.word != NO_WORD && columns.word != w)) continue;
      moved.assign(move.to_size(), 0.0);
      move.add_forward(shares, moved.data());
      for (std::uint32_t s = 0; s < moved.size(); ++s) joint[i] += moved[s] * value(move.to(), s, column);
      joint[i] *= columns.factor[column];
    }
  });
}

std::unique_ptr<AheadOperator> GuidedLexical::ahead(const Automaton& automaton,
                                                    const std::vector<AutomatonEdge>& edges, bool best) const {
  return std::make_unique<LexicalAhead>(model_, automaton, edges, best);
}

}  // namespace hiddenite::hmm
