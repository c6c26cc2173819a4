#include "hiddenite/channel/edit_model.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/types.hpp"

namespace hiddenite::channel {

namespace {

constexpr double WEIGHT_OF_BASE = 8.0, WEIGHT_OF_PRIOR = 30.0;

void check_counts(std::span<const std::uint64_t> keys, std::span<const double> counts, std::size_t num_letters) {
  if (keys.size() != counts.size()) throw ModelError("the edit model has other numbers of keys and of counts");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Edit edit = Edit::from_key(static_cast<std::uint32_t>(keys[i]));
    const std::uint64_t left = keys[i] >> 32;
    const bool fits = left < num_letters && edit.a < num_letters && edit.b < num_letters && edit.x < num_letters &&
                      edit.y < num_letters && edit.a >= Alphabet::END;
    if (!fits || !(counts[i] >= 0.0) || std::isinf(counts[i])) {
      throw ModelError("the edit model has a piece outside its alphabet or a count that is none");
    }
  }
}

}  // namespace

EditModel::EditModel(Alphabet alphabet, SlipKind kind, std::span<const std::uint64_t> keys,
                     std::span<const double> counts)
    : alphabet_(std::move(alphabet)), prior_(alphabet_, kind) {
  check_counts(keys, counts, alphabet_.size());
  take_counts(keys, counts);
  group_rows(keys);
  bound_rest();
}

// The prior everywhere.
void EditModel::fill_tables() {
  const auto n = static_cast<Letter>(alphabet_.size());
  base_.assign(2 * std::size_t{n} * n * n, 0.0);
  for (Letter a = Alphabet::END; a < n; ++a) {
    for (Letter x = 0; x < n; ++x) {
      for (Letter y = 0; y < n; ++y) {
        base_[place({a, 0, x, y})] = scale_of_first_[a] * prior_.prob_of_form({a, 0, x, y});
        if (y >= Alphabet::END && a != Alphabet::END) {  // y stands for the second intended character
          base_[place({a, y, x, 0})] = scale_of_first_[a] * prior_.prob_of_form({a, y, x, 0});
        }
      }
    }
  }
  for (const std::uint32_t key : prior_.listed_pieces()) {
    const Edit edit = Edit::from_key(key);
    if (!is_listed_form(edit)) {
      base_[place(edit)] = scale_of_first_[edit.a] * prior_.prob(edit);
      continue;
    }
    listed_.insert(key, static_cast<std::uint32_t>(listed_base_.size()));
    listed_keys_.push_back(key);
    listed_base_.push_back(scale_of_first_[edit.a] * prior_.prob(edit));
  }
}

void EditModel::take_counts(std::span<const std::uint64_t> keys, std::span<const double> counts) {
  const std::size_t size = alphabet_.size();
  std::vector<double> total_of_first(size, 0.0), total(size * size, 0.0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Edit edit = Edit::from_key(static_cast<std::uint32_t>(keys[i]));
    total_of_first[edit.a] += counts[i];
    total[(keys[i] >> 32) * size + edit.a] += counts[i];
  }
  scale_of_first_.resize(size);
  for (std::size_t c = 0; c < size; ++c) scale_of_first_[c] = WEIGHT_OF_PRIOR / (total_of_first[c] + WEIGHT_OF_PRIOR);
  scale_.resize(size * size);
  for (std::size_t i = 0; i < scale_.size(); ++i) scale_[i] = WEIGHT_OF_BASE / (total[i] + WEIGHT_OF_BASE);
  fill_tables();
  const auto slot = [&](Edit edit, std::vector<double>& dense, std::vector<double>& sparse) -> double& {
    return is_listed_form(edit) ? sparse[listed_.find(edit.key())] : dense[place(edit)];
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Edit edit = Edit::from_key(static_cast<std::uint32_t>(keys[i]));
    if (is_listed_form(edit) && listed_.find(edit.key()) == FlatMap::ABSENT) {
      listed_.insert(edit.key(), static_cast<std::uint32_t>(listed_base_.size()));
      listed_keys_.push_back(edit.key());
      listed_base_.push_back(scale_of_first_[edit.a] * prior_.prob(edit));
    }
    slot(edit, base_, listed_base_) += counts[i] / (total_of_first[edit.a] + WEIGHT_OF_PRIOR);
  }
  if (!keys.empty()) most_ = base_;  // of a neighbour that was never seen
  listed_most_ = listed_base_;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Edit edit = Edit::from_key(static_cast<std::uint32_t>(keys[i]));
    const double sum = total[(keys[i] >> 32) * size + edit.a];
    const double prob = (counts[i] + WEIGHT_OF_BASE * base(edit)) / (sum + WEIGHT_OF_BASE);
    if (place_with_left_.find(keys[i]) != FlatMap::ABSENT) throw ModelError("the edit model lists a piece twice");
    place_with_left_.insert(keys[i], static_cast<std::uint32_t>(with_left_.size()));
    with_left_.push_back(prob);
    double& most_of_edit = slot(edit, most_, listed_most_);
    most_of_edit = std::max(most_of_edit, prob);
  }
}

