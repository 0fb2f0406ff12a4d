"use strict";

// Pure functions: they know no page, so that they can be tried without one.

const MISSING = 65535;

// Values of two bytes each, low byte first, as a string of bytes: whole numbers from low (0) to high (MISSING - 1).
function decoded(bytes, low, high) {
  const values = [];
  const step = (high - low) / (MISSING - 1);
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const whole = bytes.charCodeAt(at) + 256 * bytes.charCodeAt(at + 1);
    values.push(whole === MISSING ? NaN : low + whole * step);
  }
  return values;
}

// Index of the last time that is not after t; the first one where all are.
function indexAt(times, t) {
  let first = 0;
  let last = times.length;
  while (last - first > 1) {
    const middle = (first + last) >> 1;
    if (times[middle] <= t) {
      first = middle;
    } else {
      last = middle;
    }
  }
  return first;
}

// Lowest and highest of the values of the stretches first to last, `per` values a stretch; null where there are none.
function extent(values, per, first, last) {
  let low = Infinity;
  let high = -Infinity;
  for (let at = first * per; at < (last + 1) * per && at < values.length; at += 1) {
    if (values[at] < low) { low = values[at]; }
    if (values[at] > high) { high = values[at]; }
  }
  return low <= high ? [low, high] : null;
}

// An axis of some height about an extent.
function padded(low, high) {
  const space = high > low ? 0.06 * (high - low) : 0.1 * Math.abs(high) || 1;
  return [low - space, high + space];
}

// Round numbers between low and high, about as many as wanted.
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted;
  if (!(raw > 0) || !isFinite(raw)) { return []; }
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * [1, 2, 5, 10].find((part) => part * power >= 0.999 * raw);
  const found = [];
  for (let count = Math.ceil(low / step - 1e-9); count * step <= high + 1e-9 * step; count += 1) {
    found.push(count * step);
  }
  return found;
}

// A number of an axis whose ticks are `step` apart.
function tickText(value, step) {
  if (Math.abs(value) < 1e-9 * step) { return "0"; }
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return digits > 6 || Math.abs(value) >= 1e7 ? value.toExponential(2) : value.toFixed(digits);
}

// Decimal logarithms of 1, 2 and 5 times powers of ten between low and high, logarithms too; evenly where that is none.
function logTicks(low, high, wanted) {
  const found = [];
  for (let power = Math.floor(low) - 1; power <= high; power += 1) {
    [1, 2, 5].forEach((part) => {
      const place = power + Math.log10(part);
      if (place >= low && place <= high) { found.push(place); }
    });
  }
  return found.length > 1 ? found : ticks(low, high, wanted);
}

// A number as short as it is told apart from others.
function plainly(value) { return String(parseFloat(value.toPrecision(3))); }

// Where the pointer is, with its unit: a time, or a place on another axis.
function placeText(axis, t) {
  if (axis === null) { return t.toFixed(3) + " s"; }
  return plainly(axis.log ? Math.pow(10, t) : t) + " " + axis.unit;
}

// What a curve is at a stretch: one number, or the lowest and highest of a stretch that holds more.
function reading(values, per, stretch) {
  const found = extent(values, per, stretch, stretch);
  if (found === null) { return "–"; }
  const low = shortly(found[0]);
  const high = shortly(found[1]);
  return low === high ? low : low + " … " + high;
}

function shortly(value) {
  const size = Math.abs(value);
  if (size > 0 && (size < 1e-3 || size >= 1e6)) { return value.toExponential(2); }
  return value.toFixed(size < 10 ? 3 : size < 100 ? 2 : 1);
}

// A view [begin, end] made `factor` as long about the time t, inside the whole; null for all of it.
function zoomed(view, whole, t, factor) {
  const length = Math.max((view[1] - view[0]) * factor, 1e-5 * (whole[1] - whole[0]));
  if (length >= whole[1] - whole[0]) { return null; }
  const share = (t - view[0]) / (view[1] - view[0]);
  return within([t - share * length, t + (1 - share) * length], whole);
}

