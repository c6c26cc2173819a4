// The one loop of a search with a proof: take a step that narrows the bounds,
// until they meet or the budget ends.
//
// A Search has
//   void step()                  finds something better, or proves more; throws EmptySupport when there is nothing
//   const Bounds& bounds()
//   refinements(), num_states()  what it has cost
// The first step always happens, so there is always an answer to speak of.
#pragma once

#include "hiddenite/exact/proof.hpp"

namespace hiddenite::exact {

template <class Search>
Certificate run_search(Search& search, const Deadline& deadline, Method method) {
  do {
    search.step();
  } while (!search.bounds().is_closed() && !deadline.is_over(search.refinements(), search.num_states()));
  return Certificate(search.bounds(), method, search.refinements(), search.num_states());
}

}  // namespace hiddenite::exact
