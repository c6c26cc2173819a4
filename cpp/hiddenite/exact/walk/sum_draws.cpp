// Draws from the paths that a forward pass has kept.
//
// They run backwards along the masses, all of them together: draws that agree
// so far are told apart only where they part, and a state's table is made once
// for all that come to it. A word path has one path of states, so each bundle
// that arrives is a path of its own.
#include <cmath>

#include "hiddenite/exact/walk/sums.hpp"

namespace hiddenite::exact {

namespace {

// The first place of first .. last whose running sum exceeds the target.
template <class Number>
std::uint32_t first_above(const std::vector<Number>& sums, std::uint32_t first, std::uint32_t last, Number target) {
  const auto found = std::upper_bound(sums.begin() + first, sums.begin() + last, target);
  return std::min(static_cast<std::uint32_t>(found - sums.begin()), last - 1);
}

// The same for a uniform share of the total. There must be something to draw from.
template <class Number>
std::uint32_t pick(const std::vector<Number>& sums, std::uint32_t first, std::uint32_t last, Random& random) {
  if (first == last || !std::isfinite(sums[last - 1].log())) throw OutOfRange();
  return first_above(sums, first, last, sums[last - 1] * random.uniform());
}

// Its place in the slot's candidates.
std::uint32_t pick_candidate(const Slot& slot, std::uint32_t k, Random& random) {
  const std::uint32_t first = slot.begin[k], last = slot.begin[k + 1];
  const double u = random.uniform();
  double sum = 0.0;
  for (std::uint32_t c = first; c + 1 < last; ++c) {
    sum += std::exp(slot.log_weight[c] - slot.log_sum[k]);
    if (u < sum) return c;
  }
  return last - 1;
}

// How many of `count` draws have an event of that probability.
std::uint64_t count_below(double prob, std::uint64_t count, Random& random) {
  if (prob >= 1.0) return count;
  if (prob <= 0.0) return 0;
  std::uint64_t result = 0;
  for (std::uint64_t n = 0; n < count; ++n) result += random.uniform() < prob;
  return result;
}

}  // namespace

template <class Number>
void SumDraws<Number>::Table::clear() {
  items.clear();
  sums.clear();
  most = {};
}

template <class Number>
void SumDraws<Number>::Table::add(std::uint32_t item, Number mass) {
  if (most < mass) {
    most = mass;
    heaviest = static_cast<std::uint32_t>(items.size());
  }
  items.push_back(item);
  sums.push_back(sums.empty() ? mass : sums.back() + mass);
}

// The place of an item, by its mass. Laws are sharp: most often it is the heaviest, and nothing is searched.
template <class Number>
std::uint32_t SumDraws<Number>::Table::draw(Random& random) const {
  const Number target = sums.back() * random.uniform();
  if (target < sums[heaviest] && (heaviest == 0 || !(target < sums[heaviest - 1]))) return heaviest;
  return first_above(sums, 0, static_cast<std::uint32_t>(sums.size()), target);
}

// Last position first: draws that have chosen the same words so far are one bundle. The words behind a state decide
// how they go on, so bundles in one state share its table.
template <class Number>
std::vector<DrawnPath> SumDraws<Number>::sample(Graph& graph, std::uint64_t count, Random& random) {
  graph_ = &graph;
  candidates_ = graph.candidates;
  std::vector<std::vector<Bundle>> bundles(candidates_->num_joints());  // [joint]
  if (count > 0) bundles.back().push_back({0, NONE, NONE, NONE, count});  // the one state that sums up the last joint
  for (std::size_t end = candidates_->num_positions(); end > 0;) {
    std::size_t begin = end - 1;  // positions begin .. end lead to one joint
    while (!candidates_->is_first_into(begin)) --begin;
    const std::vector<Bundle>& after = bundles[candidates_->span(begin).to];
    tabulate_arcs(begin, end, after);
    draw_arcs(begin, end, after, random);
    draw_candidates(random);
    draw_origins(bundles, random);
    end = begin;
  }
  return read_off(bundles);
}

// Entries by suffix, with running sums of what they bring.
template <class Number>
void SumDraws<Number>::prepare(Position& position) {
  if (!position.extension_sums.empty() || position.entries.empty()) return;
  const std::size_t size = position.entries.size();
  position.first_extension.assign(size + 1, 0);
  for (std::size_t e = 0; e < size; ++e) {
    position.first_extension[e + 1] = position.first_extension[e] + position.entries[e].num_extensions;
  }
  position.extensions.resize(size - 1);
  position.extension_sums.resize(size - 1);
  std::vector<std::uint32_t> next(position.first_extension.begin(), position.first_extension.end() - 1);
  std::vector<Number> sums(size);
  for (std::uint32_t e = 0; e + 1 < size; ++e) {
    const std::uint32_t suffix = position.entries[e].suffix;
    position.extensions[next[suffix]] = e;
    position.extension_sums[next[suffix]++] = sums[suffix] += position.entries[e].backed_off;
  }
}

// A table for each state of a joint that a bundle is in, by one look at all arcs of the positions begin .. end
// that lead there. Arcs are numbered through.
template <class Number>
void SumDraws<Number>::tabulate_arcs(std::size_t begin, std::size_t end, const std::vector<Bundle>& bundles) {
  table_of_.assign(graph_->joints[candidates_->span(begin).to].states.size(), NONE);
  std::uint32_t num_tables = 0;
  for (const Bundle& bundle : bundles) {
    if (table_of_[bundle.state] != NONE) continue;
    table_of_[bundle.state] = num_tables;
    if (tables_.size() == num_tables) tables_.emplace_back();
    tables_[num_tables++].clear();
  }
  std::uint32_t number = 0;
  for (std::size_t i = begin; i < end; ++i) {
    prepare(graph_->positions[i]);
    for (const auto& arc : graph_->positions[i].arcs) {
      const std::uint32_t a = number++;
      if (table_of_[arc.to] != NONE) tables_[table_of_[arc.to]].add(a, arc.inflow * arc.factor);
    }
  }
}

// Calls pick_one() `count` times and visit(place, number of times) for each place that came out.
template <class Number>
template <class Pick, class Visit>
void SumDraws<Number>::tally(std::uint64_t count, std::size_t num_places, Pick pick_one, Visit visit) {
  if (num_places == 1) return visit(0, count);
  if (times_.size() < num_places) times_.resize(num_places, 0);
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::uint32_t place = pick_one();
    if (times_[place]++ == 0) picked_.push_back(place);
  }
  for (const std::uint32_t place : picked_) visit(place, std::exchange(times_[place], 0));
  picked_.clear();
}

