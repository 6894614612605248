// A table that sorts and filters, draws only the rows in view, and is usable by keyboard.
import {
  ExportModule, FilterModule, FormatModule, InteractionModule, PrintModule, ResizeColumnsModule, ResizeTableModule,
  ResponsiveLayoutModule, SelectRowModule, SortModule, Tabulator,
} from "tabulator-tables";

// Not all modules: AccessorModule copies the data of a row at each access to it.
Tabulator.registerModule([
  ExportModule, FilterModule, FormatModule, InteractionModule, PrintModule, ResizeColumnsModule, ResizeTableModule,
  ResponsiveLayoutModule, SelectRowModule, SortModule,
]);

/**
 * @param section Element with `.table` and `.count`.
 * @param columns Columns as of Tabulator, whose formatters return nodes.
 * @param rows Objects whose `id` is their index.
 * @param onSelect Called with the selected row.
 * @param onRows Called with the filtered rows in their order.
 */
export function makeTable(section, { columns, rows, onSelect = () => {}, onRows = () => {}, sort = [] }) {
  const count = section.querySelector(".count");
  const table = new Tabulator(section.querySelector(".table"), {
    data: rows,
    columns,
    layout: "fitColumns",
    responsiveLayout: "hide",
    height: `${Math.min(420, 60 + 30 * Math.max(2, rows.length))}px`,
    renderHorizontal: "basic",
    selectableRows: 1,
    columnDefaults: { headerSortTristate: true, resizable: "header" },
    initialSort: sort,
    placeholder: "No rows match.",
    printAsHtml: true,
    printStyled: true,
    printRowRange: "active",
  });
  const state = { shown: [], selected: null };
  // Not getData, which copies each row.
  const report = () => {
    const shown = table.getRows("active").map((row) => rows[row.getIndex()]);
    state.shown = shown;
    count.textContent = shown.length === rows.length ? `${shown.length}` : `${shown.length} of ${rows.length}`;
    onRows(shown);
  };
  table.on("rowSelected", (row) => {
    state.selected = rows[row.getIndex()];
    onSelect(state.selected);
  });
  table.on("dataSorted", () => queueMicrotask(report));
  table.on("dataFiltered", () => queueMicrotask(report));
  const made = {
    table,
    select(id) {
      const row = table.getRow(id);
      if (!row || row.isSelected()) return;
      table.deselectRow();
      row.select();
      table.scrollToRow(row, "nearest", false).catch(() => {});
    },
    filter: (isShown) => table.setFilter(isShown),
  };
  return new Promise((resolve) => {
    table.on("tableBuilt", () => {
      addKeys(section, state, made);
      report();
      resolve(made);
    });
  });
}

function addKeys(section, state, made) {
  for (const heading of section.querySelectorAll(".tabulator-col.tabulator-sortable")) {
    heading.tabIndex = 0;
    heading.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      heading.click();
    });
  }
  section.querySelector(".tabulator-tableholder").addEventListener("keydown", (event) => {
    const rows = state.shown;
    const at = rows.indexOf(state.selected);
    const targets = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: rows.length - 1 };
    if (!(event.key in targets) || !rows.length) return;
    event.preventDefault();
    made.select(rows[Math.min(Math.max(targets[event.key], 0), rows.length - 1)].id);
  });
}
