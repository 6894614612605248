// Separation of the selected pair: the curve of Export Separation if the page has it, else the values of the document.
import uPlot from "uplot";
import { color, length, number, onColors } from "report/texts";

const HEIGHT = 200;

export function makeSeparation(section, contents) {
  const holder = section.querySelector(".canvas");
  const caption = section.querySelector(".caption");
  const state = { row: null, points: [] };
  const plot = new uPlot(plotOptions(state, contents, holder.clientWidth), [[], [], []], holder);
  onColors(() => plot.redraw(false));
  new ResizeObserver(() => plot.setSize({ width: Math.max(200, holder.clientWidth), height: HEIGHT })).observe(holder);
  return {
    plot,
    show(row) {
      const curve = contents.curves.find(
        (each) => (each.a === row.a && each.b === row.b) || (each.a === row.b && each.b === row.a),
      );
      state.row = row;
      const points = knownPoints(row);
      plot.setData(joined(curve, points, contents.time));
      caption.textContent = curve
        ? `Separation in ${curve.unit}, as exported. Shaded: intervals of contact.`
        : `The document has no curve: the points are its ${row.kind === "contact" ? "deepest overlaps, as negative separations" : "smallest gap"}. Shaded: intervals of contact. Export Separation of the add-on writes the curve.`;
      section.dataset.points = points.map((point) => `${number(point[0])}:${length(point[1])}`).join(" ");
    },
  };
}

/** Frames and separations that the document has, in order of the frames. */
function knownPoints(row) {
  if (row.kind !== "contact") return [[row.frame, row.gap]];
  const points = row.intervals.filter((interval) => interval[3] != null).map(([, , at, depth]) => [at, -depth]);
  return points.length || row.depth == null ? points.sort((a, b) => a[0] - b[0]) : [[row.deepestFrame, -row.depth]];
}

/** Columns of the plot: frames, curve, points. */
function joined(curve, points, { frameStart: start, frameEnd: end }) {
  const values = curve ? curve.frames.map((frame, index) => [frame, curve.lengths[index], null]) : points.map(([frame, value]) => [frame, null, value]);
  // Without values at the ends, the chart would not show all frames.
  if (!values.length || values[0][0] > start) values.unshift([start, null, null]);
  if (values.at(-1)[0] < end) values.push([end, null, null]);
  return [0, 1, 2].map((column) => values.map((each) => each[column]));
}

function plotOptions(state, contents, width) {
  const { frameStart, frameEnd } = contents.time;
  const axis = { stroke: () => color("quiet"), grid: { stroke: () => color("line"), width: 1 }, ticks: { stroke: () => color("line") } };
  return {
    width: Math.max(200, width),
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    scales: {
      x: { time: false, range: (plot, min, max) => (min === max || min == null ? [frameStart, frameEnd + 1] : [min, max]) },
      y: { range: (plot, min, max) => around(min, max) },
    },
    axes: [axis, { ...axis, size: 70, values: (plot, values) => values.map((value) => number(value, 6)) }],
    series: [
      {},
      { stroke: () => color("accent"), width: 1.5, points: { show: false } },
      { paths: () => null, points: { show: true, size: 8, fill: () => color("contact"), stroke: () => color("contact") } },
    ],
    hooks: { drawClear: [(plot) => drawIntervals(plot, state.row)], draw: [drawZero] },
  };
}

/** Range that has zero, and a margin. */
function around(min, max) {
  const low = Math.min(0, min ?? 0);
  const high = Math.max(0, max ?? 0);
  const margin = (high - low || 1) * 0.15;
  return [low - margin, high + margin];
}

function drawIntervals(plot, row) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = color("selected");
  for (const [start, end] of row?.intervals ?? []) {
    const from = plot.valToPos(start, "x", true);
    ctx.fillRect(from, bbox.top, Math.max(1, plot.valToPos(end, "x", true) - from), bbox.height);
  }
  ctx.restore();
}

function drawZero(plot) {
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(0, "y", true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = color("quiet");
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