double EditModel::base(Edit edit) const {
  if (!is_listed_form(edit)) return base_[place(edit)];
  const std::uint32_t found = listed_.find(edit.key());
  return found == FlatMap::ABSENT ? scale_of_first_[edit.a] * prior_.prob_of_form(edit) : listed_base_[found];
}

double EditModel::prob(Letter left, Edit edit) const {
  const double scale = scale_[left * alphabet_.size() + edit.a];
  if (scale < 1.0) {  // the neighbour was seen
    const std::uint32_t found = place_with_left_.find(key(left, edit));
    if (found != FlatMap::ABSENT) return with_left_[found];
  }
  return scale * base(edit);
}

void EditModel::fill_row(Letter left, Letter a, Letter b, const Letters& seen, double* out) const {
  const std::size_t n = alphabet_.size(), length = seen.size(), width = length + 1;
  const double scale = scale_[left * n + a];
  const bool is_pair = b != Alphabet::NOTHING;
  const double nothing = scale * base_[place({a, b, 0, 0})];
  for (std::size_t j = 0; j <= length; ++j) {
    out[j] = nothing;
    out[width + j] = j >= 1 ? scale * base_[place({a, b, seen[j - 1], 0})] : 0.0;
    if (j < 2) {
      out[2 * width + j] = 0.0;
    } else {
      const Edit edit{a, b, seen[j - 2], seen[j - 1]};
      out[2 * width + j] = scale * (is_pair ? scale_of_first_[a] * prior_.prob_of_form(edit) : base_[place(edit)]);
    }
  }
  const auto put = [&](Letter x, Letter y, double prob) {
    const std::size_t k = (x != Alphabet::NOTHING) + (y != Alphabet::NOTHING);
    for (std::size_t j = k; j <= length; ++j) {
      const bool is_here = k == 0 || (k == 1 ? seen[j - 1] == x : seen[j - 2] == x && seen[j - 1] == y);
      if (is_here) out[k * width + j] = prob;
    }
  };
  if (is_pair) {
    for (std::uint32_t i = listed_begin_[a * n + b]; i < listed_begin_[a * n + b + 1]; ++i) {
      put(listed_rows_[i].x, listed_rows_[i].y, scale * listed_rows_[i].prob);
    }
  }
  const std::size_t triple = (left * n + a) * n + b;
  for (std::uint32_t i = left_begin_[triple]; i < left_begin_[triple + 1]; ++i) {
    put(left_rows_[i].x, left_rows_[i].y, left_rows_[i].prob);
  }
}

