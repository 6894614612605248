// Makes the tables and charts of the page, and shows the selected pair in all of them.
import { contactFacts, makeContacts } from "report/contacts";
import { makeFiles } from "report/files";
import { makeObjects } from "report/objects";
import { makeSeparation } from "report/separation";
import { showFacts } from "report/texts";
import { makeTimeline } from "report/timeline";

const contents = JSON.parse(document.getElementById("data").textContent);
const section = (id) => document.getElementById(id);

const page = { contents };
page.view = await makeViewIfPossible();
if (section("contacts")) {
  let contacts = null;
  page.separation = makeSeparation(section("separation"), contents);
  page.timeline = makeTimeline(section("timeline"), contents, { onSelect: (id) => contacts?.select(id) });
  const facts = section("details").querySelector(".facts");
  const show = (row) => {
    showFacts(facts, contactFacts(row, contents));
    page.timeline.select(row);
    page.separation.show(row);
    page.view?.showPair(row);
  };
  contacts = await makeContacts(section("contacts"), contents, {
    onRows: (rows) => page.timeline.setRows(rows),
    onSelect(row) {
      // A held key selects more rows than can be drawn: only the last one of each animation frame is.
      if (!page.isWaiting) requestAnimationFrame(() => {
        page.isWaiting = false;
        show(page.selected);
      });
      page.isWaiting = true;
      page.selected = row;
    },
  });
  page.contacts = contacts;
}
if (section("files")) {
  page.files = await makeFiles(section("files"), contents, {
    onFile(file) {
      const first = contents.rows.find((row) => row.file === file.name && row.kind === "contact");
      if (first) page.contacts.select(first.id);
    },
  });
}
if (section("objects")) {
  page.objects = await makeObjects(section("objects"), contents, { onSelect: (row) => page.view?.showObject(row.id) });
}
const first = page.contacts?.table.getRows("active")[0];
if (first) page.contacts.select(first.getIndex());
document.addEventListener("submit", (event) => event.preventDefault());
window.collisionBoundsReport = page;

async function makeViewIfPossible() {
  if (!section("view")) return null;
  try {
    const { makeView } = await import("report/bounds_view");
    return makeView(section("view"), contents);
  } catch (error) {
    section("view").querySelector(".caption").textContent = `The 3D view needs WebGL: ${error.message}`;
    return null;
  }
}
