"""The playground: one page and a JSON API over the exact engine (extra ``web``).

=============  ==================================================================
models         what is served, and the limits of a request
schema         what requests may hold: one table for the checks and for OpenAPI
questions      requests to answers, as plain functions
live           the search as a stream of small events
beam           beam search, for comparison
work           a bounded pool of threads: who may work, who must come back later
server         routes, limits on bodies, headers
openapi        the description at ``/openapi.json``
page/          HTML, CSS and JavaScript, served as they are
=============  ==================================================================
"""

from hiddenite.web.models import Limits as Limits
from hiddenite.web.models import Models as Models
from hiddenite.web.server import create_app as create_app
from hiddenite.web.server import serve as serve
