// Table of contacts and near misses, with its filters.
import { makeTable } from "report/table";
import { element, frame, length, menu, nameNode, number, searchField } from "report/texts";

const ANY = "all";
const LABELS = ["new", "accepted", "tunnelling", "at start"];

export async function makeContacts(section, contents, { onSelect, onRows }) {
  const { rows, unit } = contents;
  const inUnit = (name, suffix = "") => (unit ? `${name} (${unit}${suffix})` : name);
  const text = (title, field, more = {}) => ({
    title, field, minWidth: 90, formatter: (cell) => nameNode(cell.getValue() ?? ""), ...more,
  });
  const right = (title, field, show, more = {}) => ({
    title, field, hozAlign: "right", headerHozAlign: "right", sorter: "number", minWidth: 88,
    sorterParams: { alignEmptyValues: "bottom" },
    formatter: (cell) => document.createTextNode(show(cell.getValue(), cell.getData())), ...more,
  });
  const columns = [
    ...(contents.kind === "batch" ? [text("File", "file", { widthGrow: 2, formatter: fileLink })] : []),
    text("A", "a", { widthGrow: 2, minWidth: 100 }),
    text("B", "b", { widthGrow: 2, minWidth: 100 }),
    right("First frame", "frame", (_, row) => frame(row), { minWidth: 124 }),
    right(inUnit("Depth"), "depth", depthText, { minWidth: 100 }),
    right(inUnit("Speed", "/s"), "speed", length, { responsive: 2, minWidth: 100 }),
    text("Shape", "shape", { responsive: 3, width: 68, minWidth: 60 }),
    text("Motion", "motion", { responsive: 4, width: 76, minWidth: 60 }),
    {
      title: "State", field: "labels", minWidth: 100, formatter: labelNodes,
      sorter: (a, b) => (a ?? []).join().localeCompare((b ?? []).join()),
    },
    right(inUnit("Gap"), "gap", length, { visible: false }),
  ];
  const made = await makeTable(section, { columns, rows, onSelect, onRows });
  await addFilters(section, rows, made);
  return made;
}

/** Depth of an overlap, or the gap of a contact within the clearance, whose depth is negative.

Of meshes also the kind of the overlap, where the depth says too little.
*/
function depthText(depth, { overlap } = {}) {
  if (depth < 0) return `gap ${length(-depth)}`;
  if (overlap === "touches" || (overlap && !depth)) return overlap;
  return length(depth) + (overlap === "inside" ? " inside" : "");
}

function fileLink(cell) {
  const { link } = cell.getData();
  const name = nameNode(cell.getValue());
  return link ? element("a", { href: link }, name) : name;
}

function labelNodes(cell) {
  const { kind, labels = [] } = cell.getData();
  const shown = kind === "contact" ? labels : [kind];
  const nodes = shown.map((label) => element("span", { className: `label ${label.replace(" ", "-")}` }, label));
  return element("span", { title: shown.join(", ") }, ...nodes);
}

async function addFilters(section, rows, made) {
  const state = { text: "", kind: "contact", label: ANY, shape: ANY, motion: ANY };
  const values = (key) => [ANY, ...new Set(rows.map((row) => row[key]).filter(Boolean))];
  const apply = () =>
    made.filter(
      (row) =>
        (state.kind === ANY || row.kind === state.kind) &&
        (state.label === ANY || row.labels?.includes(state.label)) &&
        (state.shape === ANY || row.shape === state.shape) &&
        (state.motion === ANY || row.motion === state.motion) &&
        (!state.text || [row.a, row.b, row.file ?? ""].some((name) => name.toLowerCase().includes(state.text))),
    );
  const set = (key) => (value) => {
    state[key] = value;
    if (key === "kind") made.table[value === "near miss" || value === ANY ? "showColumn" : "hideColumn"]("gap");
    apply();
  };
  const form = section.querySelector(".filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(searchField("Search", set("text")));
  const kinds = values("kind");
  if (!kinds.includes("contact")) state.kind = ANY;
  const used = new Set(rows.flatMap((row) => row.labels ?? []));
  const choices = [
    ["Kind", "kind", kinds],
    ["State", "label", [ANY, ...LABELS.filter((label) => used.has(label))]],
    ["Shape", "shape", values("shape")],
    ["Motion", "motion", values("motion")],
  ];
  for (const [label, key, options] of choices) {
    if (options.length < 3) continue;
    const { label: node, select } = menu(label, options, set(key));
    select.value = state[key];
    form.append(node);
  }
  set("kind")(state.kind);
}

const OVERLAPS = { touches: "touch without overlap", crosses: "surfaces cross", inside: "one is inside the other" };

/** Facts about a row. */
export function contactFacts(row, contents) {
  const { unit } = contents;
  const lengthText = (value, suffix = "") => (value == null ? "" : `${length(value)} ${unit}${suffix}`);
  const vector = (value) => (value ? value.map((part) => number(part, 4)).join(", ") : "");
  const intervals = row.intervals ?? [];
  const listed = intervals.slice(0, 8).map(([start, end]) => `${number(start)} to ${number(end)}`);
  if (intervals.length > listed.length) listed.push(`and ${intervals.length - listed.length} more`);
  return [
    ...(row.file ? [["File", nameNode(row.file)]] : []),
    ["A", nameNode(row.a)],
    ["B", nameNode(row.b)],
    [row.kind === "contact" ? "First contact" : "Closest", `frame ${frame(row)}${row.seconds == null ? "" : `, ${number(row.seconds, 4)} s`}`],
    ["Gap", lengthText(row.gap)],
    [row.depth < 0 ? "Closest" : "Deepest", row.depth == null ? "" : `${lengthText(Math.abs(row.depth))} at frame ${number(row.deepestFrame)}`],
    ["Meshes", row.overlap ? `${OVERLAPS[row.overlap]} at frame ${number(row.deepestFrame)}` : ""],
    ["Closing speed", lengthText(row.speed, "/s")],
    ["Intervals", listed.join("; ")],
    ["Point", vector(row.point)],
    ["Normal, A to B", vector(row.normal)],
    ["Tested", [row.shape, row.motion].filter(Boolean).join(", ")],
    ["Obstacle", row.obstacle ? nameNode(row.obstacle) : ""],
    ["Accepted", row.accepted === undefined ? "" : nameNode(row.accepted || "without a comment")],
  ];
}

