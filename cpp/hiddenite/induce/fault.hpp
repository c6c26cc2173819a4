// Deliberate errors of the samplers, by which their tests are tested. Only a build with HIDDENITE_FAULTS can make
// them; in any other one `planted` is never, and the compiler removes what asks.
#pragma once

namespace hiddenite::induce {

enum class Fault {
  NONE,
  NO_CORRECTION,       // local and sentence: no Metropolis–Hastings step
  NO_RETAINED,         // type and one tag: particle 0 is drawn like the others
  REDRAWN_SEATS,       // type: particle 0 repeats the tags, not the seats
  SHARED_EVENTS,       // type: an event belongs to each token that it touches
  WRONG_CLASS_SIGN,    // lexicon: the change of the bases of other words with the wrong sign
  CENTRED_CLASSES,     // lexicon: classes are proposed around the retained one
  FREE_PROPOSALS,      // one tag: weights are not divided by the proposal
  UNCONDITIONAL,       // sentence: a particle filter without the retained particle
  LOOSE_BOUND,         // local with a lexicon: whether a tag stays is decided without its events
};

#ifdef HIDDENITE_FAULTS
class PlantedFault {
 public:
  bool is(Fault fault) const { return fault_ == fault; }
  void plant(Fault fault) { fault_ = fault; }

 private:
  Fault fault_ = Fault::NONE;
};
#else
struct PlantedFault {
  static constexpr bool is(Fault) { return false; }
};
#endif

}  // namespace hiddenite::induce