template <class Number>
void SumDraws<Number>::draw_arcs(std::size_t begin, std::size_t end, const std::vector<Bundle>& bundles,
                                 Random& random) {
  portions_.clear();
  for (std::uint32_t b = 0; b < bundles.size(); ++b) {
    const Table& table = tables_[table_of_[bundles[b].state]];
    if (table.items.empty() || !std::isfinite(table.sums.back().log())) throw OutOfRange();
    tally(bundles[b].count, table.items.size(), [&] { return table.draw(random); },
          [&](std::uint32_t j, std::uint64_t count) {
            portions_.push_back({static_cast<std::uint32_t>(begin), table.items[j], NONE, b, count});
          });
  }
  if (end - begin == 1) return;
  for (Portion& portion : portions_) {  // to its own position
    for (; portion.arc >= graph_->positions[portion.position].arcs.size(); ++portion.position) {
      portion.arc -= static_cast<std::uint32_t>(graph_->positions[portion.position].arcs.size());
    }
  }
}

// Splits the portions whose word stands for several candidates.
template <class Number>
void SumDraws<Number>::draw_candidates(Random& random) {
  const std::size_t num_portions = portions_.size();
  for (std::size_t p = 0; p < num_portions; ++p) {
    const Portion portion = portions_[p];
    if (portion.position == candidates_->length()) continue;  // </s>
    const Slot& slot = candidates_->slots[portion.position];
    const std::uint32_t k = graph_->positions[portion.position].arcs[portion.arc].word;
    bool is_first = true;
    const auto add = [&](std::uint32_t c, std::uint64_t count) {
      Portion& part = std::exchange(is_first, false) ? portions_[p] : portions_.emplace_back();
      part = {portion.position, portion.arc, slot.candidate[c], portion.parent, count};
    };
    if (slot.begin[k + 1] - slot.begin[k] == 1) {
      add(slot.begin[k], portion.count);
    } else {
      tally(portion.count, slot.candidate.size(), [&] { return pick_candidate(slot, k, random); }, add);
    }
  }
}

