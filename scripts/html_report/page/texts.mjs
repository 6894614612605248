// Texts of numbers and names, and elements. Names become text nodes, never HTML.

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Name in its own writing direction, with the whole of it as tooltip. */
export function nameNode(name) {
  return element("bdi", { title: name }, name);
}

/** Number with at most `decimals` decimals, without zeros at the end. */
export function number(value, decimals = 4) {
  return value === null || value === undefined ? "" : String(+value.toFixed(decimals));
}

/** Number with four significant digits. */
export function length(value) {
  return value === null || value === undefined ? "" : String(+value.toPrecision(4));
}

export function frame(row) {
  const uncertain = row.uncertainty ? ` ± ${String(+row.uncertainty.toPrecision(1))}` : "";
  return number(row.frame) + uncertain;
}

/** Text without its middle, for places without tooltips. */
export function shortened(text, most) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const kept = Math.max(1, Math.floor((most - 1) / 2));
  return `${characters.slice(0, kept).join("")}…${characters.slice(-kept).join("")}`;
}

/** Pair as one text; each name keeps its writing direction. */
export function pairText(row, most = 1000) {
  const each = Math.floor(most / (row.file ? 3 : 2));
  const isolated = (name) => `\u2068${shortened(name, each)}\u2069`;
  const pair = `${isolated(row.a)} – ${isolated(row.b)}`;
  return row.file ? `${isolated(row.file)}: ${pair}` : pair;
}

export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Call when colors change: another color scheme, before and after printing. */
export function onColors(callback) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
  for (const type of ["beforeprint", "afterprint"]) addEventListener(type, callback);
}

/** Select menu with a label. */
export function menu(label, options, onChange) {
  const select = element("select", {}, ...options.map((name) => element("option", { value: name }, name)));
  select.addEventListener("change", () => onChange(select.value));
  return { label: element("label", {}, element("span", {}, label), select), select };
}

export function searchField(label, onInput) {
  const input = element("input", { type: "search", placeholder: "Part of a name", spellcheck: false });
  input.addEventListener("input", () => onInput(input.value.toLowerCase()));
  return element("label", {}, element("span", {}, label), input);
}

export function button(label, title, onClick) {
  const made = element("button", { type: "button", title }, label);
  made.addEventListener("click", onClick);
  return made;
}

/** Show definitions: pairs of a label and a text or node. */
export function showFacts(list, facts) {
  list.replaceChildren(
    ...facts
      .filter(([, value]) => value !== "")
      .map(([label, value]) => element("div", {}, element("dt", {}, label), element("dd", {}, value))),
  );
}