// What was learnt of each piece's intended side, side by side.
void EditModel::group_rows(std::span<const std::uint64_t> keys) {
  const std::size_t n = alphabet_.size();
  struct Item {
    std::size_t group;
    SeenAs row;
  };
  const auto lay_out = [](std::vector<Item> items, std::size_t num_groups, std::vector<std::uint32_t>& begin,
                          std::vector<SeenAs>& rows) {
    std::stable_sort(items.begin(), items.end(), [](const Item& p, const Item& q) { return p.group < q.group; });
    begin.assign(num_groups + 1, 0);
    for (const Item& item : items) {
      ++begin[item.group + 1];
      rows.push_back(item.row);
    }
    for (std::size_t g = 0; g < num_groups; ++g) begin[g + 1] += begin[g];
  };
  std::vector<Item> items;
  for (std::size_t i = 0; i < listed_keys_.size(); ++i) {
    const Edit edit = Edit::from_key(listed_keys_[i]);
    items.push_back({edit.a * n + edit.b, {edit.x, edit.y, listed_base_[i]}});
  }
  lay_out(std::move(items), n * n, listed_begin_, listed_rows_);
  items.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Edit edit = Edit::from_key(static_cast<std::uint32_t>(keys[i]));
    items.push_back({((keys[i] >> 32) * n + edit.a) * n + edit.b, {edit.x, edit.y, with_left_[i]}});
  }
  lay_out(std::move(items), n * n * n, left_begin_, left_rows_);
}

double EditModel::most(Edit edit) const {
  if (!is_listed_form(edit)) return (most_.empty() ? base_ : most_)[place(edit)];
  const std::uint32_t found = listed_.find(edit.key());
  return found == FlatMap::ABSENT ? scale_of_first_[edit.a] * prior_.prob_of_form(edit) : listed_most_[found];
}

double EditModel::prob(const Letters& intended, const Letters& seen) const {
  EditRows rows;
  rows.set(*this, seen);
  std::vector<double> before(rows.stride(), 0.0), row(rows.stride(), 0.0), next(rows.stride(), 0.0);
  row[2] = 1.0;
  Letter left = Alphabet::NOTHING, last = Alphabet::BEGIN;
  for (const Letter c : intended) {
    rows.advance(row.data(), before.data(), left, last, c, next.data());
    before.swap(row);
    row.swap(next);
    left = last;
    last = c;
  }
  return rows.finish(row.data(), before.data(), left, last);
}

double EditModel::log_prob(std::u32string_view intended, std::u32string_view seen) const {
  return std::log(prob(alphabet_.letters(intended), alphabet_.letters(seen)));
}

// What a place of the word that is not dropped has at most: 1 / (1 - dropped alone - dropped with the b behind it).
double EditModel::rest_of(Letter c, Letter b) const {
  if (c == Alphabet::END) return 1.0;
  return 1.0 / std::max(1.0 - most({c, 0, 0, 0}) - (b == Alphabet::NOTHING ? 0.0 : most({c, b, 0, 0})), 1e-3);
}

// A piece of c and b seen as two characters, beside c alone seen as the same.
void EditModel::bound_two(Edit edit, double as_two) {
  const std::size_t n = alphabet_.size(), xy = edit.x * n + edit.y;
  double& pair = rest_.pair2[edit.a * n * n + xy];
  pair = std::max(pair, as_two);
  const double two = (most({edit.a, 0, edit.x, edit.y}) + as_two) * rest_of(edit.a, edit.b);
  rest_.two[xy] = std::max(rest_.two[xy], two);
  const bool has_x = edit.a == edit.x || edit.b == edit.x, has_y = edit.a == edit.y || edit.b == edit.y;
  if (!has_x || !has_y) rest_.two_without[xy] = std::max(rest_.two_without[xy], two);
}