// A view moved, where need be, to lie inside the whole.
function within(view, whole) {
  const length = Math.min(view[1] - view[0], whole[1] - whole[0]);
  const begin = Math.min(Math.max(view[0], whole[0]), whole[1] - length);
  return [begin, begin + length];
}

// The page: every panel a canvas, all of them with one view in time.

const LEFT = 58;
const RIGHT = 8;
const TOP = 6;
const BOTTOM = 22;
const HEIGHT = 190;
const BESIDE = 4; // pixels below which a drag is a click

// Panels over one axis have one view: all of those over time, and each other axis by its name.
function begin() {
  const curves = document.getElementById("curves");
  if (curves === null) { return; }
  const data = JSON.parse(curves.textContent);
  const pages = { "": { view: data.window, window: data.window, axis: null, panels: [], asked: false } };
  const pageOf = (panel) => {
    const key = panel.axis ? panel.times : "";
    if (!(key in pages)) { pages[key] = { view: null, window: null, axis: panel.axis, panels: [], asked: false }; }
    return pages[key];
  };
  Object.keys(data.plots).forEach((name) => {
    const place = document.getElementById("plot-" + name);
    if (place === null) { return; }
    const plot = data.plots[name];
    const grid = make("div", "panels", place);
    const own = plot.panels.map((panel) => panelOf(pageOf(panel), grid, panel, data.times[panel.times || plot.times]));
    own.forEach((panel) => { panel.alike = plot.one_scale ? own : [panel]; panel.page.panels.push(panel); });
    const hint = make("p", "hint", place);
    hint.textContent = (plot.shown || data.shown)
      + " Drag to zoom; plots over the same axis zoom together. The wheel zooms a plot that was clicked, or with Ctrl."
      + " Keys: + − ← → 0. Values under the pointer are shown; each pixel shows the minimum and maximum of its samples.";
    const still = place.parentNode.querySelector("details.still");
    if (still !== null && !plot.beside) { still.open = false; }
  });
  const all = Object.values(pages);
  window.addEventListener("resize", () => { all.forEach(ask); });
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details.still").forEach((still) => { still.open = true; });
  });
  all.forEach(draw);
}

function make(kind, name, parent) {
  const made = document.createElement(kind);
  made.className = name;
  parent.appendChild(made);
  return made;
}

function panelOf(page, grid, data, times) {
  const box = make("div", "panel", grid);
  make("b", "", box).textContent = data.title + (data.unit ? ", " + data.unit : "");
  const legend = make("div", "legend", box);
  const frame = make("div", "frame", box);
  const panel = {
    page: page, times: times, levels: data.levels, canvas: make("canvas", "", frame), cursor: make("div", "cursor", frame),
    chosen: make("div", "chosen", frame), when: make("span", "", legend), whole: [times[0], times[times.length - 1]],
  };
  panel.canvas.tabIndex = 0;
  panel.canvas.setAttribute("role", "img");
  const over = page.axis === null ? "time" : page.axis.unit;
  panel.canvas.setAttribute("aria-label", data.title + " over " + over + "; keys: + − ← → 0");
  panel.curves = data.curves.map((curve) => {
    const entry = make("span", "", legend);
    if (curve.name) { make("i", curve.dash ? "dash" : "", entry).style.color = curve.color; }
    entry.appendChild(document.createTextNode(curve.name + " "));
    const values = decoded(atob(curve.values), curve.low, curve.high);
    return { color: curve.color, dash: curve.dash, per: curve.per, values: values, value: make("span", "value", entry) };
  });
  listen(page, panel);
  return panel;
}

function viewOf(page, panel) { return page.view === null ? panel.whole : page.view; }

function plotWidth(panel) { return Math.max(panel.canvas.clientWidth - LEFT - RIGHT, 1); }

function timeAt(page, panel, x) {
  const view = viewOf(page, panel);
  const share = Math.min(Math.max((x - LEFT) / plotWidth(panel), 0), 1);
  return view[0] + share * (view[1] - view[0]);
}

function xOf(page, panel, t) {
  const view = viewOf(page, panel);
  return LEFT + (t - view[0]) / (view[1] - view[0]) * plotWidth(panel);
}

