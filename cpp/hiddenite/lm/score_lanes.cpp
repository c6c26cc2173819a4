#include "hiddenite/lm/score_lanes.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define HIDDENITE_AVX2_LANES
#include <immintrin.h>
#endif

namespace hiddenite::lm {

// -------------------------------------------------------------- any processor

namespace {

// Where the wanted words may be: `size` arcs from `arc` on. A state without
// children has the root as its range, which has no word.
struct Ranges {
  Lanes::PerLane<WordId> word;
  Lanes::PerLane<NodeId> arc, size;
  NodeId widest = 0;
};

Ranges open_ranges(const NgramTable& table, const Lanes& lanes) {
  Ranges ranges;
  const NodeId* const first_child = table.first_child.data();
  for (std::size_t i = 0; i < NUM_LANES; ++i) {
    const NodeId state = lanes.state[i];
    const NodeId begin = first_child[state], end = first_child[state + 1];
    const WordId word = lanes.words[lanes.next[i]];
    ranges.word[i] = word;
    ranges.size[i] = state == ROOT ? 1 : end - begin;  // the root's child is known by its word
    ranges.arc[i] = ranges.size[i] == 0 ? ROOT : begin + (state == ROOT ? word : 0);
    ranges.widest = std::max(ranges.widest, ranges.size[i]);
  }
  return ranges;
}

// Halves all ranges until none holds more than one arc: the last whose word
// is not above the wanted one, if there is such an arc.
void search_ranges(const NgramTable& table, Ranges& ranges) {
  const WordId* const word = table.word.data();
  for (NodeId widest = ranges.widest; widest > 1; widest -= widest / 2) {
    for (std::size_t i = 0; i < NUM_LANES; ++i) {
      const NodeId half = ranges.size[i] / 2;
      const NodeId arc = ranges.arc[i];
      const auto upper = NodeId{0} - NodeId{word[arc + half] <= ranges.word[i]};  // all ones if in the upper half
      ranges.arc[i] = arc + (half & upper);
      ranges.size[i] -= half;
    }
  }
}

}  // namespace

std::uint32_t plain_round(const NgramTable& table, Lanes& lanes) {
  Ranges ranges = open_ranges(table, lanes);
  search_ranges(table, ranges);
  const float* const weights[2] = {table.log_backoff.data(), table.log_prob.data()};
  const NodeId num_contexts = table.num_contexts();
  std::uint32_t ended = 0;
  for (std::size_t i = 0; i < NUM_LANES; ++i) {
    const NodeId arc = ranges.arc[i];
    const WordId word = ranges.word[i];
    const bool found = table.word[arc] == word;
    const NodeId node = found ? arc : lanes.state[i];
    const double log_weight = lanes.log_weight[i] + weights[found][node];
    lanes.log_weight[i] = found ? 0.0 : log_weight;
    lanes.log_prob[i] += found ? log_weight : 0.0;
    lanes.log_prob_known[i] += found && word != UNKNOWN ? log_weight : 0.0;
    const NodeId suffix = table.suffix[node];
    lanes.state[i] = found && arc < num_contexts ? arc : suffix;
    lanes.next[i] += found;
    ended |= std::uint32_t{found && word == SENTENCE_END} << i;
  }
  return ended;
}

// ----------------------------------------------------------------------- AVX2

#ifdef HIDDENITE_AVX2_LANES

namespace {

#define HIDDENITE_AVX2 __attribute__((target("avx2"), always_inline)) inline

constexpr std::size_t VECTORS = NUM_LANES / 8;

HIDDENITE_AVX2 __m256i take(const std::uint32_t* table, __m256i index) {
  return _mm256_i32gather_epi32(reinterpret_cast<const int*>(table), index, 4);
}

// As given where the condition holds, and no load there.
HIDDENITE_AVX2 __m256i take_unless(__m256i condition, __m256i given, const std::uint32_t* table, __m256i index) {
  const __m256i other = _mm256_xor_si256(condition, _mm256_set1_epi32(-1));
  return _mm256_mask_i32gather_epi32(given, reinterpret_cast<const int*>(table), index, other, 4);
}

inline const std::uint32_t* bits(const float* table) { return reinterpret_cast<const std::uint32_t*>(table); }

HIDDENITE_AVX2 __m256i load(const std::uint32_t* lanes) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
}

HIDDENITE_AVX2 void store(std::uint32_t* lanes, __m256i values) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), values);
}

HIDDENITE_AVX2 NodeId greatest(__m256i values) {
  __m128i most = _mm_max_epu32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0x4e));
  most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0xb1));
  return static_cast<NodeId>(_mm_cvtsi128_si32(most));
}