// A place of the word is written by a piece of c alone or of c and any b behind it. Nearly all pieces of two characters
// seen as two have the same probability, so the greatest rest over b serves them all, or the greatest but one where b
// itself is excluded; the few others are bounded one by one.
void EditModel::bound_pieces_of(Letter c) {
  const auto size = static_cast<Letter>(alphabet_.size());
  const std::size_t n = size;
  const bool has_pair = c != Alphabet::END;
  Letter best = Alphabet::NOTHING, next = Alphabet::NOTHING;
  double rest = rest_of(c, best), next_rest = rest;  // no b at all is the least
  for (Letter b = Alphabet::END; has_pair && b < size; ++b) {
    rest_.pair0[c] = std::max(rest_.pair0[c], most({c, b, 0, 0}));
    for (Letter x = Alphabet::OTHER; x < size; ++x) {
      double& pair = rest_.pair1[c * n + x];
      pair = std::max(pair, most({c, b, x, 0}));
    }
    const double with_b = rest_of(c, b);
    if (with_b > rest) {
      next = best, next_rest = rest;
      best = b, rest = with_b;
    } else if (with_b > next_rest || next == Alphabet::NOTHING) {
      next = b, next_rest = with_b;
    }
  }
  const double as_two = has_pair ? scale_of_first_[c] * prior_.prob_of_two_others() : 0.0;
  for (Letter x = Alphabet::OTHER; x < size; ++x) {
    for (Letter y = Alphabet::OTHER; y < size; ++y) {
      const double alone = most({c, 0, x, y}) + as_two;
      double& pair = rest_.pair2[(c * n + x) * n + y];
      pair = std::max(pair, as_two);
      rest_.two[x * n + y] = std::max(rest_.two[x * n + y], alone * rest);
      if (x == c && y == c) continue;  // nothing is lacking
      // The b that has what c lacks.
      const Letter excluded = x == c || x == y ? y : y == c ? x : Letter{Alphabet::NOTHING};
      const double without = alone * (excluded == best && excluded != Alphabet::NOTHING ? next_rest : rest);
      rest_.two_without[x * n + y] = std::max(rest_.two_without[x * n + y], without);
    }
  }
  for (Letter b = Alphabet::OTHER; has_pair && b < size; ++b) bound_two({c, b, b, c}, most({c, b, b, c}));
}

// The same for one seen character, neighbour by neighbour: what a neighbour makes likely to be dropped, it makes
// unlikely to be seen, and so no step is worth more than one.
void EditModel::bound_single(Letter left, Letter c) {
  const auto size = static_cast<Letter>(alphabet_.size());
  const bool has_pair = c != Alphabet::END;
  const double nothing = has_pair ? prob(left, {c, 0, 0, 0}) : 0.0;
  std::vector<double> alone(size, 0.0);
  for (Letter x = Alphabet::OTHER; x < size; ++x) alone[x] = prob(left, {c, 0, x, 0});
  for (Letter b = Alphabet::END; b < size; ++b) {
    const double rest = 1.0 / std::max(1.0 - nothing - (has_pair ? prob(left, {c, b, 0, 0}) : 0.0), 1e-3);
    for (Letter x = Alphabet::OTHER; x < size; ++x) {
      const double one = (alone[x] + (has_pair ? prob(left, {c, b, x, 0}) : 0.0)) * rest;
      rest_.one[x] = std::max(rest_.one[x], one);
      if (c != x && b != x) rest_.one_without[x] = std::max(rest_.one_without[x], one);
    }
  }
}