// The states whose prefixes used the arcs: an arc's own, or those that backed off to it.
template <class Number>
void SumDraws<Number>::draw_origins(std::vector<std::vector<Bundle>>& bundles, Random& random) {
  for (const Portion& portion : portions_) {
    const Position& position = graph_->positions[portion.position];
    std::vector<Bundle>& before = bundles[candidates_->span(portion.position).from];
    const auto& arc = position.arcs[portion.arc];
    // Those of `count` draws that begin in an entry become a bundle; the number of the others is returned.
    const auto take = [&](std::uint32_t e, Number reach, std::uint64_t count) {
      const std::uint64_t own = count_below(position.entries[e].value.ratio(reach), count, random);
      if (own > 0) {
        before.push_back({position.entries[e].place, portion.position, portion.candidate, portion.parent, own});
      }
      return count - own;
    };
    std::uint64_t rest = take(arc.entry, arc.inflow, portion.count);
    if (rest > 0) draw_extensions_without(position, arc.entry, arc.word, arc.inflow, rest, random);
    // What does not list the word is not extended by anything that does.
    while (!extended_.empty()) {
      const auto [e, count] = extended_.back();
      extended_.pop_back();
      rest = take(e, position.entries[e].reach, count);
      if (rest > 0) draw_extensions(position, e, rest, random);
    }
  }
}

template <class Number>
void SumDraws<Number>::draw_extensions(const Position& position, std::uint32_t e, std::uint64_t count,
                                       Random& random) {
  const std::uint32_t first = position.first_extension[e], last = position.first_extension[e + 1];
  tally_extensions(position, e, count,
                   [&] { return pick(position.extension_sums, first, last, random) - first; });
}

// Of those that do not list the word: many draws from a table, few by trying, if most tries will do.
template <class Number>
void SumDraws<Number>::draw_extensions_without(const Position& position, std::uint32_t e, std::uint32_t k,
                                               Number inflow, std::uint64_t count, Random& random) {
  constexpr std::uint32_t num_tries = 16;
  const std::uint32_t first = position.first_extension[e], last = position.first_extension[e + 1];
  const auto may_use = [&](std::uint32_t j) {
    const std::uint32_t x = position.extensions[j];
    return !position.entries[x].backed_off.is_zero() && !position.lists(x, k);
  };
  const auto tabulate = [&] {
    for (std::uint32_t j = first; j < last; ++j) {
      if (may_use(j)) unlisted_.add(j, position.entries[position.extensions[j]].backed_off);
    }
    if (unlisted_.items.empty()) throw OutOfRange();
  };
  const auto& entry = position.entries[e];
  const double share = inflow.minus(entry.value).ratio(entry.extended);  // of what the extensions bring
  const bool is_few = 8.0 * static_cast<double>(count) < share * (last - first);
  unlisted_.clear();
  tally_extensions(position, e, count, [&] {
    for (std::uint32_t t = 0; is_few && t < num_tries; ++t) {
      const std::uint32_t j = pick(position.extension_sums, first, last, random);
      if (may_use(j)) return j - first;
    }
    if (unlisted_.items.empty()) tabulate();
    return unlisted_.items[unlisted_.draw(random)] - first;
  });
}

template <class Number>
template <class Pick>
void SumDraws<Number>::tally_extensions(const Position& position, std::uint32_t e, std::uint64_t count, Pick pick_one) {
  const std::uint32_t first = position.first_extension[e], last = position.first_extension[e + 1];
  const std::uint32_t* const extensions = position.extensions.data() + first;
  tally(count, last - first, pick_one,
        [&](std::uint32_t j, std::uint64_t times) { extended_.emplace_back(extensions[j], times); });
}

// The bundles of the first joint are the paths.
template <class Number>
std::vector<DrawnPath> SumDraws<Number>::read_off(const std::vector<std::vector<Bundle>>& bundles) const {
  std::vector<DrawnPath> drawn;
  for (const Bundle& first : bundles.front()) {
    DrawnPath& path = drawn.emplace_back();
    path.count = first.count;
    for (const Bundle* bundle = &first; bundle->candidate != NONE;
         bundle = &bundles[candidates_->span(bundle->position).to][bundle->parent]) {
      path.candidates.push_back(bundle->candidate);
      if (!candidates_->is_chain()) path.route.push_back(bundle->position);
    }
  }
  return drawn;
}

template class SumDraws<Linear>;
template class SumDraws<Logarithmic>;

}  // namespace hiddenite::exact
