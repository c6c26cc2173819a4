"""The playground: one page and a JSON API over the exact engine (extra ``web``).

=============  ==================================================================
models         what is served, and the limits of a request
schema         what requests and answers hold
reading        what a request says: words, candidates
questions      requests to answers, as plain functions: corrections, noisy text
tasks          the same: tags, links, scores, classes, sentences
live           the search as a stream of small events
beam           beam search, for comparison
work           who works when: threads, lines in front of them, deadlines
server         the application: routes, limits on bodies, headers
connections    who may keep a connection, and the server that runs
openapi        the description at ``/openapi.json``
page/          HTML, CSS and JavaScript, served as they are
=============  ==================================================================
"""

from hiddenite.web.connections import open_port as open_port
from hiddenite.web.connections import serve as serve
from hiddenite.web.models import Limits as Limits
from hiddenite.web.models import Models as Models
from hiddenite.web.server import create_app as create_app
