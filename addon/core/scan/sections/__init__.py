"""Sections of a long scan: successive intervals that are scanned independently, and then joined.

A scan of a `DivisibleMotion` is always cut at the same samples. So the report does not depend on whether one
process scans all sections, or several processes some of them each.

- `bounds`: where a scan is cut, and what is found in a section.
- `storage`: these records as plain data for JSON, and back.
- `switches`: adds samples where subjects appear or disappear.
- `section_scan`: reads and solves one section.
- `joining`: joins the records of all sections, and makes the report.

A section knows the samples next to it, so that deviations from linear motion are estimated as within it.
It does not know which pairs have touched before: a contact that lasts over a cut is joined.
"""
