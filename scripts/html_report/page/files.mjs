// Table of the files of a run.
import { makeTable } from "report/table";
import { element, menu, nameNode, number, searchField } from "report/texts";

const ANY = "all";

export async function makeFiles(section, contents, { onFile }) {
  const rows = contents.files.map((file) => ({ ...file, note: [file.reason, ...file.warnings].filter(Boolean).join("; ") }));
  const count = (title, field, more = {}) => ({
    title, field, hozAlign: "right", headerHozAlign: "right", sorter: "number", minWidth: 84,
    formatter: (cell) => document.createTextNode(number(cell.getValue(), 2)), ...more,
  });
  const columns = [
    { title: "File", field: "name", widthGrow: 3, minWidth: 160, formatter: fileNode },
    {
      title: "State", field: "state", width: 100,
      formatter: (cell) => element("span", { className: `label ${cell.getValue()}` }, cell.getValue()),
    },
    { title: "Reason, warnings", field: "note", widthGrow: 3, minWidth: 140, formatter: (cell) => nameNode(cell.getValue()) },
    count("Contacts", "contacts"),
    ...(rows.some((row) => row.new) ? [count("New", "new")] : []),
    count("Near misses", "nearMisses", { responsive: 3, minWidth: 104 }),
    count("Objects", "objects", { responsive: 2 }),
    count("Skipped", "skipped", { responsive: 3 }),
    count("Warnings", "warningCount", { responsive: 2, minWidth: 92 }),
    count("Attempts", "attempts", { responsive: 4, minWidth: 92 }),
    count("Seconds", "seconds", { responsive: 2 }),
  ];
  const made = await makeTable(section, { columns, rows, onSelect: onFile });
  const state = { text: "", state: ANY };
  const set = (key) => (value) => {
    state[key] = value;
    made.filter(
      (row) =>
        (state.state === ANY || row.state === state.state) &&
        [row.name, row.note].some((text) => text.toLowerCase().includes(state.text)),
    );
  };
  const form = section.querySelector(".filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  const states = [ANY, ...new Set(rows.map((row) => row.state))];
  form.append(searchField("Search", set("text")), menu("State", states, set("state")).label);
  return made;
}

function fileNode(cell) {
  const { link } = cell.getData();
  const name = nameNode(cell.getValue());
  return link ? element("a", { href: link }, name) : name;
}
