"""HTML page about a document, or about the results of a run over many files. Needs Jinja2.

In reading order:

- `contents`: the contents of a page about a document
- `batches`: those of a page about a run over many files
- `separations`: curves from files of *Export Separation*
- `libraries`: JavaScript libraries, and their packed text
- `pages`: the page, from its contents
- `command`: the command line `batch.py report`
- `page`: template, style and JavaScript of the page
- `vendor`: the libraries with their licenses, copied from npm by `dev.py libraries`

Decisions:

- A page is one file without references to others, so it can be sent and archived. Its JavaScript is packed
  with gzip, because libraries take most of it.
- All texts of a document are converted by `single_line` before they come into the page. The page creates
  text nodes from them, never HTML.
- The page allows no scripts but those with its nonce, a hash of its contents.
- The page shows the numbers of the document, and computes none.
"""

from .contents import ReportError
from .pages import write_report

__all__ = ["ReportError", "write_report"]
