// The rooms of the core, each a folder and a namespace, and what each may see: only rooms below it.
//
//   base      numbers, text, files, threads
//   lm        n-gram models: tables, files, estimation, scoring; its part tools/ makes models from models
//   channel   what an observation leaves open: candidates and where they come from; its part context/ weighs
//             tags by the words around
//   exact     inference with a proof; its parts: bound/ refines an upper bound, walk/ follows the model's own states
//   correct, align, induce, hmm   one room for each task; they never see each other
#pragma once

namespace hiddenite {

namespace base {}
namespace lm {
using namespace base;
}
namespace channel {
using namespace lm;
}
namespace exact {
using namespace channel;
}
namespace correct {
using namespace exact;
}
namespace align {
using namespace exact;
}
namespace induce {
using namespace exact;
}
namespace hmm {
using namespace exact;
}

}  // namespace hiddenite