function listen(page, panel) {
  const canvas = panel.canvas;
  let from = null;
  const look = (view) => { page.view = view; ask(page); };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) { return; }
    from = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    point(page, timeAt(page, panel, event.offsetX));
    if (from === null) { return; }
    const wide = Math.abs(event.offsetX - from) > BESIDE;
    panel.chosen.style.display = wide ? "block" : "none";
    panel.chosen.style.left = Math.min(from, event.offsetX) + "px";
    panel.chosen.style.width = Math.abs(event.offsetX - from) + "px";
  });
  const let_go = (event) => {
    const start = from;
    from = null;
    panel.chosen.style.display = "none";
    if (event.type !== "pointerup" || start === null || Math.abs(event.offsetX - start) <= BESIDE) { return; }
    const ends = [timeAt(page, panel, start), timeAt(page, panel, event.offsetX)].sort((a, b) => a - b);
    if (ends[1] > ends[0]) { look(ends); }
  };
  canvas.addEventListener("pointerup", let_go);
  canvas.addEventListener("pointercancel", let_go);
  canvas.addEventListener("pointerleave", () => { point(page, null); });
  canvas.addEventListener("dblclick", () => { look(null); });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) { return; } // the page scrolls
    event.preventDefault();
    const t = timeAt(page, panel, event.offsetX);
    look(zoomed(viewOf(page, panel), panel.whole, t, event.deltaY < 0 ? 0.8 : 1.25));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const view = viewOf(page, panel);
    const middle = (view[0] + view[1]) / 2;
    const step = 0.2 * (view[1] - view[0]) * (event.key === "ArrowLeft" ? -1 : 1);
    if (event.key === "+" || event.key === "=") { look(zoomed(view, panel.whole, middle, 0.8)); }
    else if (event.key === "-") { look(zoomed(view, panel.whole, middle, 1.25)); }
    else if (event.key === "0" || event.key === "Escape") { look(null); }
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      if (page.view !== null) { look(within([view[0] + step, view[1] + step], panel.whole)); }
    } else { return; }
    event.preventDefault();
  });
}

// The cursor's line and the values there, in all panels; none for null.
function point(page, t) {
  page.panels.forEach((panel) => {
    const view = viewOf(page, panel);
    const inside = t !== null && t >= Math.max(view[0], panel.whole[0]) && t <= Math.min(view[1], panel.whole[1]);
    panel.cursor.style.display = inside ? "block" : "none";
    panel.when.textContent = inside ? placeText(page.axis, t) : "";
    const stretch = inside ? indexAt(panel.times, t) : 0;
    if (inside) { panel.cursor.style.left = xOf(page, panel, t) + "px"; }
    panel.curves.forEach((curve) => {
      curve.value.textContent = inside ? reading(curve.values, curve.per, stretch) : "";
    });
  });
}

// Draw when the browser next does, however often it is asked for until then.
function ask(page) {
  if (page.asked) { return; }
  page.asked = true;
  window.requestAnimationFrame(() => { page.asked = false; draw(page); });
}

function draw(page) {
  point(page, null);
  page.panels.forEach((panel) => { drawPanel(page, panel); });
}

function rangeOf(page, panel) {
  const view = viewOf(page, panel);
  return [indexAt(panel.times, view[0]), Math.min(indexAt(panel.times, view[1]) + 1, panel.times.length - 1)];
}

// Lowest and highest value in view, of all panels that have one scale; null where there is none.
function heightsOf(page, panel) {
  const found = [];
  panel.alike.forEach((one) => {
    const [first, last] = rangeOf(one.page || page, one);
    one.curves.forEach((curve) => { found.push(extent(curve.values, curve.per, first, last)); });
    one.levels.forEach((level) => { found.push([level, level]); });
  });
  const known = found.filter((one) => one !== null);
  if (!known.length) { return null; }
  return padded(Math.min(...known.map((one) => one[0])), Math.max(...known.map((one) => one[1])));
}