// Adds four weights to their lanes: to the back-offs so far, and with these to
// the sentence where the word was found.
HIDDENITE_AVX2 void add_weights(Lanes& lanes, std::size_t i, __m128 weights, __m128i found, __m128i known) {
  const __m256d sum = _mm256_add_pd(_mm256_load_pd(&lanes.log_weight[i]), _mm256_cvtps_pd(weights));
  const __m256d in_found = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(found));
  const __m256d in_known = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(known));
  const __m256d log_prob = _mm256_load_pd(&lanes.log_prob[i]), log_known = _mm256_load_pd(&lanes.log_prob_known[i]);
  _mm256_store_pd(&lanes.log_weight[i], _mm256_andnot_pd(in_found, sum));
  _mm256_store_pd(&lanes.log_prob[i], _mm256_add_pd(log_prob, _mm256_and_pd(in_found, sum)));
  _mm256_store_pd(&lanes.log_prob_known[i], _mm256_add_pd(log_known, _mm256_and_pd(in_known, sum)));
}

// As plain_round, line by line.
__attribute__((target("avx2"))) std::uint32_t avx2_round(const NgramTable& table, Lanes& lanes) {
  const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
  __m256i word[VECTORS], arc[VECTORS], size[VECTORS], widest_of_all = zero;
  for (std::size_t v = 0; v < VECTORS; ++v) {
    const __m256i state = load(&lanes.state[8 * v]);
    const __m256i begin = take(table.first_child.data(), state), end = take(table.first_child.data() + 1, state);
    word[v] = take(lanes.words, load(&lanes.next[8 * v]));
    const __m256i is_root = _mm256_cmpeq_epi32(state, zero);
    size[v] = _mm256_blendv_epi8(_mm256_sub_epi32(end, begin), one, is_root);
    arc[v] = _mm256_add_epi32(begin, _mm256_and_si256(is_root, word[v]));
    arc[v] = _mm256_andnot_si256(_mm256_cmpeq_epi32(size[v], zero), arc[v]);
    widest_of_all = _mm256_max_epu32(widest_of_all, size[v]);
  }
  for (NodeId widest = greatest(widest_of_all); widest > 1; widest -= widest / 2) {
    for (std::size_t v = 0; v < VECTORS; ++v) {
      const __m256i half = _mm256_srli_epi32(size[v], 1);
      const __m256i middle = take(table.word.data(), _mm256_add_epi32(arc[v], half));
      const __m256i upper = _mm256_cmpeq_epi32(_mm256_max_epu32(middle, word[v]), word[v]);
      arc[v] = _mm256_add_epi32(arc[v], _mm256_and_si256(half, upper));
      size[v] = _mm256_sub_epi32(size[v], half);
    }
  }
  const __m256i num_contexts = _mm256_set1_epi32(static_cast<int>(table.num_contexts()));
  const __m256i last_word = _mm256_set1_epi32(SENTENCE_END), unknown = _mm256_set1_epi32(UNKNOWN);
  std::uint32_t ended = 0;
  for (std::size_t v = 0; v < VECTORS; ++v) {
    const __m256i state = load(&lanes.state[8 * v]);
    const __m256i found = _mm256_cmpeq_epi32(take(table.word.data(), arc[v]), word[v]);
    const __m256i node = _mm256_blendv_epi8(state, arc[v], found);
    const __m256i backoffs = take_unless(found, zero, bits(table.log_backoff.data()), node);
    const __m256i missing = _mm256_cmpeq_epi32(found, zero);
    const __m256 weights = _mm256_castsi256_ps(take_unless(missing, backoffs, bits(table.log_prob.data()), node));
    const __m256i known = _mm256_andnot_si256(_mm256_cmpeq_epi32(word[v], unknown), found);
    add_weights(lanes, 8 * v, _mm256_castps256_ps128(weights), _mm256_castsi256_si128(found),
                _mm256_castsi256_si128(known));
    add_weights(lanes, 8 * v + 4, _mm256_extractf128_ps(weights, 1), _mm256_extracti128_si256(found, 1),
                _mm256_extracti128_si256(known, 1));
    const __m256i goes_down = _mm256_and_si256(found, _mm256_cmpgt_epi32(num_contexts, arc[v]));
    const __m256i after = take_unless(goes_down, arc[v], table.suffix.data(), node);
    store(&lanes.state[8 * v], after);
    store(&lanes.next[8 * v], _mm256_sub_epi32(load(&lanes.next[8 * v]), found));
    const __m256i at_end = _mm256_and_si256(found, _mm256_cmpeq_epi32(word[v], last_word));
    ended |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(at_end))) << (8 * v);
  }
  return ended;
}

}  // namespace

#endif

RoundOfLanes round_of_lanes([[maybe_unused]] const NgramTable& table) {
#ifdef HIDDENITE_AVX2_LANES
  const bool signed_indices_reach = table.num_nodes() < NodeId{1} << 31;
  if (signed_indices_reach && __builtin_cpu_supports("avx2")) return avx2_round;
#endif
  return plain_round;
}

}  // namespace hiddenite::lm
