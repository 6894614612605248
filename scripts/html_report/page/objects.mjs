// Table of objects.
import { makeTable } from "report/table";
import { length, nameNode, searchField } from "report/texts";

export async function makeObjects(section, contents, { onSelect }) {
  const rows = contents.objects.map((entry, id) => ({
    id, name: entry.id, type: entry.type, note: entry.override ? `custom ${entry.override}` : (entry.bone ?? ""),
    radius: entry.world.sphere?.radius, ...sizes(entry.world.aabb), shapes: Object.keys(entry.world).join(", "),
  }));
  const unit = contents.unit;
  const text = (title, field, more = {}) => ({
    title, field, minWidth: 90, formatter: (cell) => nameNode(cell.getValue() ?? ""), ...more,
  });
  const size = (title, field) => ({
    title: `${title} (${unit})`, field, hozAlign: "right", headerHozAlign: "right", sorter: "number", minWidth: field === "radius" ? 96 : 70,
    formatter: (cell) => document.createTextNode(length(cell.getValue())), responsive: 2,
  });
  const columns = [
    text("Object", "name", { widthGrow: 2, minWidth: 120 }),
    text("Type", "type", { width: 100, responsive: 3 }),
    ...(rows.some((row) => row.radius !== undefined) ? [size("Radius", "radius")] : []),
    ...(contents.objects.some((entry) => entry.world.aabb) ? [size("X", "x"), size("Y", "y"), size("Z", "z")] : []),
    text("Shapes", "shapes", { responsive: 3, minWidth: 110 }),
    ...(rows.some((row) => row.note) ? [text("Note", "note", { responsive: 4 })] : []),
  ];
  const made = await makeTable(section, { columns, rows, onSelect });
  const form = section.querySelector(".filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(
    searchField("Search", (part) => made.filter((row) => row.name.toLowerCase().includes(part))),
  );
  return made;
}

function sizes(box) {
  if (!box) return {};
  const [x, y, z] = box.max.map((value, axis) => value - box.min[axis]);
  return { x, y, z };
}