function drawPanel(page, panel) {
  const width = panel.canvas.clientWidth;
  const sharp = window.devicePixelRatio || 1;
  panel.canvas.width = Math.round(width * sharp);
  panel.canvas.height = Math.round(HEIGHT * sharp);
  const paint = panel.canvas.getContext("2d");
  paint.scale(sharp, sharp);
  paint.font = "11px system-ui, sans-serif";
  const view = viewOf(page, panel);
  const [first, last] = rangeOf(page, panel);
  const heights = heightsOf(page, panel);
  if (heights === null) { return; }
  const bottom = HEIGHT - BOTTOM;
  const yOf = (value) => bottom - (value - heights[0]) / (heights[1] - heights[0]) * (bottom - TOP);
  const x = (t) => xOf(page, panel, t);
  drawAxes(paint, page, view, heights, x, yOf, width);
  paint.save();
  paint.beginPath();
  paint.rect(LEFT, TOP, width - LEFT - RIGHT, bottom - TOP);
  paint.clip();
  panel.levels.forEach((level) => {
    paint.setLineDash(level ? [5, 3] : []);
    line(paint, "#3A424A", 0.8, [[LEFT, yOf(level)], [width - RIGHT, yOf(level)]]);
  });
  panel.curves.forEach((curve) => {
    paint.setLineDash(curve.dash ? [5, 3] : []);
    let piece = [];
    for (let at = first; at <= last + 1; at += 1) {
      const here = at <= last ? extent(curve.values, curve.per, at, at) : null;
      if (here !== null) {
        piece.push([x(panel.times[at]), yOf(here[0]), yOf(here[1])]);
      } else {
        drawPiece(paint, curve, piece);
        piece = [];
      }
    }
  });
  paint.restore();
}

// A curve without gaps: its band from lowest to highest, or its middle where it is dashed and lies over another.
function drawPiece(paint, curve, piece) {
  if (curve.dash || curve.per === 1) {
    line(paint, curve.color, 1.2, piece.map((place) => [place[0], (place[1] + place[2]) / 2]));
    return;
  }
  const band = piece.map((place) => [place[0], place[1]]);
  for (let at = piece.length - 1; at >= 0; at -= 1) { band.push([piece[at][0], piece[at][2]]); }
  line(paint, curve.color, 0.8, band);
  paint.fillStyle = curve.color;
  paint.fill();
}

function drawAxes(paint, page, view, heights, x, yOf, width) {
  const bottom = HEIGHT - BOTTOM;
  if (page.window !== null) {
    const from = Math.max(x(page.window[0]), LEFT);
    paint.fillStyle = "#F3F6F9";
    paint.fillRect(from, TOP, Math.max(Math.min(x(page.window[1]), width - RIGHT) - from, 0), bottom - TOP);
  }
  const log = page.axis !== null && page.axis.log;
  const across = (log ? logTicks : ticks)(view[0], view[1], Math.max(width / 90, 4));
  const up = ticks(heights[0], heights[1], 5);
  across.forEach((t) => {
    line(paint, "#E6E9EC", 0.6, [[x(t), TOP], [x(t), bottom]]);
    paint.fillStyle = "#3A424A";
    paint.textAlign = "center";
    paint.fillText(log ? plainly(Math.pow(10, t)) : tickText(t, across[1] - across[0]), x(t), bottom + 15);
  });
  up.forEach((value) => {
    line(paint, "#E6E9EC", 0.6, [[LEFT, yOf(value)], [width - RIGHT, yOf(value)]]);
    paint.fillStyle = "#3A424A";
    paint.textAlign = "right";
    paint.fillText(tickText(value, up[1] - up[0]), LEFT - 6, yOf(value) + 4);
  });
  line(paint, "#8A929A", 1, [[LEFT, TOP], [LEFT, bottom], [width - RIGHT, bottom]]);
}

function line(paint, color, wide, places) {
  paint.strokeStyle = color;
  paint.lineWidth = wide;
  paint.beginPath();
  places.forEach((place, index) => {
    if (index) { paint.lineTo(place[0], place[1]); } else { paint.moveTo(place[0], place[1]); }
  });
  paint.stroke();
}

if (typeof document !== "undefined") { begin(); }
