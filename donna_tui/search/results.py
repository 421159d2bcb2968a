from donna_tui.results import MODES as MODES
from donna_tui.results import Filters as Filters
from donna_tui.results import Hit as Hit
from donna_tui.results import Mode as Mode
from donna_tui.results import SearchOutcome as SearchOutcome
from donna_tui.results import SearchRequest as SearchRequest
from donna_tui.results import Snippet as Snippet
