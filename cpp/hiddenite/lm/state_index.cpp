#include "hiddenite/lm/state_index.hpp"

#include <algorithm>

#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/memory.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::lm {

namespace {

constexpr double INF = std::numeric_limits<double>::infinity();

float round_down(double x) { return -round_up(-x); }

// Sums of bounds, never below the true sum: beside -1e30 a summand of 1 is lost without a trace, unless the sum
// is moved up where it fell short. Where infinities disagree, the bound is none at all.
double add_up(double a, double b) {
  const double sum = a + b;
  if (std::isnan(sum)) return INF;
  if (std::isinf(sum)) return sum;
  const double part_b = sum - a;
  const double lost = (a - (sum - part_b)) + (b - part_b);  // exactly, whatever the magnitudes
  return lost > 0.0 ? std::nextafter(sum, INF) : sum;
}
double add_down(double a, double b) { return -add_up(-a, -b); }

}  // namespace

StateIndex::StateIndex(const NgramTable& table, bool ends) : table_(table), ends_(ends) {
  classify_words();
  link_states();
  bound_states();
  bound_arcs();
  tabulate_classes();
  tabulate_words();
}

StateIndex::StateIndex(const NgramTable& table, bool ends, const Parts& parts)
    : table_(table), ends_(ends), start_(parts.start), states_(Column<State>::view(parts.states)),
      arcs_(Column<Arc>::view(parts.arcs)), heads_(Column<ArcHead>::view(parts.heads)),
      word_class_(Column<std::uint8_t>::view(parts.word_class)),
      up_of_word_(Column<float>::view(parts.up_of_word)),
      unigram_up_to_root_(Column<float>::view(parts.unigram_up_to_root)),
      fall_after_word_(Column<float>::view(parts.fall_after_word)),
      down_after_word_(Column<float>::view(parts.down_after_word)),
      class_tables_(Column<ClassOfArcs>::view(parts.class_tables)) {}

StateIndex::Parts StateIndex::parts() const {
  return {states_.span(), arcs_.span(), heads_.span(), word_class_.span(), up_of_word_.span(),
          unigram_up_to_root_.span(), fall_after_word_.span(), down_after_word_.span(), class_tables_.span(), start_};
}

void StateIndex::classify_words() {
  constexpr std::size_t last_class = 30;
  const Vocabulary& vocabulary = table_.vocabulary;
  word_class_ = std::vector<std::uint8_t>(vocabulary.size());
  std::size_t latest = 1;  // special words have class 0 to themselves
  for (WordId w = NUM_SPECIAL_WORDS; w < vocabulary.size(); ++w) {
    // A class is a range of ids, even if the ids are not in the order of lengths.
    latest = std::max(latest, std::min(count_characters(vocabulary.word(w)), last_class));
    word_class_[w] = static_cast<std::uint8_t>(latest);
  }
}

void StateIndex::link_states() {
  const NodeId num_contexts = table_.num_contexts();
  assign_large(states_, num_contexts + std::size_t{1}, State{});
  states_.back().first_arc = table_.num_nodes();
  assign_large(arcs_, table_.num_nodes(), Arc{});
  std::vector<NodeId> state_of(num_contexts, ROOT);
  for (NodeId s = 0; s < num_contexts; ++s) {
    check_interrupt_at(s);
    const NodeId num_arcs = table_.first_child[s + 1] - table_.first_child[s];
    const bool is_state = s == ROOT || num_arcs > 0 || table_.log_backoff[s] != 0.0f;
    state_of[s] = is_state ? s : state_of[table_.suffix[s]];
    State& state = states_[s];
    state.suffix = s == ROOT ? ROOT : state_of[table_.suffix[s]];
    state.first_arc = table_.first_child[s];
    state.classes = 0;
    for (NodeId a = state.first_arc; a < state.first_arc + num_arcs; ++a) state.classes |= class_bit(table_.word[a]);
    state.log_backoff = table_.log_backoff[s];
  }
  for (NodeId a = 1; a < table_.num_nodes(); ++a) {
    check_interrupt_at(a);
    arcs_[a].word = table_.word[a];
    arcs_[a].log_prob = table_.log_prob[a];
    // Nothing follows </s>, whatever weight a file gives its context.
    arcs_[a].next = table_.word[a] == SENTENCE_END ? ROOT : state_of[table_.context_after(a)];
  }
  start_ = state_of[table_.start()];
}

// From the longest contexts down: an arc's bound needs that of the context it makes.
void StateIndex::bound_states() {
  const NodeId num_contexts = table_.num_contexts();
  for (NodeId s = num_contexts; s-- > 1;) {
    check_interrupt_at(s);
    State& state = states_[s];
    double up = state.log_backoff, down = state.log_backoff;
    for (NodeId a = state.first_arc; a < end_arc(s); ++a) {
      Arc& arc = arcs_[a];
      const double p = arc.log_prob, p_suffix = table_.log_prob[table_.suffix[a]];
      if (p == LOG_ZERO && p_suffix == LOG_ZERO) {
        arc.up = static_cast<float>(-INF), arc.down = static_cast<float>(INF);
        continue;
      }
      double later_up = 0.0, later_down = 0.0;
      if (a < num_contexts && arc.word != SENTENCE_END) later_up = states_[a].up, later_down = states_[a].down;
      if (!ends_) later_up = std::max(later_up, 0.0), later_down = std::min(later_down, 0.0);
      arc.up = round_up(add_up(add_up(p, -p_suffix), later_up));
      arc.down = round_down(add_down(add_down(p, -p_suffix), later_down));
      up = std::max(up, double{arc.up});
      down = std::min(down, double{arc.down});
    }
    state.up = round_up(up);
    state.down = round_down(down);
  }
  states_[ROOT].up = states_[ROOT].down = 0.0f;
}