void EditModel::bound_rest() {
  const auto size = static_cast<Letter>(alphabet_.size());
  const std::size_t n = size;
  rest_.one.assign(n, 0.0);
  rest_.one_without = rest_.pair0 = rest_.typical = rest_.typical_without = rest_.one;
  for (Letter x = Alphabet::OTHER; x < size; ++x) {
    for (Letter c = Alphabet::OTHER; c < size; ++c) {
      double& guess = c == x ? rest_.typical[x] : rest_.typical_without[x];
      guess = std::max(guess, base({c, 0, x, 0}));
    }
    rest_.typical_without[x] += base({x, 0, 0, 0});  // something was dropped, or has come in
  }
  rest_.two.assign(n * n, 0.0);
  rest_.two_without = rest_.pair1 = rest_.two;
  rest_.pair2.assign(n * n * n, 0.0);
  for (Letter c = Alphabet::END; c < size; ++c) bound_pieces_of(c);
  for (std::size_t i = 0; i < listed_keys_.size(); ++i) bound_two(Edit::from_key(listed_keys_[i]), listed_most_[i]);
  for (Letter c = Alphabet::END; c < size; ++c) {
    bool has_new = false;  // neighbours that were never seen are all alike
    for (Letter left = 0; left < size; ++left) {
      if (scale_[left * n + c] == 1.0 && has_new) continue;
      has_new = has_new || scale_[left * n + c] == 1.0;
      bound_single(left, c);
    }
  }
}

// ------------------------------------------------------------------ one seen word

void EditRows::set(const EditModel& model, const Letters& seen) {
  const std::size_t n = model.alphabet().size();
  if (n != num_letters_) {
    num_letters_ = n;
    one_.assign(n * n, FlatMap::ABSENT);
    two_.assign(n * n * n, FlatMap::ABSENT);
  } else {
    for (const std::uint32_t i : used_one_) one_[i] = FlatMap::ABSENT;
    for (const std::uint32_t i : used_two_) two_[i] = FlatMap::ABSENT;
  }
  used_one_.clear();
  used_two_.clear();
  memory_.clear();
  memory_.reserve(1 << 16);
  model_ = &model;
  seen_ = seen;
}

const double* EditRows::one(Letter left, Letter c) {
  const std::size_t place = left * num_letters_ + c;
  if (one_[place] == FlatMap::ABSENT) {
    one_[place] = static_cast<std::uint32_t>(memory_.size());
    used_one_.push_back(static_cast<std::uint32_t>(place));
    memory_.resize(memory_.size() + 3 * (seen_.size() + 1));
    model_->fill_row(left, c, Alphabet::NOTHING, seen_, &memory_[one_[place]]);
  }
  return &memory_[one_[place]];
}

const double* EditRows::two(Letter left, Letter c, Letter b) {
  const std::size_t place = (left * num_letters_ + c) * num_letters_ + b;
  if (two_[place] == FlatMap::ABSENT) {
    two_[place] = static_cast<std::uint32_t>(memory_.size());
    used_two_.push_back(static_cast<std::uint32_t>(place));
    memory_.resize(memory_.size() + 3 * (seen_.size() + 1));
    model_->fill_row(left, c, b, seen_, &memory_[two_[place]]);
  }
  return &memory_[two_[place]];
}

void EditRows::advance(const double* row, const double* before, Letter left_of_last, Letter last, Letter c,
                       double* next) {
  const std::size_t width = seen_.size() + 1;
  next[0] = next[1] = 0.0;
  const double* e = one(last, c);
  for (std::size_t j = 0; j < width; ++j) {
    next[j + 2] = e[j] * row[j + 2] + e[width + j] * row[j + 1] + e[2 * width + j] * row[j];
  }
  if (last == Alphabet::BEGIN) return;
  e = two(left_of_last, last, c);
  for (std::size_t j = 0; j < width; ++j) {
    next[j + 2] += e[j] * before[j + 2] + e[width + j] * before[j + 1] + e[2 * width + j] * before[j];
  }
}

double EditRows::finish(const double* row, const double* before, Letter left_of_last, Letter last) {
  const std::size_t width = seen_.size() + 1, j = seen_.size();
  const double* e = one(last, Alphabet::END);
  double result = e[j] * row[j + 2] + e[width + j] * row[j + 1] + e[2 * width + j] * row[j];
  if (last == Alphabet::BEGIN) return result;
  e = two(left_of_last, last, Alphabet::END);
  result += e[j] * before[j + 2] + e[width + j] * before[j + 1] + e[2 * width + j] * before[j];
  return result;
}

}  // namespace hiddenite::channel
