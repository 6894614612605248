// Intervals of contact, a row for each pair. Only the rows in view are drawn.
import uPlot from "uplot";
import { button, color, element, number, onColors, pairText } from "report/texts";

const ROW = 20;
const MOST_ROWS_IN_VIEW = 16;
const AXIS = 36;

export function makeTimeline(section, contents, { onSelect }) {
  const holder = section.querySelector(".canvas");
  const caption = section.querySelector(".caption");
  const { frameStart, frameEnd } = contents.time;
  const margin = Math.max(0.5, (frameEnd - frameStart) * 0.01);
  const all = [frameStart - margin, frameEnd + margin];
  const spacer = element("div", { className: "spacer" });
  const pinned = element("div", { className: "pinned" });
  holder.append(spacer, pinned);
  const state = { rows: [], selected: null, colors: null };
  const plot = new uPlot(plotOptions(state, holder, all), [all, [0, 0]], pinned);

  const zoom = (factor, at = 0.5) => {
    const { min, max } = plot.scales.x;
    const center = min + (max - min) * at;
    show(center - (center - min) * factor, center + (max - center) * factor);
  };
  const show = (min, max) => {
    const span = Math.min(Math.max(max - min, 0.001), all[1] - all[0]);
    const start = Math.min(Math.max(min, all[0]), all[1] - span);
    plot.setScale("x", { min: start, max: start + span });
  };
  const move = (part) => {
    const { min, max } = plot.scales.x;
    show(min + (max - min) * part, max + (max - min) * part);
  };
  const redraw = () => plot.redraw(false);
  holder.addEventListener("scroll", redraw);
  onColors(() => {
    state.colors = null;
    redraw();
  });
  new ResizeObserver(() => plot.setSize(size(holder, state.rows.length))).observe(holder);
  addPointer(plot, { holder, caption, state, onSelect, zoom });
  addKeys(holder, { zoom, move, showAll: () => show(...all) });
  section.querySelector(".filters").append(
    button("−", "Zoom out", () => zoom(1.5)),
    button("+", "Zoom in", () => zoom(1 / 1.5)),
    button("All frames", "Show all frames", () => show(...all)),
  );
  return {
    plot,
    zoom,
    setRows(rows) {
      state.rows = rows;
      section.querySelector(".count").textContent = `${rows.length} rows`;
      spacer.style.height = `${Math.max(1, rows.length) * ROW + AXIS}px`;
      holder.style.height = `${Math.min(Math.max(3, rows.length), MOST_ROWS_IN_VIEW) * ROW + AXIS + 2}px`;
      plot.setSize(size(holder, rows.length));
      redraw();
    },
    select(row) {
      state.selected = row.id;
      const at = state.rows.findIndex((each) => each.id === row.id);
      const height = holder.clientHeight - AXIS;
      if (at >= 0 && (at * ROW < holder.scrollTop || (at + 1) * ROW > holder.scrollTop + height)) {
        holder.scrollTop = at * ROW - height / 2;
      }
      redraw();
    },
  };
}

function size(holder, count) {
  const rows = Math.min(Math.max(3, count), MOST_ROWS_IN_VIEW);
  return { width: Math.max(200, holder.clientWidth), height: rows * ROW + AXIS };
}

function gutter(width) {
  return Math.round(Math.min(320, width * 0.32));
}

function plotOptions(state, holder, all) {
  const axisColor = () => color("quiet");
  return {
    ...size(holder, 0),
    padding: [0, 16, 0, (plot) => gutter(plot.width)],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
    scales: { x: { time: false, range: (plot, min, max) => (min == null ? all : [min, max]) }, y: { range: () => [0, 1] } },
    axes: [
      { stroke: axisColor, size: AXIS, grid: { stroke: () => color("line"), width: 1 }, ticks: { stroke: () => color("line") } },
      { show: false },
    ],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [(plot) => drawRows(plot, state, holder.scrollTop)] },
  };
}

function drawRows(plot, state, scroll) {
  const { ctx, bbox } = plot;
  const ratio = uPlot.pxRatio;
  state.colors ??= Object.fromEntries(["text", "quiet", "contact", "new", "accepted", "uncertain", "selected"].map((name) => [name, color(name)]));
  const colors = state.colors;
  const first = Math.floor(scroll / ROW);
  const last = Math.min(state.rows.length, first + Math.ceil(bbox.height / ratio / ROW) + 1);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, bbox.top, bbox.left + bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  const characters = Math.floor((bbox.left / ratio - 16) / 6.6);
  for (let index = first; index < last; index++) {
    const row = state.rows[index];
    const top = bbox.top + (index * ROW - scroll) * ratio;
    if (row.id === state.selected) {
      ctx.fillStyle = colors.selected;
      ctx.fillRect(0, top, bbox.left + bbox.width, ROW * ratio);
    }
    ctx.fillStyle = colors.text;
    ctx.textAlign = "left";
    ctx.fillText(pairText(row, characters), 6 * ratio, top + (ROW / 2) * ratio, bbox.left - 14 * ratio);
  }
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (let index = first; index < last; index++) {
    drawBars(plot, state.rows[index], bbox.top + (index * ROW - scroll) * ratio, ratio, colors);
  }
  ctx.restore();
}

function drawBars(plot, row, top, ratio, colors) {
  const { ctx } = plot;
  const x = (frame) => plot.valToPos(frame, "x", true);
  const bar = (start, end, fill) => {
    const from = x(start);
    ctx.fillStyle = fill;
    ctx.fillRect(from, top + 4 * ratio, Math.max(2 * ratio, x(end) - from), (ROW - 8) * ratio);
  };
  if (row.kind !== "contact") {
    ctx.fillStyle = colors.quiet;
    ctx.beginPath();
    ctx.arc(x(row.frame), top + (ROW / 2) * ratio, 4 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    return;
  }
  if (row.uncertainty) bar(row.frame - row.uncertainty, row.frame + row.uncertainty, colors.uncertain);
  const fill = row.labels.includes("new") ? colors.new : row.labels.includes("accepted") ? colors.accepted : colors.contact;
  for (const [start, end] of row.intervals) bar(start, end, fill);
}

function addPointer(plot, { holder, caption, state, onSelect, zoom }) {
  const help = caption.textContent;
  const rowAt = (event) => {
    const top = event.clientY - plot.over.getBoundingClientRect().top;
    return state.rows[Math.floor((top + holder.scrollTop) / ROW)];
  };
  const frameAt = (event) => plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x");
  let pressed = 0;
  plot.over.addEventListener("pointerdown", (event) => (pressed = event.clientX));
  plot.root.addEventListener("click", (event) => {
    const row = rowAt(event);
    if (row && (Math.abs(event.clientX - pressed) < 4 || event.target !== plot.over)) onSelect(row.id);
  });
  plot.over.addEventListener("pointermove", (event) => {
    const row = rowAt(event);
    caption.textContent = row ? `Frame ${number(frameAt(event), 2)}. ${pairText(row)}` : help;
  });
  plot.over.addEventListener("pointerleave", () => (caption.textContent = help));
  plot.over.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = plot.over.getBoundingClientRect();
      zoom(Math.exp(event.deltaY * 0.002), (event.clientX - box.left) / box.width);
    },
    { passive: false },
  );
}

function addKeys(holder, { zoom, move, showAll }) {
  const actions = {
    ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5),
    "-": () => zoom(1.5), 0: showAll,
  };
  holder.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  });
}
