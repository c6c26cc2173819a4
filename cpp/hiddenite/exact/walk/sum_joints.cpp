// The forward pass at a joint: what is measured against there, and the unit of its masses.
#include <algorithm>
#include <cmath>

#include "hiddenite/exact/empty_support.hpp"
#include "hiddenite/exact/walk/sums.hpp"

namespace hiddenite::exact {

// Words that much was left out to get a state to measure by, if that says more than the root.
template <class Number>
void ForwardSum<Number>::add_references(std::size_t i, Joint& to) {
  to.root = place_of(ROOT, to);
  if (is_last_) return;
  const Slot& slot = graph_->slot(i);
  const std::uint32_t next_class = next_words_.one_class();
  for (std::uint32_t k = 0; k < slot.size(); ++k) {
    const WordId w = slot.word[k];
    const double fall = next_class ? index_.fall_after_word(next_class)[w] : 0.0;
    if (most_left_out_[k] + index_.up_of_word(w) + fall < log_least_) continue;
    const NodeId s = index_.arc(1 + w).next;
    if (s == ROOT || !(index_.state(s).classes & to.classes)) continue;
    const std::uint32_t place = place_of(s, to);
    to.left_out.resize(to.states.size());
    to.left_out[place] += Number::from_log(most_left_out_[k]);
  }
}

// False if what was kept leads nowhere.
template <class Number>
bool ForwardSum<Number>::finish_joint(std::size_t i) {
  const std::uint32_t number = candidates_->span(i).to;
  Joint& joint = graph_->joints[number];
  if (graph_->leaves_out && number + 1 < candidates_->num_joints()) {
    for (std::size_t p = first_into_; p <= i; ++p) note_references(p);
  }
  for (const NodeId s : joint.states) {
    if (s <= num_words_) place_of_word_[s] = NONE;
  }
  bool has_mass = false;
  for (const Number value : joint.values) {
    if (value.is_zero()) continue;
    has_mass = true;
    if constexpr (!IS_LINEAR<Number>) graph_->magnitude = std::max(graph_->magnitude, std::fabs(value.log()));
  }
  if (!has_mass && candidates_->is_chain()) {
    if (graph_->leaves_out) return false;
    throw_no_path(*candidates_, i);
  }
  graph_->num_states += joint.states.size();
  joint.exponent = joint.exponent_before;
  rescale(joint.values, joint.exponent);
  if (joint.left_out.empty()) return true;
  const Number unit = in_unit<Number>(joint.exponent_before, joint.exponent);
  for (Number& mass : joint.left_out) mass = mass * unit;
  return true;
}

template <class Number>
void ForwardSum<Number>::note_references(std::size_t i) {
  const Slot& slot = graph_->slot(i);
  std::vector<std::uint32_t>& reference = graph_->positions[i].reference;
  reference.resize(slot.size());
  for (std::uint32_t k = 0; k < slot.size(); ++k) reference[k] = place_of_word_[1 + slot.word[k]];
}

template void ForwardSum<Linear>::add_references(std::size_t, Joint&);
template bool ForwardSum<Linear>::finish_joint(std::size_t);
template void ForwardSum<Logarithmic>::add_references(std::size_t, Joint&);
template bool ForwardSum<Logarithmic>::finish_joint(std::size_t);

}  // namespace hiddenite::exact