void StateIndex::bound_arcs() {
  const NodeId num_contexts = table_.num_contexts();
  std::vector<float> down_to_root(num_contexts, 0.0f);
  states_[ROOT].up_to_root = 0.0f;
  for (NodeId s = 1; s < num_contexts; ++s) {
    check_interrupt_at(s);
    State& state = states_[s];
    // Without an end, the difference may also be over before it began.
    const double up = ends_ ? state.up : std::max(state.up, 0.0f);
    const double down = ends_ ? state.down : std::min(state.down, 0.0f);
    state.up_to_root = round_up(add_up(up, states_[state.suffix].up_to_root));
    down_to_root[s] = round_down(add_down(down, down_to_root[state.suffix]));
  }
  assign_large(heads_, table_.num_nodes(), ArcHead{});
  for (NodeId a = 1; a < table_.num_nodes(); ++a) {
    check_interrupt_at(a);
    Arc& arc = arcs_[a];
    heads_[a] = {arc.word, round_up(add_up(arc.log_prob, states_[arc.next].up_to_root))};
    arc.down_to_root = round_down(add_down(arc.log_prob, down_to_root[arc.next]));
  }
  up_of_word_ = std::vector<float>(table_.vocabulary.size());
  for (WordId w = 0; w < table_.vocabulary.size(); ++w) {
    up_of_word_[w] = states_[arcs_[1 + w].next].up_to_root;
  }
  for (NodeId s = 0; s < num_contexts; ++s) {
    check_interrupt_at(s);
    State& state = states_[s];
    float best = static_cast<float>(LOG_ZERO);
    for (NodeId a = state.first_arc; a < end_arc(s); ++a) {
      best = std::max(best, heads_[a].up_to_root);
    }
    state.best_arc = best;
  }
}

void StateIndex::tabulate_classes() {
  const NodeId num_contexts = table_.num_contexts();
  for (NodeId s = 1; s < num_contexts; ++s) {
    check_interrupt_at(s);
    if (end_arc(s) - states_[s].first_arc <= FEW_ARCS) continue;
    class_tables_.push_back({states_[s].first_arc, states_[s].up, states_[s].down, states_[s].best_arc});
    states_[s].table = static_cast<std::uint32_t>(class_tables_.size());
    for (std::uint32_t bits = states_[s].classes; bits != 0; bits &= bits - 1) {
      const float log_backoff = states_[s].log_backoff;
      class_tables_.push_back({end_arc(s), log_backoff, log_backoff, static_cast<float>(LOG_ZERO)});
    }
    for (NodeId a = states_[s].first_arc; a < end_arc(s); ++a) {
      const Arc& arc = arcs_[a];
      ClassOfArcs& c = class_tables_[states_[s].table + num_classes_before(s, class_bit(arc.word))];
      c.first_arc = std::min(c.first_arc, a);
      c.up = std::max(c.up, arc.up);
      c.down = std::min(c.down, arc.down);
      c.best_arc = std::max(c.best_arc, heads_[a].up_to_root);
    }
    states_[s].classes |= HAS_CLASS_TABLE;
  }
  unigram_up_to_root_ = std::vector<float>(table_.vocabulary.size());
  for (WordId w = 0; w < table_.vocabulary.size(); ++w) unigram_up_to_root_[w] = heads_[1 + w].up_to_root;
}

// Most states of a chain end in the state after one word: what it can bring is at hand for each class.
void StateIndex::tabulate_words() {
  const std::size_t num_words = word_class_.size();
  const std::size_t num_classes = std::size_t{1} + *std::max_element(word_class_.begin(), word_class_.end());
  assign_large(fall_after_word_, num_classes * num_words, 0.0f);
  assign_large(down_after_word_, num_classes * num_words, 0.0f);
  std::vector<float> up(num_classes), down(num_classes);
  for (WordId w = 0; w < num_words; ++w) {
    check_interrupt_at(w);
    const NodeId s = arcs_[1 + w].next;
    if (s == ROOT) continue;
    std::fill(up.begin(), up.end(), states_[s].log_backoff);
    std::fill(down.begin(), down.end(), states_[s].log_backoff);
    for (NodeId a = states_[s].first_arc; a < end_arc(s); ++a) {
      const std::size_t c = word_class_[arcs_[a].word];
      up[c] = std::max(up[c], arcs_[a].up);
      down[c] = std::min(down[c], arcs_[a].down);
    }
    for (std::size_t c = 0; c < num_classes; ++c) {
      const float fall = std::isfinite(up_of_word_[w]) ? round_up(add_up(up[c], -up_of_word_[w])) : 0.0f;
      fall_after_word_[c * num_words + w] = std::min(fall, 0.0f);
      down_after_word_[c * num_words + w] = down[c];
    }
  }
}

}  // namespace hiddenite::lm
