'use strict';
const modules = {};
modules.format = (() => {
// Figures as people read them, and elements made from data: text of the user is never markup.

/** Powers of 1000, as bandwidths are given: "33.6 MB". */
function bytesText(n) {
  if (n === null || n === undefined) return 'unknown';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Number(n), unit = 0;
  while (Math.abs(value) >= 999.5 && unit < units.length - 1) value /= 1000, ++unit;
  return (unit === 0 ? String(value) : value.toFixed(value < 99.95 ? 1 : 0)) + ' ' + units[unit];
}

function significant(x, digits = 3) {
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return '0';
  const a = Math.abs(x);
  if (a >= 1e6 || a < 1e-4) return x.toExponential(digits - 1);
  return a >= 10 ** (digits - 1) ? countText(Math.round(x)) : String(Number(x.toPrecision(digits)));
}

function timeText(ms) {
  if (ms === null || ms === undefined) return 'unknown';
  if (ms < 1e-3) return significant(ms * 1e6) + ' ns';
  if (ms < 1) return significant(ms * 1e3) + ' \u00b5s';
  return ms < 1000 ? significant(ms) + ' ms' : significant(ms / 1000) + ' s';
}

function countText(n) { return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ','); }

function plural(n, word) {
  return countText(n) + ' ' + word + (n === 1 ? '' : word.endsWith('ch') ? 'es' : 's');
}

/** A value as the interpreter gives it: a number, a bool, or "nan" and the like. */
function valueText(v) {
  if (v === null || v === undefined) return 'unknown';
  if (typeof v !== 'number') return String(v);
  if (Number.isInteger(v) && Math.abs(v) < 1e15) return String(v);
  return Math.abs(v) >= 1e6 || Math.abs(v) < 1e-4 ? v.toExponential(5) : String(Number(v.toPrecision(7)));
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value);
    else
      element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** An element of HTML. Attributes that begin with "on" are listeners; children are elements or text. */
function h(tag, attributes, ...children) { return fill(document.createElement(tag), attributes, children); }

/** An element of SVG. */
function s(tag, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** How a figure came about: measured, counted, predicted, unknown. */
function mark(kind) { return h('span', {class: 'mark ' + kind}, kind); }

/** A bar of that share of its place, for a cell of a table. */
function bar(share, kind) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return s(
      'svg', {class: 'bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
      s('rect', {class: 'track', width: 100, height: 8}), s('rect', {class: kind || 'load', width, height: 8}));
}

/** Rows as a table; cells are text or elements. Columns that begin with ">" are figures. */
function table(columns, rows, attributes) {
  const name = (c) => c.replace(/^>/, '');
  const side = (c) => ({class: c.startsWith('>') ? 'figure' : null});
  return h(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': (attributes || {}).label || 'table'},
      h('table', {'data-table': (attributes || {}).name},
        h('thead', null, h('tr', null, columns.map((c) => h('th', {scope: 'col', ...side(c)}, name(c))))),
        h('tbody', null, rows.map((row) => {
          const cells = row.cells || row;
          return h('tr', row.cells ? row.attributes : null, cells.map((cell, i) => h('td', side(columns[i]), cell)));
        }))));
}

function details(title, ...children) { return h('details', null, h('summary', null, title), ...children); }
return {bytesText, significant, timeText, countText, plural, valueText, h, s, mark, bar, table, details};
})();
modules.model = (() => {
// The document with what follows from it: which arrays operations read, and which kernels there are after each step of
// the planner.
class Model {
  constructor(json) {
    this.json = json;
    this.nodes = json.graph.nodes;
    this.outputs = new Set(json.graph.outputs);
    this.machine = json.machine;
    this.fused = json.plans.fused;
    this.unfused = json.plans.unfused;
    this.gpu = json.machine.kind === 'gpu';
    // An input that is an output too is copied.
    this.computing = this.nodes.filter((n) => n.kind === 'compute' || (n.kind === 'input' && this.outputs.has(n.id)))
                         .map((n) => n.id);
    this.sources = new Map();
    this.readers = new Map();
    for (const id of this.computing) {
      const from = new Set();
      for (const arg of this.nodes[id].args) this.behind(arg, from);
      if (this.nodes[id].kind === 'input') from.add(id);
      this.sources.set(id, from);
      for (const source of from) {
        if (!this.readers.has(source)) this.readers.set(source, []);
        this.readers.get(source).push(id);
      }
    }
    this.kernelsOf = new Map();
    this.fused.kernels.forEach((kernel, k) => kernel.nodes.forEach((id) => {
      if (!this.kernelsOf.has(id)) this.kernelsOf.set(id, []);
      this.kernelsOf.get(id).push(k);
    }));
    this.bench = json.bench ? json.bench.results[0] : null;
  }

  /** Arrays that a value is made of when views are looked through; constants take no memory. */
  behind(id, into) {
    const node = this.nodes[id];
    if (node.kind === 'compute' || node.kind === 'input')
      into.add(id);
    else
      for (const arg of node.args) this.behind(arg, into);
  }

  name(id) {
    const node = this.nodes[id];
    if (!node) return 'scratch';
    if (node.kind === 'input') return node.name || 'input';
    const at = this.json.graph.outputs.indexOf(id);
    const label = node.label && node.label !== node.op ? node.label + '.' + node.op : node.op;
    return at >= 0 ? (this.json.graph.outputs.length > 1 ? 'output ' + (at + 1) : 'output') : label + ' %' + id;
  }

  label(id) {
    const node = this.nodes[id];
    return node.label || node.op;
  }

  type(id) {
    const node = this.nodes[id];
    return node.dtype + (node.shape.length ? '[' + node.shape.join(', ') + ']' : '');
  }

  /** Operations of one call stand together: [{label, nodes}], in order. */
  calls(ids) {
    const made = new Map();
    for (const id of ids) {
      const call = this.nodes[id].call;
      const key = call === undefined ? 'n' + id : call;
      if (!made.has(key)) made.set(key, {label: this.label(id), nodes: []});
      made.get(key).nodes.push(id);
    }
    return [...made.values()];
  }

  title(ids) {
    const calls = this.calls(ids);
    const words = calls.slice(0, 4).map((c) => c.label + (c.nodes.length > 1 ? ' (' + c.nodes.length + ')' : ''));
    return words.join(', ') + (calls.length > 4 ? ', ' + (calls.length - 4) + ' more' : '');
  }

  /** The kernels after so many states of the replay; the last is the plan. */
  kernelsAt(state) {
    const {steps, states} = this.json.replay;
    if (state >= states.length - 1)
      return this.fused.kernels.map(
          (k, i) =>
              ({nodes: k.nodes, number: i, reads: k.reads.map((r) => r.node), writes: k.writes.map((w) => w.node)}));
    const groups = new Map(this.computing.map((id) => [id, {nodes: [id], copies: []}]));
    for (const step of steps.slice(0, states[state].steps)) {
      if (step.copies) {
        groups.get(step.into).copies = step.copies;
        continue;
      }
      const from = groups.get(step.from), into = groups.get(step.into);
      into.nodes = from.nodes.concat(into.nodes).sort((a, b) => a - b);
      from.nodes = [];
    }
    const all = [...groups.values()].map(
        (g) => ({own: new Set(g.nodes), nodes: [...new Set([...g.nodes, ...g.copies])].sort((a, b) => a - b)}));
    const home = new Map();
    all.forEach((g, i) => g.own.forEach((id) => home.set(id, i)));
    const read = new Set();
    for (const g of all) {
      const inside = new Set(g.nodes);
      g.reads = new Set();
      for (const id of g.nodes)
        for (const source of this.sources.get(id))
          if (!inside.has(source) || this.nodes[source].kind === 'input') g.reads.add(source), read.add(source);
    }
    return all
        .map((g) => ({
               nodes: g.nodes,
               reads: [...g.reads],
               writes: [...g.own].filter((id) => read.has(id) || this.outputs.has(id))
             }))
        .filter((g) => g.writes.length > 0);
  }

  /** What is known of a time: measured before predicted. */
  times() {
    const p = this.fused.predicted, b = this.bench;
    const shown = (side) => b && b[side] ? (this.gpu ? b[side].cold_ms : b[side].time_ms).median : null;
    return {
      measured: b ? {fused: shown('fused'), unfused: shown('unfused')} : null,
      predicted: p ? {fused: p.ms, unfused: p.unfused_ms} : null,
    };
  }
}
return {Model};
})();
modules.select = (() => {
// What is selected, for all views: it lives in the address, so that a link or the way back brings it again.

const listeners = [];
const state = {
  k: 0,
  step: -1,
  e: 0,
  n: -1
};

function selected() { return state; }

function onSelect(listener) { listeners.push(listener); }

function tell(changed) {
  for (const listener of listeners) listener(state, changed);
}

function select(changes, replaces) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  if (changed.length === 0) return;
  Object.assign(state, changes);
  const parts = Object.entries(state).filter(([, v]) => v >= 0).map(([key, v]) => key + '=' + v);
  history[replaces ? 'replaceState' : 'pushState'](null, '', '#' + parts.join('&'));
  tell(changed);
}

/** Takes over what the address says; what it does not say stays as it is. */
function readAddress() {
  const changed = [];
  for (const part of location.hash.slice(1).split('&')) {
    const [key, value] = part.split('=');
    const number = Number(value);
    if (!(key in state) || !Number.isInteger(number) || number < 0 || state[key] === number) continue;
    state[key] = number;
    changed.push(key);
  }
  if (changed.length > 0) tell(changed);
}

/** Marks everything that shows these operations; previews end with the pointer, what is pinned stays. */
function light(nodes, kind, sourceLine) {
  for (const old of document.querySelectorAll('.' + kind)) old.classList.remove(kind);
  if (sourceLine)
    for (const line of document.querySelectorAll('[data-source="' + sourceLine + '"]')) line.classList.add(kind);
  for (const id of nodes)
    for (const element of document.querySelectorAll('[data-nodes~="' + id + '"]')) element.classList.add(kind);
}

/** An element that stands for operations: hovering previews them, a click or Enter pins. */
function stands(element, nodes) {
  element.setAttribute('data-nodes', nodes.join(' '));
  element.addEventListener('pointerenter', () => light(nodes, 'lit'));
  element.addEventListener('pointerleave', () => light([], 'lit'));
  element.addEventListener('focus', () => light(nodes, 'lit'));
  element.addEventListener('blur', () => light([], 'lit'));
  return element;
}
return {selected, onSelect, select, readAddress, light, stands};
})();
modules.layout = (() => {
// Boxes in layers from top to bottom, each below everything that it needs.

/**
 * @param boxes [{id, width, height}]
 * @param edges [{from, to}], by id
 * @returns {places: Map(id -> {x, y, width, height}), width, height}
 */
function layered(boxes, edges, gapX = 28, gapY = 44) {
  const byId = new Map(boxes.map((b) => [b.id, {...b, into: [], out: [], layer: 0}]));
  for (const {from, to} of edges) {
    if (from === to || !byId.has(from) || !byId.has(to)) continue;
    byId.get(from).out.push(to);
    byId.get(to).into.push(from);
  }
  const waiting = new Map([...byId.values()].map((b) => [b.id, b.into.length]));
  const ready = [...byId.values()].filter((b) => b.into.length === 0).map((b) => b.id);
  for (let i = 0; i < ready.length; ++i)
    for (const to of byId.get(ready[i]).out) {
      byId.get(to).layer = Math.max(byId.get(to).layer, byId.get(ready[i]).layer + 1);
      waiting.set(to, waiting.get(to) - 1);
      if (waiting.get(to) === 0) ready.push(to);
    }
  // What only feeds later layers goes next to its first reader.
  for (const b of byId.values())
    if (b.into.length === 0 && b.out.length > 0)
      b.layer = Math.max(0, Math.min(...b.out.map((to) => byId.get(to).layer)) - 1);
  const layers = [];
  for (const b of byId.values()) (layers[b.layer] = layers[b.layer] || []).push(b);
  const rows = layers.filter(Boolean);
  order(rows, byId);
  return place(rows, gapX, gapY);
}

function order(rows, byId) {
  rows.forEach((row) => row.forEach((b, i) => b.position = i));
  const mean = (ids, otherwise) =>
      ids.length ? ids.reduce((sum, id) => sum + byId.get(id).position, 0) / ids.length : otherwise;
  for (let round = 0; round < 4; ++round)
    for (const row of round % 2 ? [...rows].reverse() : rows) {
      for (const b of row) b.wish = mean(round % 2 ? b.out : b.into, b.position);
      row.sort((a, b) => a.wish - b.wish || a.position - b.position);
      row.forEach((b, i) => b.position = i);
    }
}

function place(rows, gapX, gapY) {
  const widthOf = (row) => row.reduce((sum, b) => sum + b.width, 0) + gapX * (row.length - 1);
  const width = Math.max(1, ...rows.map(widthOf));
  const places = new Map();
  let y = 0;
  for (const row of rows) {
    let x = (width - widthOf(row)) / 2;
    const height = Math.max(...row.map((b) => b.height));
    for (const b of row) {
      places.set(b.id, {x, y: y + (height - b.height) / 2, width: b.width, height: b.height});
      x += b.width + gapX;
    }
    y += height + gapY;
  }
  return {places, width, height: Math.max(1, y - gapY)};
}
return {layered};
})();
modules.graph = (() => {
// Before and after: one kernel per operation, and the kernels of each step on the way to the plan.
const {bar, bytesText, countText, details, h, mark, plural, s, table, timeText} = modules.format;
const {layered} = modules.layout;
const {light, onSelect, select, selected, stands} = modules.select;

/** More boxes than this are no picture: kernels of one kind are counted instead. */
const mostBoxes = 400;
/** More cuts than this are counted by their reason. */
const mostCuts = 24;
const chipHeight = 22, titleHeight = 26, charWidth = 7.3;

const opened = new Set();

function cutOf(text, most) { return text.length > most ? text.slice(0, most - 1) + '\u2026' : text; }

function thickness(bytes, largest) { return largest > 0 ? 1.25 + 8 * Math.sqrt(bytes / largest) : 1.25; }

/** Kernels whose calls are closed become one box when they are of one call and nothing else. */
function boxesOf(model, kernels, side) {
  const byCall = new Map(), boxes = [];
  for (const kernel of kernels) {
    const node = model.nodes[kernel.nodes[0]];
    const call = node.call === undefined ? null : model.json.graph.calls[node.call];
    const folds = side === 'before' && kernel.nodes.length === 1 && call && call.nodes.length > 1 &&
        !opened.has(side + node.call);
    if (!folds) {
      boxes.push({kernels: [kernel], nodes: kernel.nodes});
      continue;
    }
    if (!byCall.has(node.call)) {
      byCall.set(node.call, {kernels: [], nodes: [], call: node.call});
      boxes.push(byCall.get(node.call));
    }
    byCall.get(node.call).kernels.push(kernel);
    byCall.get(node.call).nodes.push(...kernel.nodes);
  }
  boxes.forEach((box, i) => finishBox(model, box, 'k' + i, side));
  return boxes;
}

function finishBox(model, box, id, side) {
  box.id = id;
  if (box.call !== undefined && box.kernels.length === 1) delete box.call;
  if (box.call !== undefined) {
    box.title = plural(box.kernels.length, 'kernel');
    box.chips = [
      {text: model.json.graph.calls[box.call].label, key: side + box.call, nodes: box.nodes, count: box.nodes.length}
    ];
  } else {
    const kernel = box.kernels[0];
    box.title = kernel.number === undefined ? 'kernel' : 'kernel ' + (kernel.number + 1);
    box.chips = [];
    for (const call of model.calls(kernel.nodes)) {
      const key = side + model.nodes[call.nodes[0]].call;
      if (call.nodes.length > 1 && !opened.has(key))
        box.chips.push({text: call.label, key, nodes: call.nodes, count: call.nodes.length});
      else if (call.nodes.length > 1) {
        box.chips.push({text: call.label, key, nodes: call.nodes, open: true});
        for (const id of call.nodes) box.chips.push({text: model.nodes[id].op + ' %' + id, nodes: [id], inner: true});
      } else
        box.chips.push({text: operationText(model, call.nodes[0]), nodes: call.nodes});
    }
    if (box.chips.length > 14)
      box.chips = box.chips.slice(0, 13).concat({text: countText(box.chips.length - 13) + ' more', nodes: []});
  }
  const widest = Math.max(
      box.title.length + 2,
      ...box.chips.map((c) => Math.min(c.text.length, 30) + (c.count ? 6 : 2) + (c.inner ? 2 : 0)));
  box.width = Math.max(96, widest * charWidth + 20);
  box.height = titleHeight + box.chips.length * chipHeight + 8;
}

function operationText(model, id) {
  const node = model.nodes[id];
  return node.label && node.label !== node.op ? node.label + ' (' + node.op + ')' : node.op;
}

/** Arrays between boxes, and those of the program. */
function flows(model, boxes) {
  // What copies an input writes another array than the one that others read.
  const writer = new Map(), copier = new Map(), ends = [], edges = [];
  for (const box of boxes)
    for (const kernel of box.kernels)
      for (const id of kernel.writes) (model.nodes[id].kind === 'input' ? copier : writer).set(id, box.id);
  const inputs = new Map();
  for (const box of boxes)
    for (const kernel of box.kernels)
      for (const id of kernel.reads) {
        if (!writer.has(id) && !inputs.has(id)) {
          inputs.set(id, 'a' + id);
          ends.push({
            id: 'a' + id,
            array: id,
            width: Math.max(60, cutOf(model.name(id), 18).length * charWidth + 24),
            height: 26
          });
        }
        edges.push({from: writer.get(id) || inputs.get(id), to: box.id, array: id});
      }
  model.json.graph.outputs.forEach((id, o) => {
    const name = 'o' + o;
    ends.push({
      id: name,
      array: id,
      output: o,
      width: Math.max(70, cutOf(model.name(id), 18).length * charWidth + 24),
      height: 26
    });
    edges.push({from: writer.get(id) || copier.get(id), to: name, array: id});
  });
  const once = new Map();
  for (const edge of edges) {
    const key = edge.from + '>' + edge.to + '>' + edge.array;
    if (edge.from !== edge.to) once.set(key, edge);
  }
  return {ends, edges: [...once.values()]};
}

/** Why these two kernels are two: the decision about the array between them. */
function cutBetween(model, edge, boxes) {
  const to = boxes.find((b) => b.id === edge.to);
  if (!to) return null;
  const inside = new Set(to.nodes);
  return model.fused.decisions.find((d) => !d.fused && d.producer === edge.array && inside.has(d.consumer)) || null;
}

function drawBox(model, box, place, redraw) {
  const pinned = box.kernels.length === 1 && box.kernels[0].number !== undefined;
  const group =
      s('g', {
        class: 'kernel',
        transform: 'translate(' + place.x + ' ' + place.y + ')',
        'data-kernel': pinned ? box.kernels[0].number : null
      },
        s('rect',
          {class: box.call === undefined ? 'box' : 'box folded', width: place.width, height: place.height, rx: 6}),
        s('text', {class: 'title', x: 10, y: 17}, box.title));
  if (pinned) {
    group.setAttribute('tabindex', 0);
    group.setAttribute('role', 'button');
    group.setAttribute('aria-label', box.title + ': ' + model.title(box.nodes));
    const pin = () => select({k: box.kernels[0].number});
    group.addEventListener('click', pin);
    group.addEventListener('keydown', (event) => event.key === 'Enter' && pin());
  }
  stands(group, box.nodes);
  box.chips.forEach((chip, i) => {
    const x = chip.inner ? 18 : 8;
    const drawn = s(
        'g', {
          class: 'chip' + (chip.key ? ' call' : ''),
          transform: 'translate(' + x + ' ' + (titleHeight + i * chipHeight) + ')'
        },
        s('rect', {width: place.width - x - 8, height: chipHeight - 4, rx: 4}),
        s('text', {x: 7, y: 13}, cutOf(chip.text, 30)),
        chip.key ? s('text', {class: 'count', x: place.width - x - 14, y: 13, 'text-anchor': 'end'},
                     chip.open ? '\u2212' : '+' + chip.count) :
                   null,
        s('title', null,
          chip.nodes.map((id) => '%' + id + ' ' + model.nodes[id].op + ' ' + model.type(id)).slice(0, 12).join('\n')));
    stands(drawn, chip.nodes);
    if (chip.key) {
      drawn.setAttribute('tabindex', 0);
      drawn.setAttribute('role', 'button');
      drawn.setAttribute('aria-expanded', String(Boolean(chip.open)));
      drawn.setAttribute('data-call', chip.key);
      drawn.setAttribute('aria-label', chip.text + ', ' + plural(chip.nodes.length, 'operation'));
      const toggle = (event) => {
        event.stopPropagation();
        if (opened.has(chip.key))
          opened.delete(chip.key);
        else
          opened.add(chip.key);
        redraw(chip.key);
      };
      drawn.addEventListener('click', toggle);
      drawn.addEventListener(
          'keydown',
          (event) => (event.key === 'Enter' || event.key === ' ') && (event.preventDefault(), toggle(event)));
    }
    group.append(drawn);
  });
  return group;
}

function curve(x1, y1, x2, y2) {
  const bend = Math.max(18, (y2 - y1) / 2);
  return 'M' + x1 + ' ' + y1 + 'C' + x1 + ' ' + (y1 + bend) + ' ' + x2 + ' ' + (y2 - bend) + ' ' + x2 + ' ' + y2;
}

/** Where an edge passes boxes that lie in its way: beside the widest of them. Null: none does. */
function detour(places, left, right, top, bottom) {
  let side = null;
  for (const p of places.values())
    if (p.y > top && p.y + p.height < bottom && p.x < right + 8 && p.x + p.width > left - 8)
      side = Math.max(side || 0, p.x + p.width + 14);
  return side;
}

function drawEdge(model, edge, places, slot, cut, largest, showCut) {
  const from = places.get(edge.from), to = places.get(edge.to);
  const node = model.nodes[edge.array];
  const x1 = from.x + from.width * slot.out, y1 = from.y + from.height, x2 = to.x + to.width * slot.into, y2 = to.y;
  const side = detour(places, Math.min(x1, x2), Math.max(x1, x2), y1, y2);
  const path = side === null ? curve(x1, y1, x2, y2 - 5) :
                               curve(x1, y1, side, y1 + 40) + 'L' + side + ' ' + (y2 - 45) +
          curve(side, y2 - 45, x2, y2 - 5).replace(/^M[^C]*/, '');
  const width = thickness(node.bytes, largest);
  const kind = cut ? 'cut' : edge.to.startsWith('o') ? 'store' : edge.from.startsWith('a') ? 'load' : 'stored';
  const mid = [side === null ? (x1 + x2) / 2 : side, (y1 + y2) / 2];
  const drawn =
      s('g', {class: 'edge ' + kind, 'data-array': edge.array},
        s('path', {class: 'line', d: path, 'stroke-width': width}),
        s('path', {class: 'tip', d: 'M' + x2 + ' ' + y2 + 'l-' + (3 + width / 2) + ' -8h' + (6 + width) + 'z'}),
        s('title', null, model.name(edge.array) + ': ' + model.type(edge.array) + ', ' + bytesText(node.bytes)),
        s('text', {class: 'bytes', x: mid[0] + (cut ? 14 : 6 + width / 2), y: mid[1] + 4}, bytesText(node.bytes)));
  if (cut) {
    const cross =
        s('g', {
          class: 'cross',
          tabindex: 0,
          role: 'button',
          transform: 'translate(' + mid[0] + ' ' + mid[1] + ')',
          'aria-label': 'cut at ' + model.name(edge.array) + ': ' + cut.reason
        },
          s('circle', {r: 9}), s('path', {d: 'M-4 -4L4 4M4 -4L-4 4'}), s('title', null, cut.reason));
    cross.addEventListener('click', () => showCut(cut));
    cross.addEventListener('keydown', (event) => event.key === 'Enter' && showCut(cut));
    drawn.append(cross);
  }
  return stands(drawn, [edge.array]);
}

/** Where along its boxes each edge begins and ends, so that they do not lie on each other. */
function slots(edges, places) {
  const middle = (id) => places.get(id).x + places.get(id).width / 2;
  const share = (key, other) => {
    const of = new Map();
    for (const e of edges) (of.get(e[key]) || of.set(e[key], []).get(e[key])).push(e);
    const at = new Map();
    for (const list of of .values()) {
      list.sort((a, b) => middle(a[other]) - middle(b[other]));
      list.forEach((e, i) => at.set(e, (i + 1) / (list.length + 1)));
    }
    return at;
  };
  const out = share('from', 'to'), into = share('to', 'from');
  return (e) => ({out: out.get(e), into: into.get(e)});
}

function picture(model, kernels, side, isPlan, redraw, showCut) {
  const boxes = boxesOf(model, kernels, side);
  if (boxes.length > mostBoxes) return kinds(model, kernels, side);
  const {ends, edges} = flows(model, boxes);
  const known = edges.filter((e) => e.from !== undefined);
  const {places, width, height} = layered([...boxes, ...ends], known);
  const slot = slots(known, places);
  const largest = Math.max(...model.nodes.map((n) => n.bytes));
  const drawn = s('svg', {
    class: 'graph',
    role: 'group',
    'aria-label': (side === 'before' ? 'one kernel per operation' : 'fused') + ': ' + plural(kernels.length, 'kernel'),
    viewBox: '-12 -8 ' + (width + 90) + ' ' + (height + 16),
    width: width + 90,
    height: height + 16,
    'data-kernels': kernels.length
  });
  for (const edge of known)
    drawn.append(
        drawEdge(model, edge, places, slot(edge), isPlan ? cutBetween(model, edge, boxes) : null, largest, showCut));
  for (const end of ends) {
    const place = places.get(end.id);
    drawn.append(stands(
        s('g', {class: 'array', transform: 'translate(' + place.x + ' ' + place.y + ')'},
          s('rect', {width: place.width, height: place.height, rx: 13}),
          s('text', {x: place.width / 2, y: 17, 'text-anchor': 'middle'}, cutOf(model.name(end.array), 18)),
          s('title', null, model.name(end.array) + ': ' + model.type(end.array))),
        [end.array]));
  }
  for (const box of boxes) drawn.append(drawBox(model, box, places.get(box.id), redraw));
  return h('div', {class: 'scroll canvas', tabindex: 0, role: 'region', 'aria-label': 'graph'}, drawn);
}

/** Of very many kernels: how many there are of each kind. */
function kinds(model, kernels, side) {
  const found = new Map();
  for (const kernel of kernels) {
    const key = model.title(kernel.nodes);
    const kind = found.get(key) || {count: 0, bytes: 0};
    kind.count += 1;
    for (const id of [...kernel.reads, ...kernel.writes]) kind.bytes += model.nodes[id].bytes;
    found.set(key, kind);
  }
  const rows = [...found]
                   .sort((a, b) => b[1].bytes - a[1].bytes)
                   .slice(0, 60)
                   .map(([key, kind]) => [key, '\u00d7 ' + countText(kind.count), bytesText(kind.bytes)]);
  const more = found.size - rows.length;
  return h(
      'div', {class: 'canvas', 'data-kernels': kernels.length},
      table(['operations of a kernel', '>count', '>bytes'], rows, {name: 'kinds-' + side}),
      more > 0 ? h('p', {class: 'note'}, plural(more, 'more kind') + ' of kernels.') : null);
}

function cutsList(model) {
  const cuts = model.fused.decisions.filter((d) => !d.fused)
                   .map((d) => ({edge: d.from + ' \u2192 ' + d.to, why: d.reason, remedy: d.remedy, bytes: d.bytes}));
  for (const r of model.fused.read_again)
    cuts.push({
      edge: r.input + ', for ' + r.first + ' and again for ' + r.again,
      why: r.reason,
      remedy: r.remedy,
      bytes: r.bytes
    });
  if (cuts.length === 0) return h('p', {class: 'note'}, 'No edge is cut, and no input is read twice.');
  const rows = cuts.length > mostCuts ? alike(cuts) : cuts;
  return table(
      ['cut', 'why', 'what would change it', '>costs'],
      rows.slice(0, 200).map((c) => [c.edge, c.why, c.remedy, bytesText(c.bytes)]), {name: 'cuts', label: 'cuts'});
}

/** Cuts for the same reason as one. */
function alike(cuts) {
  const found = new Map();
  for (const cut of cuts) {
    const known = found.get(cut.why + cut.remedy);
    if (!known)
      found.set(cut.why + cut.remedy, {...cut, count: 1});
    else
      known.count += 1, known.bytes += cut.bytes;
  }
  return [...found.values()].map((c) => c.count > 1 ? {...c, edge: c.edge + ' and ' + (c.count - 1) + ' more'} : c);
}

function graphSection(model) {
  const states = model.json.replay.states, last = states.length - 1;
  const view = {
    before: h('div'),
    after: h('div'),
    detail: h('div', {class: 'detail', 'aria-live': 'polite'}),
    live: h('p', {class: 'readout', 'aria-live': 'polite', id: 'readout'})
  };
  const step = () => selected().step < 0 ? last : Math.min(selected().step, last);
  const showCut = (cut) => {
    view.detail.replaceChildren(
        h('div', {class: 'cut-text', 'data-cut': cut.producer},
          h('strong', null, cut.from + ' \u2192 ' + cut.to + ' is cut: '), cut.reason + '. ',
          'It costs ' + bytesText(cut.bytes) + '. ',
          cut.remedy ? h('span', null, 'To change it: ' + cut.remedy + '.') : null));
    light([cut.producer, cut.consumer], 'pinned');
  };
  const before = model.kernelsAt(0);
  const refocus = (holder, key) => {
    const found = [...holder.querySelectorAll('[data-call]')].find((e) => e.getAttribute('data-call') === key);
    if (found) found.focus();
  };
  const drawBefore = (key) => {
    view.before.replaceChildren(picture(model, before, 'before', false, drawBefore, showCut));
    if (key) refocus(view.before, key);
  };
  const drawAfter = (key) => {
    view.after.replaceChildren(picture(model, model.kernelsAt(step()), 'after', step() === last, drawAfter, showCut));
    if (key) refocus(view.after, key);
    markKernel();
  };
  const markKernel = () => {
    for (const g of view.after.querySelectorAll('[data-kernel]'))
      g.classList.toggle('selected', Number(g.getAttribute('data-kernel')) === selected().k);
  };
  const slider = h('input', {
    type: 'range',
    id: 'step',
    min: 0,
    max: last,
    value: step(),
    'aria-label': 'fusion step',
    'aria-describedby': 'readout',
    oninput: () => select({step: Number(slider.value)}, true)
  });
  const describe = () => {
    const now = states[step()], first = states[0];
    const merges = model.json.replay.steps.slice(step() === 0 ? 0 : states[step() - 1].steps, now.steps);
    const what = step() === 0 ?
        'One kernel per operation.' :
        merges.map(
                  (m) => m.copies ? operationText(model, m.into) + ' recomputes ' + plural(m.copies.length, 'value') :
                                    'the kernel of ' + operationText(model, m.from) + ' is merged into that of ' +
                          operationText(model, m.into))
                .slice(0, 2)
                .join('; ') +
            (merges.length > 2 ? '; ' + plural(merges.length - 2, 'more step') : '') + '.';
    const kernels = step() === last ? model.fused.kernels.length : now.kernels;
    const bytes = step() === last ? model.fused.traffic.fused_bytes : now.bytes;
    slider.value = step();
    slider.setAttribute('aria-valuetext', plural(kernels, 'kernel') + ', ' + bytesText(bytes));
    view.live.replaceChildren(
        h('span', {'data-step': step()}, 'step ' + step() + ' of ' + last),
        h('span', {'data-kernels': kernels}, h('b', null, countText(kernels)), kernels === 1 ? ' launch' : ' launches',
          bar(kernels / Math.max(1, first.kernels), 'chip-fill')),
        h('span', {'data-bytes': bytes}, h('b', null, bytesText(bytes)), ' moved',
          bar(bytes / Math.max(1, first.bytes), 'load')),
        now.predicted_ms === null ?
            h('span', null, 'time ', mark('unknown')) :
            h('span', {'data-ms': now.predicted_ms}, h('b', null, timeText(now.predicted_ms)), ' ', mark('predicted'),
              bar(now.predicted_ms / (first.predicted_ms || 1), 'store')),
        h('span', {class: 'what'}, what));
  };
  let timer = 0;
  const play =
      h('button', {
        type: 'button',
        onclick: () => {
          clearInterval(timer);
          select({step: 0}, true);
          const pause = Math.max(60, Math.min(700, 6000 / Math.max(1, last)));
          timer = setInterval(() => step() >= last ? clearInterval(timer) : select({step: step() + 1}, true), pause);
        }
      },
        'Fuse step by step');
  onSelect((_, changed) => {
    if (changed.includes('step')) drawAfter(), describe();
    if (changed.includes('k')) markKernel();
  });
  drawBefore(), drawAfter(), describe();
  const nothing = last === 0 ?
      h('p', {class: 'note'},
        model.computing.length <= 1 ? 'There is nothing to fuse: the program is one operation.' :
                                      'Nothing was fused: every operation is a kernel of its own.') :
      null;
  return h(
      'section', {id: 'graph'}, h('h2', null, 'Before and after'),
      h('p', {class: 'lead'},
        'A box is a kernel, an arrow an array in memory, the thicker the more bytes. Values between the operations of one box never go to memory.'),
      nothing,
      h('div', {class: 'stepper'},
        h('label',
          {for: 'step'
          },
          'unfused'),
        slider, h('span', null, 'fused'), last > 0 ? play : null),
      view.live,
      h('div', {class: 'pair'},
        h('div', {class: 'panel', id: 'before'}, h('h3', null, 'One kernel per operation'), view.before),
        h('div', {class: 'panel', id: 'after'}, h('h3', null, 'Fused'), view.after)),
      view.detail, h('h3', null, 'Where the plan is cut'), cutsList(model),
      details(
          'Every step as a table',
          table(
              ['>step', '>kernels', '>bytes', '>predicted'],
              states.slice(0, 300).map(
                  (st, i) => [i, countText(st.kernels), bytesText(st.bytes), timeText(st.predicted_ms)]),
              {name: 'steps'})));
}
return {graphSection};
})();
modules.summary = (() => {
// The first screen: what changed, how far from which limit, and what is worth changing.
const {bar, bytesText, countText, h, mark, plural, significant, table, timeText} = modules.format;

function verdict(model) {
  const before = model.unfused.kernels.length, after = model.fused.kernels.length;
  if (model.computing.length === 0) return 'The program computes nothing.';
  if (model.computing.length === 1) return 'One operation: there is nothing to fuse.';
  if (before === after) return 'Nothing was fused: ' + plural(after, 'kernel') + ', one per operation.';
  const t = model.fused.traffic, times = model.times();
  const saved = t.unfused_bytes > 0 ?
      ' and ' + significant(100 * (1 - t.fused_bytes / t.unfused_bytes)) + ' % of the bytes are saved' :
      '';
  const known = times.measured && times.measured.fused > 0 ? [times.measured, 'measured'] :
      times.predicted                                      ? [times.predicted, 'predicted'] :
                                                             null;
  const speed = known && known[0].fused > 0 ?
      '; ' + significant(known[0].unfused / known[0].fused, 2) + ' times as fast (' + known[1] + ')' :
      '';
  return plural(before, 'kernel') + (before === 1 ? ' becomes ' : ' become ') + countText(after) + saved + speed + '.';
}

function rows(model) {
  const t = model.fused.traffic, times = model.times();
  const most = Math.max(t.unfused_bytes, t.fused_bytes, 1);
  const made = [
    [
      'kernels', countText(model.unfused.kernels.length), bar(1, 'chip-fill'), countText(model.fused.kernels.length),
      bar(model.fused.kernels.length / Math.max(1, model.unfused.kernels.length), 'chip-fill'), mark('counted')
    ],
    [
      'bytes moved', bytesText(t.unfused_bytes), bar(t.unfused_bytes / most, 'load'), bytesText(t.fused_bytes),
      bar(t.fused_bytes / most, 'load'), mark('counted')
    ],
    ['ideal bytes', '', '', bytesText(t.ideal_bytes), bar(t.ideal_bytes / most, 'load'), mark('counted')]
  ];
  for (const kind of ['measured', 'predicted']) {
    const known = times[kind];
    if (!known) continue;
    const longest = Math.max(known.unfused || 0, known.fused || 0);
    made.push([
      'time', timeText(known.unfused), bar(known.unfused / longest, 'store'), timeText(known.fused),
      bar(known.fused / longest, 'store'), mark(kind)
    ]);
  }
  if (!times.measured) made.push(['time', 'unknown', '', 'unknown', '', mark('unknown')]);
  const b = model.bench;
  if (b && b.unfused) {
    made.push([
      'bandwidth', significant(b.unfused.bandwidth_gbs) + ' GB/s', '', significant(b.fused.bandwidth_gbs) + ' GB/s', '',
      mark('measured')
    ]);
    made.push([
      'share of a copy', significant(100 * b.unfused.of_copy) + ' %', bar(b.unfused.of_copy, 'chip-fill'),
      significant(100 * b.fused.of_copy) + ' %', bar(b.fused.of_copy, 'chip-fill'), mark('measured')
    ]);
  }
  if (b && b.accuracy) made.push(['largest error', '', '', significant(b.accuracy.max_abs), '', mark('measured')]);
  return made;
}

/** The change that gains most: the cost model's own advice, else the most expensive cut. */
function advice(model) {
  const changes = model.fused.changes || [];
  if (changes.length > 0)
    return ['Best change: ' + changes[0].change + '; predicted to gain ' + timeText(changes[0].gain_ms) + '.'];
  const cuts = model.fused.decisions.filter((d) => !d.fused && d.remedy && !d.remedy.startsWith('nothing'))
                   .sort((a, b) => b.bytes - a.bytes);
  if (cuts.length > 0)
    return [
      'The most expensive cut that can be changed: ' + cuts[0].from + ' \u2192 ' + cuts[0].to + ' (' +
      bytesText(cuts[0].bytes) + '): ' + cuts[0].remedy + '.'
    ];
  const t = model.fused.traffic;
  return [
    t.fused_bytes <= t.ideal_bytes ?
        'Nothing is left to fuse: every input is read once and every output is written once.' :
        'No change is predicted to gain 5 % or more.'
  ];
}

function limit(model) {
  const slow = model.fused.kernels.filter((k) => k.limited_by).sort((a, b) => b.predicted_ms - a.predicted_ms)[0];
  if (!slow) return null;
  const number = model.fused.kernels.indexOf(slow) + 1;
  return (model.fused.kernels.length > 1 ? 'Kernel ' + number + ' takes longest and' : 'The kernel') +
      ' is limited by ' + slow.limited_by.replace('_', ' ') + ' (predicted).';
}

function notices(model) {
  const json = model.json, made = [];
  if (json.problem) made.push('The program was not built or run as a whole: ' + json.problem.split('\n')[0]);
  if (json.interpreted && !json.problem)
    made.push(
        'Not compiled: this machine has no compiler. The plan shows the kernels that would be built. ' +
        json.machine.missing.split('\n')[0]);
  if (!json.machine.present && model.gpu)
    made.push(
        'This page was written on a machine without such a GPU, so times and occupancy are unknown. Run smelt report on a machine that has one.');
  const custom = model.fused.kernels.filter((k) => k.strategy === 'custom').length;
  if (custom) made.push(plural(custom, 'kernel') + ' of the user\'s own code: the accesses inside are unknown.');
  const batches = model.fused.kernels.filter((k) => k.strategy === 'batch').length;
  if (batches) made.push(plural(batches, 'launch') + ' of independent, similar work (a batch).');
  return made.map((text) => h('p', {class: 'notice', role: 'note'}, text));
}

function header(model) {
  const json = model.json;
  const sizes = Object.entries(json.sizes).map(([name, n]) => name + '=' + n).join(', ');
  const machine = json.machine.name + (json.machine.isa ? ', ' + json.machine.isa : '') +
      (model.gpu ? '' : ', ' + plural(json.machine.threads, 'thread'));
  return h(
      'header', {class: 'page-head'}, h('h1', null, json.program.name), h('p', {class: 'facts'}, [
        json.inputs.slice(0, 8).join(', ') + (json.inputs.length > 8 ? ', ...' : ''), sizes && 'at ' + sizes, machine
      ].filter(Boolean).join(' \u00b7 ')));
}

function summarySection(model) {
  return h(
      'section', {id: 'summary'},
      h('p', {class: 'verdict', 'data-before': model.unfused.kernels.length, 'data-after': model.fused.kernels.length},
        verdict(model)),
      ...notices(model),
      h('div', {class: 'first'},
        table(['', '>unfused', '', '>fused', '', ''], rows(model), {name: 'summary', label: 'what changed'}),
        h('div', {class: 'panel program'}, h('h3', null, 'Program'),
          h('pre', {tabindex: 0}, model.json.program.text || model.json.program.name))),
      h('p', {class: 'next'}, advice(model), ' ', limit(model)));
}
return {header, summarySection};
})();
modules.memory = (() => {
// Which addresses a warp, or a vector, touches at once: a row per access of the selected kernel.
const {bytesText, countText, h, mark, plural, s, significant, table} = modules.format;
const {onSelect, selected, stands} = modules.select;

const words = {
  contiguous: 'coalesced',
  broadcast: 'broadcast',
  strided: 'strided',
  irregular: 'gathered',
  unknown: 'unknown'
};

function word(model, access) {
  return !model.gpu && access.pattern === 'contiguous'          ? 'contiguous' :
      access.pattern === 'irregular' && access.kind === 'store' ? 'scattered' :
                                                                  words[access.pattern];
}

function excess(access) { return access.ideal_sectors > 0 ? access.sectors / access.ideal_sectors : 1; }

/** Lines of memory, each with its sectors; a sector is filled as far as lanes use it, and tells which do. */
function strip(model, access) {
  const sector = model.machine.sector_bytes, line = model.machine.line_bytes, perLine = line / sector;
  const lines = new Map();
  access.offsets.forEach((offset, lane) => {
    if (offset < 0) return;
    for (let at = Math.floor(offset / sector); at <= Math.floor((offset + access.lane_bytes - 1) / sector); ++at) {
      const key = Math.floor(at / perLine);
      if (!lines.has(key)) lines.set(key, new Map());
      const sectors = lines.get(key);
      if (!sectors.has(at)) sectors.set(at, {lanes: [], bytes: new Set()});
      const of = sectors.get(at);
      of.lanes.push(lane);
      const begin = Math.max(offset, at * sector), end = Math.min(offset + access.lane_bytes, (at + 1) * sector);
      for (let b = begin; b < end; ++b) of.bytes.add(b);
    }
  });
  const keys = [...lines.keys()].sort((a, b) => a - b), shown = keys.slice(0, 16);
  const cell = model.gpu ? 15 : 34, drawn = [];
  let x = 0;
  shown.forEach((key, i) => {
    if (i > 0 && key !== shown[i - 1] + 1) {
      drawn.push(s('text', {class: 'gap', x: x + 3, y: 14}, '\u22ef'));
      x += 16;
    }
    for (let n = 0; n < perLine; ++n) {
      const of = lines.get(key).get(key * perLine + n);
      const share = of ? of.bytes.size / sector : 0;
      drawn.push(
          s('g', null, s('rect', {class: 'sector', x, y: 2, width: cell, height: 16}),
            of ? s('rect', {class: access.kind, x, y: 2 + 16 * (1 - share), width: cell, height: 16 * share}) : null,
            s('title', null,
              'from byte ' + countText((key * perLine + n) * sector) + ': ' +
                  (of ? (of.lanes.length === 1 ? 'lane ' + of.lanes[0] :
                                                 'lanes ' + of.lanes[0] + ' to ' + of.lanes[of.lanes.length - 1]) +
                           ', ' + of.bytes.size + ' of ' + sector + ' bytes used' :
                        'not touched'))));
      x += cell;
    }
    x += 3;
  });
  const more = keys.length - shown.length;
  if (more > 0)
    drawn.push(
        s('text', {class: 'gap', x: x + 3, y: 14}, '+' + more),
        ),
        x += 36;
  return s(
      'svg', {
        class: 'strip',
        role: 'img',
        'aria-label': plural(access.sectors, model.gpu ? 'sector' : 'line') + ' touched',
        width: x + 4,
        height: 20,
        viewBox: '-1 0 ' + (x + 4) + ' 20',
        'data-sectors': access.sectors
      },
      drawn);
}

function accessRow(model, access, k, n) {
  const bad = excess(access) > 1.5;
  const unit = model.gpu ? 'sector' : 'line';
  const known = access.pattern !== 'unknown';
  const row = h(
      'tr', {class: bad ? 'bad' : null, 'data-access': k + '.' + n, 'data-pattern': access.pattern},
      h('td', null, h('span', {class: 'kind ' + access.kind}, access.kind === 'load' ? 'L' : 'S'), ' ',
        access.node >= 0 ? model.name(access.node) : access.array),
      h('td', null, h('span', {class: 'pattern ' + access.pattern}, word(model, access)),
        access.conditional ? h('span', {class: 'note'}, ' if') : null,
        access.atomic ? h('span', {class: 'note'}, ' atomic') : null),
      h('td', {class: 'figure'}, known ? access.lane_bytes + ' B' : ''),
      h('td', {class: 'figure'}, known ? access.sectors + ' / ' + access.ideal_sectors : 'unknown',
        bad ? h('strong', {class: 'warn'}, ' \u26a0 ' + significant(excess(access), 2) + '\u00d7') : null),
      h('td', {class: 'figure'}, known ? countText(Math.round(access.total_sectors)) : '',
        known ? h('span', {class: 'note'}, ' ' + bytesText(access.total_sectors * model.machine.sector_bytes)) : null),
      h('td', null,
        known ? strip(model, access) :
                h('span', {class: 'note'}, 'which ' + unit + 's depends on data that is not available')));
  row.title = access.index;
  return access.node >= 0 ? stands(row, [access.node]) : row;
}

function launchTable(model, launch, k) {
  const unit = model.gpu ? 'sectors' : 'lines';
  if (launch.accesses.length === 0) return h('p', {class: 'note'}, 'This launch accesses only scratch memory.');
  return h(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'accesses'},
      h('table', {class: 'accesses', 'data-table': 'accesses'},
        h('thead', null,
          h('tr', null,
            [
              'array', 'pattern', 'per lane', unit + ' / ideal', 'total',
              model.gpu ? 'one warp: 128-byte lines of 4 sectors' : 'one vector: 64-byte lines'
            ].map((c, i) => h('th', {scope: 'col', class: i > 1 && i < 5 ? 'figure' : null}, c)))),
        h('tbody', null, launch.accesses.map((a, n) => accessRow(model, a, k, n)))),
      launch.accesses_left_out ?
          h('p', {class: 'note'},
            'Accesses of this launch that are not listed: ' + countText(launch.accesses_left_out) + '.') :
          null);
}

/** Why accesses and ledger differ, in bytes. */
function compare(model, kernel, launches) {
  const known = launches.flatMap((l) => l.accesses).filter((a) => a.pattern !== 'unknown' && a.node >= 0);
  if (known.length === 0) return null;
  const accessed = known.reduce((sum, a) => sum + a.total_sectors * model.machine.sector_bytes, 0);
  const ledger = kernel.bytes_read + kernel.bytes_written;
  const ratio = ledger > 0 ? accessed / ledger : 1;
  const why = ratio > 1.05 ?
      'elements are read more than once, or lines only in part; caches may serve the difference' :
      ratio < 0.95 ? 'the arrays are read only in part' :
                     'each byte is accessed once';
  return h(
      'p', {class: 'note', 'data-accessed': Math.round(accessed)},
      'Accessed: ' + bytesText(accessed) + '; arrays: ' + bytesText(ledger) + ' (' + why + '). ',
      mark(known.some((a) => a.sampled) ? 'predicted' : 'counted'));
}

function launchesOf(model, k) { return (model.fused.launches && model.fused.launches[k]) || []; }

function kernelPicker(model, label) {
  const kernels = model.fused.kernels;
  if (kernels.length < 2) return null;
  const list =
      h('select', {'aria-label': label, class: 'kernel-picker'},
        kernels.slice(0, 256).map(
            (kernel, k) => h('option', {value: k}, 'kernel ' + (k + 1) + ': ' + model.title(kernel.nodes))));
  return list;
}

function memorySection(model, choose) {
  const body = h('div');
  const picker = kernelPicker(model, 'kernel whose accesses are shown');
  if (picker) picker.addEventListener('change', () => choose(Number(picker.value)));
  const draw = () => {
    const k = Math.min(selected().k, model.fused.kernels.length - 1);
    if (picker) picker.value = k;
    const kernel = model.fused.kernels[k], launches = launchesOf(model, k);
    if (!kernel || launches.length === 0) {
      body.replaceChildren(
          h('p', {class: 'note'},
            !kernel                          ? 'There are no kernels.' :
                kernel.strategy === 'custom' ? 'The user\'s own code: its accesses are unknown.' :
                model.json.interpreted       ? 'Not compiled: accesses are unknown.' :
                                               'Accesses are listed for the first 256 kernels only.'));
      return;
    }
    const bad = launches.flatMap((l) => l.accesses).filter((a) => excess(a) > 1.5).length;
    body.replaceChildren(
        h('p', {class: 'lead'},
          bad ? bad === 1 ? 'One access touches more memory than it uses.' :
                            countText(bad) + ' accesses touch more memory than they use.' :
                'Every access uses all of the memory that it touches.'),
        ...launches.map(
            (launch) =>
                h('div', null, launches.length > 1 ? h('h3', null, 'phase ' + (launch.phase + 1)) : null,
                  launchTable(model, launch, k))),
        compare(model, kernel, launches));
  };
  onSelect((_, changed) => changed.includes('k') && draw());
  draw();
  return h('section', {id: 'memory'}, h('h2', null, 'Memory access'), picker, body);
}
return {launchesOf, kernelPicker, memorySection};
})();
modules.threads = (() => {
// The launch of each kernel: grid, blocks, warps, lanes, and which elements a thread has.
const {bytesText, countText, h, mark, plural, s, significant, table} = modules.format;
const {kernelPicker, launchesOf} = modules.memory;
const {onSelect, selected} = modules.select;

/** Elements of a row of the loop that a thread takes: ((step * unroll + u) * threads + t) * lanes + l. */
function elementsOf(loop, team, t, most) {
  const made = [], unroll = loop.unroll || 1, extent = loop.elements;
  for (let step = 0; made.length < most; ++step) {
    if (step * team * unroll * loop.lanes >= extent) break;
    for (let u = 0; u < unroll && made.length < most; ++u) {
      const first = ((step * unroll + u) * team + t) * loop.lanes;
      if (first < extent) made.push([first, Math.min(first + loop.lanes, extent) - 1]);
    }
  }
  return made;
}

function ranges(list, more) {
  return list.map(([a, b]) => a === b ? countText(a) : countText(a) + '\u2013' + countText(b)).join(', ') +
      (more ? ', \u2026' : '');
}

function cells(count, most, name, x0, y, size, selectedCell) {
  const shown = Math.min(count, most), drawn = [];
  for (let i = 0; i < shown; ++i)
    drawn.push(s('rect', {
      class: name + (i === selectedCell ? ' on' : ''),
      x: x0 + i * (size + 2),
      y,
      width: size,
      height: size,
      rx: 2
    }));
  if (count > shown)
    drawn.push(
        s('text', {class: 'gap', x: x0 + shown * (size + 2) + 4, y: y + size - 3}, '\u2026 ' + countText(count)));
  return drawn;
}

function picture(model, launch, thread) {
  const warps = Math.max(1, Math.ceil(launch.threads / 32)), warp = Math.floor(thread / 32), lane = thread % 32;
  const lanes = Math.min(32, launch.threads);
  const label = (text, y) => s('text', {class: 'axis', x: 0, y}, text);
  return s(
      'svg', {
        class: 'threads-picture',
        role: 'img',
        width: 620,
        height: 152,
        viewBox: '0 0 620 152',
        'aria-label': 'a grid of ' + launch.workgroups + ' blocks of ' + launch.threads + ' threads'
      },
      label('grid', 15), cells(launch.workgroups, 24, 'block', 70, 2, 16, 0),
      s('path', {class: 'zoom', d: 'M70 20L70 50M86 20L' + (70 + Math.min(warps, 24) * 18) + ' 50'}),
      label('block', 66), cells(warps, 24, 'warp', 70, 52, 16, warp), s('path', {
        class: 'zoom',
        d: 'M' + (70 + Math.min(warp, 23) * 18) + ' 70L70 104M' + (86 + Math.min(warp, 23) * 18) + ' 70L' +
            (70 + lanes * 16) + ' 104'
      }),
      label('warp ' + warp, 118), cells(lanes, 32, 'lane', 70, 106, 14, lane),
      s('text', {class: 'gap', x: 70, y: 140}, 'lane ' + lane + ' is thread ' + thread + ' of its block'));
}

function builtRows(model, kernel, launch) {
  const built = (kernel.functions || []).find((f) => f.name === launch.function);
  const unknown = () => mark('unknown');
  // What the GPU says of code that is loaded; of a cubin alone it is not known.
  const loaded = built && built.workgroups_per_processor !== undefined;
  // By warps, in units of 256.
  const allocated = built ? built.registers_allocated || built.registers : 0;
  const rows = [
    ['registers per thread', built ? countText(built.registers) : unknown()],
    ['registers allocated', built ? countText(allocated) : unknown()],
    [
      'shared memory per block',
      built                           ? bytesText(built.shared_bytes) :
          launch.dynamic_shared_bytes ? [bytesText(launch.dynamic_shared_bytes), ' dynamic; static: ', unknown()] :
                                        unknown()
    ],
    ['spilled per thread', built ? bytesText(built.local_bytes) : unknown()],
    ['blocks per multiprocessor', loaded ? countText(built.workgroups_per_processor) : unknown()],
    ['occupancy', loaded ? significant(100 * built.occupancy) + ' %' : unknown()]
  ];
  const limits = model.machine.limits;
  if (loaded && built.workgroups_per_processor > 0) {
    const at_once = built.workgroups_per_processor * limits.processors;
    rows.push(['waves', significant(launch.workgroups / at_once)]);
    const byThreads = Math.floor(limits.threads_per_processor / launch.threads),
          byRegisters = Math.floor(limits.registers_per_processor / (Math.max(1, allocated) * launch.threads));
    const byShared =
        built.shared_bytes > 0 ? Math.floor(limits.shared_bytes_per_processor / built.shared_bytes) : Infinity;
    const least = Math.min(byThreads, byRegisters, byShared);
    rows.push([
      'limited by',
      built.workgroups_per_processor < least ? 'the number of blocks per multiprocessor' :
          least === byThreads                ? 'threads' :
          least === byRegisters              ? 'registers' :
                                               'shared memory'
    ]);
  }
  return table(['built code', '>'], rows, {name: 'built'});
}

function gpuLaunch(model, kernel, launch) {
  const team = launch.team, perBlock = Math.max(1, Math.floor(launch.threads / team));
  const input = h('input', {
    type: 'number',
    min: 0,
    max: launch.threads - 1,
    value: Math.min(3, launch.threads - 1),
    'aria-label': 'thread of a block',
    class: 'thread'
  });
  const holder = h('div'), list = h('div', {'aria-live': 'polite'});
  const draw = () => {
    const t = Math.max(0, Math.min(launch.threads - 1, Math.floor(Number(input.value) || 0)));
    holder.replaceChildren(picture(model, launch, t));
    const known = launch.loops.filter((l) => l.elements !== undefined && !l.peeled);
    list.replaceChildren(
        known.length === 0 ? h('p', {class: 'note'}, 'The elements of a thread differ from block to block here.') :
                             table(
                                 ['a loop over', 'takes elements', '>at a time'], known.map((l) => {
                                   const made = elementsOf(l, team, t % team, 9);
                                   return [
                                     countText(l.elements) + ' elements',
                                     made.length ? ranges(made.slice(0, 8), made.length > 8) : 'none',
                                     l.lanes + ' \u00d7 ' + (l.unroll || 1)
                                   ];
                                 }),
                                 {name: 'elements'}));
  };
  input.addEventListener('input', draw);
  draw();
  const what = launch.cluster > 1 ? plural(launch.cluster, 'block') + ' (a cluster) per iteration' :
      perBlock > 1                ? perBlock + ' iterations per block, ' + plural(team, 'thread') + ' each' :
                                    'one block per iteration';
  return h(
      'div', {class: 'launch', 'data-workgroups': launch.workgroups, 'data-threads': launch.threads},
      h('p', {class: 'lead'}, h('code', null, launch.function),
        ': ' + plural(launch.workgroups, 'block') + ' of ' + plural(launch.threads, 'thread') + ', ' +
            plural(launch.iterations, 'iteration') + ', ' + what + (launch.parts ? ', in all parts of the batch' : '') +
            '. ',
        mark('counted')),
      h('div', {class: 'pair'}, h('div', null, holder, h('label', null, 'Thread ', input), list),
        builtRows(model, kernel, launch)));
}

function cpuLaunch(model, launch) {
  const threads = model.machine.threads, pieces = Math.ceil(launch.iterations / launch.grain);
  const vectors = launch.loops.filter((l) => l.elements !== undefined);
  return h(
      'div', {class: 'launch', 'data-iterations': launch.iterations},
      h('p', {class: 'lead'},
        plural(launch.iterations, 'iteration') + ', at least ' + countText(launch.grain) + ' per task: work for ' +
            plural(Math.min(threads, pieces), 'thread') + ' of ' + threads + '. ',
        mark('counted')),
      vectors.length === 0 ?
          null :
          table(
              ['a loop over', '>lanes of a vector', '>steps'],
              vectors.map(
                  (l) => [countText(l.elements) + ' elements', l.lanes, countText(Math.ceil(l.elements / l.lanes))]),
              {name: 'vectors'}));
}

function unfusedTable(model) {
  const launches = model.unfused.launches;
  const rows = model.unfused.kernels.slice(0, 40).map((kernel, k) => {
    const l = launches && launches[k] && launches[k][0];
    return [
      kernel.nodes.map((id) => model.name(id)).join(', '),
      l ? (model.gpu ? countText(l.workgroups) : countText(l.iterations)) : 'unknown',
      l ? (model.gpu          ? countText(l.threads) :
               l.loops.length ? l.loops[0].lanes :
                                '') :
          '',
      bytesText(kernel.bytes_read + kernel.bytes_written)
    ];
  });
  const more = model.unfused.kernels.length - rows.length;
  return h(
      'div', null,
      table(
          ['unfused launch', model.gpu ? '>blocks' : '>iterations', model.gpu ? '>threads' : '>lanes', '>moves'], rows,
          {name: 'unfused-launches'}),
      more > 0 ? h('p', {class: 'note'}, plural(more, 'more launch') + '.') : null);
}

function threadsSection(model, choose) {
  const body = h('div');
  const picker = kernelPicker(model, 'kernel whose launch is shown');
  if (picker) picker.addEventListener('change', () => choose(Number(picker.value)));
  const draw = () => {
    const k = Math.min(selected().k, model.fused.kernels.length - 1);
    if (picker) picker.value = k;
    const launches = launchesOf(model, k);
    body.replaceChildren(...(
        launches.length === 0 ?
            [h('p', {class: 'note'},
               model.json.interpreted ? 'Not compiled: the reference interpreter runs one operation after the other.' :
                                        'The launch of this kernel is unknown.')] :
            launches.map((l) => model.gpu ? gpuLaunch(model, model.fused.kernels[k], l) : cpuLaunch(model, l))));
  };
  onSelect((_, changed) => changed.includes('k') && draw());
  draw();
  return h(
      'section', {id: 'threads'}, h('h2', null, model.gpu ? 'Thread blocks' : 'Threads and vectors'), picker, body,
      h('h3', null, 'Unfused, for comparison: ' + plural(model.unfused.kernels.length, 'launch')), unfusedTable(model));
}
return {elementsOf, threadsSection};
})();
modules.value = (() => {
// One element of an output on its way through both pipelines, with the numbers of this run.
const {countText, details, h, mark, plural, table, valueText} = modules.format;
const {onSelect, select, selected, stands} = modules.select;

function place(model, step) {
  return model.name(step.node) + (step.index.length ? '[' + step.index.join(', ') + ']' : '');
}

/** What a step loads and stores: in memory, or in registers of the kernel that has both. */
function traffic(model, element) {
  const steps = element.steps, fused = new Map();
  const inMemory = new Set(model.fused.kernels.flatMap((k) => k.writes.map((w) => w.node)));
  let unfusedLoads = 0, unfusedStores = 0, fusedLoads = 0, fusedStores = 0;
  const rows = steps.map((step) => {
    const node = model.nodes[step.node];
    if (node.kind !== 'compute') return {step, node};
    const args = step.args.filter((a) => a !== null).map((a) => steps[a]);
    const arrays = args.filter((a) => model.nodes[a.node].kind !== 'constant');
    const kernels = model.kernelsOf.get(step.node) || [0];
    const row = {step, node, kernel: kernels[0], loads: arrays.length, args, fused: []};
    unfusedLoads += arrays.length;
    unfusedStores += 1;
    for (const arg of arrays) {
      const key = kernels[0] + ':' + arg.node + ':' + arg.index.join(',');
      const here =
          (model.kernelsOf.get(arg.node) || []).includes(kernels[0]) && model.nodes[arg.node].kind === 'compute';
      const again = fused.has(key);
      fused.set(key, true);
      row.fused.push(here || again ? 'register' : 'memory');
      if (!here && !again) fusedLoads += 1;
    }
    row.stores = inMemory.has(step.node);
    if (row.stores) fusedStores += 1;
    return row;
  });
  return {rows, unfusedLoads, unfusedStores, fusedLoads, fusedStores};
}

function chip(kind, text) { return h('span', {class: 'place ' + kind}, text); }

function flow(model, row, isFused) {
  const args = row.args.slice(0, 3).map(
      (arg, i) =>
          [i > 0 ? ' ' : null,
           model.nodes[arg.node].kind === 'constant' ? chip('constant', valueText(arg.value)) :
               isFused &&
                   row.fused[row.args.slice(0, i).filter((a) => model.nodes[a.node].kind !== 'constant').length] ===
                       'register' ?
                                                       chip('register', valueText(arg.value)) :
                                                       chip('load', 'L ' + valueText(arg.value))]);
  const stored = !isFused || row.stores;
  return [
    args, row.args.length > 3 || row.step.more ? ' \u2026' : null, ' \u2192 ',
    chip(stored ? 'store' : 'register', (stored ? 'S ' : '') + valueText(row.step.value))
  ];
}

function draw(model, element) {
  const {rows, unfusedLoads, unfusedStores, fusedLoads, fusedStores} = traffic(model, element);
  const computed = rows.filter((r) => r.node.kind === 'compute');
  const inputs = rows.filter((r) => r.node.kind === 'input')
                     .slice(0, 8)
                     .map((r) => place(model, r.step) + ' = ' + valueText(r.step.value));
  // Elements that a reduction has beside the one on the way are like it: one row stands for all.
  const shown = new Map();
  for (const row of computed) {
    const known = shown.get(row.step.node);
    if (known)
      known.alike = (known.alike || 0) + 1;
    else
      shown.set(row.step.node, row);
  }
  const body = [...shown.values()].map((row) => {
    const tr =
        h('tr', {'data-step': row.step.node},
          h('td', null,
            h('code', null,
              row.node.label && row.node.label !== row.node.op ? row.node.label + '.' + row.node.op : row.node.op)),
          h('td', null, '[' + row.step.index.join(', ') + ']',
            row.step.more ? h('span', {class: 'note'}, ' of ' + countText(row.step.more + row.args.length)) : null,
            row.alike ? h('span', {class: 'note'}, ' and ' + countText(row.alike) + ' similar') : null),
          h('td', null, flow(model, row, false)), h('td', null, flow(model, row, true)),
          h('td', {class: 'figure'}, row.kernel + 1));
    return stands(tr, [row.step.node]);
  });
  const results = [['reference (float64)', valueText(element.reference), '']];
  for (const side of ['unfused', 'fused'])
    results.push([
      side, element[side] === undefined ? mark('unknown') : valueText(element[side]),
      typeof element[side] === 'number' && typeof element.reference === 'number' ?
          valueText(element[side] - element.reference) :
          ''
    ]);
  return [
    h('p', {class: 'lead', 'data-fused-loads': fusedLoads, 'data-unfused-loads': unfusedLoads},
      'From ' + (inputs.join(', ') || 'constants alone') + '. For the elements shown: unfused ' +
          plural(unfusedLoads, 'load') + ' and ' + plural(unfusedStores, 'store') + ', fused ' +
          plural(fusedLoads, 'load') + ' and ' + plural(fusedStores, 'store') + '. ',
      mark('counted')),
    h('p', {class: 'legend'}, chip('load', 'L memory'), ' ', chip('store', 'S memory'), ' ',
      chip('register', 'on chip'), ' ', chip('constant', 'constant')),
    h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'the path of a value'},
      h('table', {'data-table': 'way'},
        h('thead', null,
          h('tr', null,
            ['operation', 'element', 'unfused', 'fused', 'kernel'].map(
                (c, i) => h('th', {scope: 'col', class: i === 4 ? 'figure' : null}, c)))),
        h('tbody', null, body))),
    table(['result', '>value', '>difference'], results, {name: 'results'})
  ];
}

function valueSection(model) {
  const elements = model.json.trace.elements;
  const section = h('section', {id: 'value'}, h('h2', null, 'The path of a value'));
  if (elements.length === 0) {
    section.append(h(
        'p', {class: 'note'}, 'No values were recorded: ' + (model.json.trace.reason || 'there is no element') + '.'));
    return section;
  }
  const many = model.json.graph.outputs.length > 1;
  const name = (e) => (many ? 'output ' + (e.output + 1) : 'output') + '[' + e.index.join(', ') + ']: ' + e.why;
  const picker =
      h('select', {'aria-label': 'element', id: 'element'}, elements.map((e, i) => h('option', {value: i}, name(e))));
  const typed =
      h('input',
        {type: 'text', class: 'index', 'aria-label': 'index of a recorded element', placeholder: 'index, e.g. 0, 3'});
  const found = h('span', {class: 'note', 'aria-live': 'polite'});
  typed.addEventListener('change', () => {
    const wanted = (typed.value.match(/\d+/g) || []).map(Number).join();
    const at = elements.findIndex((e) => e.index.join() === wanted);
    found.textContent = at < 0 ? 'not recorded; choose one of the list' : '';
    if (at >= 0) select({e: at});
  });
  picker.addEventListener('change', () => select({e: Number(picker.value)}));
  const body = h('div');
  const show = () => {
    const e = Math.min(selected().e, elements.length - 1);
    picker.value = e;
    body.replaceChildren(...draw(model, elements[e]));
  };
  onSelect((_, changed) => changed.includes('e') && show());
  show();
  section.append(
      h('div', {class: 'controls'}, h('label', null, 'Element ', picker), h('label', null, 'or its index ', typed),
        found),
      body);
  return section;
}
return {valueSection};
})();
modules.savings = (() => {
// What `smelt savings` computes, exactly: sizes are whole numbers of any length.
const {h, table} = modules.format;

/** Two decimals of a quotient of whole numbers, rounded half away from zero. */
function rounded(numerator, denominator) {
  if (denominator === 0n) return '0.00';
  const negative = numerator < 0n, n = (negative ? -numerator : numerator) * 100n;
  const q = (2n * n + denominator) / (2n * denominator);
  const text = String(q).padStart(3, '0');
  return (negative && q > 0n ? '-' : '') + text.slice(0, -2) + '.' + text.slice(-2);
}

/** @param chain [{input, output}] in elements, as BigInt */
function savingsOf(chain, dtypeBytes) {
  if (chain.length === 0) return {unfused: 0n, fused: 0n, saved: 0n, percent: '0.00', speedup: '0.00'};
  const unfused = chain.reduce((sum, op) => sum + op.input + op.output, 0n) * dtypeBytes;
  const fused = (chain[0].input + chain[chain.length - 1].output) * dtypeBytes;
  const saved = unfused - fused;
  return {unfused, fused, saved, percent: rounded(100n * saved, unfused), speedup: rounded(unfused, fused)};
}

function whole(text) { return /^\d+$/.test(text.trim()) ? BigInt(text.trim()) : null; }

/** The operations of a kernel, each with the elements of its largest argument and of its result. */
function fromKernel(model, k) {
  const kernel = model.fused.kernels[k];
  if (!kernel) return [];
  const elements = (id) => model.nodes[id].shape.reduce((a, b) => a * b, 1);
  return kernel.nodes.slice(0, 40).map((id) => ({
                                         name: model.nodes[id].op,
                                         input: String(Math.max(0, ...[...model.sources.get(id)].map(elements))),
                                         output: String(elements(id))
                                       }));
}

function savingsCalculator(model) {
  let chain = fromKernel(model, 0);
  if (chain.length === 0) chain = [{name: 'relu', input: '4096', output: '4096'}];
  const bytes = h('input', {type: 'text', inputmode: 'numeric', size: 4, 'aria-label': 'bytes per element'});
  const kernel = model.fused.kernels[0], first = kernel && kernel.writes[0];
  bytes.value = first ? String(Math.max(1, first.bytes / Math.max(1, first.shape.reduce((a, b) => a * b, 1)))) : '4';
  const body = h('tbody'), result = h('div', {'aria-live': 'polite', id: 'savings-result'});
  const compute = () => {
    const numbers = chain.map((op) => ({input: whole(op.input), output: whole(op.output)})), size = whole(bytes.value);
    const wrong = numbers.findIndex((op) => op.input === null || op.output === null);
    if (wrong >= 0 || size === null || size < 1n) {
      result.replaceChildren(
          h('p', {class: 'warn'},
            wrong >= 0 ? 'Row ' + (wrong + 1) + ': sizes are integers, in elements.' :
                         'Bytes per element: an integer of at least 1.'));
      return;
    }
    const r = savingsOf(numbers, size);
    result.replaceChildren(table(
        ['', '>'],
        [
          ['unfused_bytes', String(r.unfused)], ['fused_bytes', String(r.fused)], ['savings_bytes', String(r.saved)],
          ['savings_pct', r.percent], ['speedup_estimate', r.speedup]
        ],
        {name: 'savings'}));
  };
  const draw = () => {
    body.replaceChildren(...chain.map((op, i) => {
      const field = (key, label, size) => {
        const input =
            h('input', {type: 'text', size, 'aria-label': label + ' of operation ' + (i + 1), 'data-field': key + i});
        input.value = op[key];
        input.addEventListener('input', () => (op[key] = input.value, compute()));
        return h('td', null, input);
      };
      return h(
          'tr', null, field('name', 'name', 14), field('input', 'input size', 12), field('output', 'output size', 12),
          h('td', null,
            h('button', {
              type: 'button',
              'aria-label': 'remove operation ' + (i + 1),
              onclick: () => (chain.splice(i, 1), draw())
            },
              '\u00d7')));
    }));
    compute();
  };
  bytes.addEventListener('input', compute);
  draw();
  return h(
      'div', {class: 'panel', id: 'savings'}, h('h3', null, 'Savings calculator'),
      h('p', {class: 'note'},
        'Computes what smelt savings does: bytes of a chain of operations, from sizes alone. It starts with kernel 1.'),
      h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'operations of the chain'},
        h('table', null,
          h('thead', null,
            h('tr', null, ['operation', 'input size', 'output size', ''].map((c) => h('th', {scope: 'col'}, c)))),
          body)),
      h('div', {class: 'controls'},
        h('button', {
          type: 'button',
          id: 'add-operation',
          onclick: () => (chain.push({name: 'op', input: '0', output: '0'}), draw())
        },
          'Add an operation'),
        h('label', null, 'bytes per element ', bytes)),
      result);
}
return {rounded, savingsOf, savingsCalculator};
})();
modules.laws = (() => {
// The laws of fusion with the figures of this program: the same result, fewer bytes, and what that gains.
const {bar, bytesText, h, mark, plural, significant, table, timeText} = modules.format;
const {savingsCalculator} = modules.savings;

function sameResult(model) {
  const a = model.bench && model.bench.accuracy;
  const names = model.calls(model.computing).slice(0, 5).map((c) => c.label);
  const law = names.length < 2 ? 'fused(x) = f(x)' :
                                 [...names].reverse().join('(') + '(x' +
          ')'.repeat(names.length) + (model.calls(model.computing).length > 5 ? '\u2026' : '') + ' = fused(x)';
  return h(
      'div', {class: 'panel', id: 'law-result'}, h('h3', null, '1. Fusing does not change the result'),
      h('p', {class: 'law'}, law),
      a ? h('p', {'data-correct': String(model.bench.correct)},
            (model.bench.correct ? 'Checked: all ' : 'NOT EQUAL: of ') + plural(a.elements, 'element') +
                ', largest difference from the float64 reference ' + significant(a.max_abs) + ' (' +
                significant(a.max_ulp) + ' ULP). ',
            mark('measured'), a.note ? ' ' + a.note : '') :
          h('p', null, 'Not checked: the program was not run. ', mark('unknown')));
}

function fewerBytes(model) {
  const t = model.fused.traffic, rows = [], most = Math.max(t.unfused_bytes, 1);
  const arrays = new Map();
  const add = (id, side, bytes) => {
    const at = arrays.get(id) || {unfused: 0, fused: 0};
    at[side] += bytes;
    arrays.set(id, at);
  };
  for (const kernel of model.unfused.kernels)
    for (const id of [...kernel.reads, ...kernel.writes]) add(id, 'unfused', model.nodes[id].bytes);
  for (const kernel of model.fused.kernels)
    for (const v of [...kernel.reads, ...kernel.writes]) add(v.node, 'fused', v.bytes);
  const sorted = [...arrays].sort((x, y) => y[1].unfused - x[1].unfused);
  for (const [id, b] of sorted.slice(0, 24))
    rows.push([model.name(id), bytesText(b.unfused), bytesText(b.fused), b.fused === 0 ? 'stays on chip' : '']);
  return h(
      'div', {class: 'panel', id: 'law-bytes'}, h('h3', null, '2. Bytes that are no longer moved'),
      h('p', {class: 'law', 'data-saved': t.unfused_bytes - t.fused_bytes},
        bytesText(t.unfused_bytes) + ' \u2212 ' + bytesText(t.fused_bytes) + ' = ' +
            bytesText(t.unfused_bytes - t.fused_bytes) + ' saved. ',
        mark('counted')),
      h('div', {class: 'bars'}, h('span', null, 'unfused'), bar(t.unfused_bytes / most, 'load'),
        h('span', null, 'fused'), bar(t.fused_bytes / most, 'load'), h('span', null, 'ideal'),
        bar(t.ideal_bytes / most, 'load')),
      table(['array, read and written', '>unfused', '>fused', ''], rows, {name: 'arrays'}),
      sorted.length > 24 ? h('p', {class: 'note'}, plural(sorted.length - 24, 'more array') + '.') : null);
}

function speed(model) {
  const t = model.fused.traffic, times = model.times(), operations = model.computing.length;
  const ratio = (p) => p && p.fused > 0 && p.unfused > 0 ? p.unfused / p.fused : null;
  const rows = [
    [
      'textbook: (operations + synchronisations) / 2',
      operations ? (operations + Math.max(0, operations - 1)) / 2 : null, 'counted',
      'all arrays are equally large, and each is read once'
    ],
    [
      'bytes: unfused / fused', t.fused_bytes > 0 ? t.unfused_bytes / t.fused_bytes : null, 'counted',
      'memory is the only limit, at one bandwidth'
    ],
    [
      'cost model', ratio(times.predicted), 'predicted',
      'launches, caches, arithmetic and latency cost what the model says'
    ],
    ['measured', ratio(times.measured), times.measured ? 'measured' : 'unknown', 'on this machine, for these sizes']
  ];
  const most = Math.max(...rows.map((r) => r[1] || 0), 1);
  return h(
      'div', {class: 'panel', id: 'law-speed'}, h('h3', null, '3. The speedup'),
      table(
          ['estimate', '>times as fast', '', '', 'holds when'],
          rows.map(
              ([name, x, kind, why]) =>
                  [name, x === null ? 'unknown' : h('span', {'data-speedup': x}, significant(x)),
                   x === null ? '' : bar(x / most, 'store'), mark(x === null ? 'unknown' : kind), why]),
          {name: 'speedups'}),
      h('p', {class: 'note'}, why(model, times)));
}

function why(model, times) {
  const bytes =
      model.fused.traffic.fused_bytes > 0 ? model.fused.traffic.unfused_bytes / model.fused.traffic.fused_bytes : 0;
  const last = model.machine.limits.l3_bytes || model.machine.limits.l2_bytes;
  const largest = Math.max(...model.nodes.map((n) => n.bytes), 0), reasons = [];
  if (last && largest * 2 < last)
    reasons.push(
        'arrays of ' + bytesText(largest) + ' fit the last-level cache (' + bytesText(last) +
        '), so that unfused kernels find them there');
  const slow = model.fused.kernels.filter((k) => k.limited_by && k.limited_by !== 'memory').length;
  if (slow) reasons.push(plural(slow, 'fused kernel') + (slow === 1 ? ' is' : ' are') + ' not limited by memory');
  if (model.machine.roofs && times.predicted &&
      model.machine.roofs.launch_us * model.unfused.kernels.length > 200 * times.predicted.unfused)
    reasons.push('launches alone are more than a fifth of the unfused time');
  return reasons.length ? 'Why they differ: ' + reasons.join('; ') + '.' :
      bytes > 1         ? 'The bytes decide here; the kernels reach different bandwidths, which explains the rest.' :
                          'Fusing saves no bytes here.';
}

function lawsSection(model) {
  return h(
      'section', {id: 'laws'}, h('h2', null, 'The laws, with this program\u2019s figures'),
      h('div', {class: 'stack'}, sameResult(model), fewerBytes(model), speed(model), savingsCalculator(model)));
}
return {lawsSection};
})();
modules.limits = (() => {
// Roofline, ledger, predictions beside measurements, candidates, depth, stages.
const {bar, bytesText, countText, details, h, mark, plural, s, significant, table, timeText} = modules.format;
const {onSelect, select, selected} = modules.select;

function median(kernel) { return kernel.measured_ms ? kernel.measured_ms.median : null; }

function roofline(model) {
  const roofs = model.machine.roofs;
  const points = model.fused.kernels
                     .map((kernel, k) => ({
                            k,
                            bytes: kernel.bytes_read + kernel.bytes_written,
                            work: kernel.operations_estimate,
                            ms: median(kernel) || kernel.predicted_ms,
                            measured: median(kernel) !== null
                          }))
                     .filter((p) => p.bytes > 0 && p.work > 0 && p.ms > 0)
                     .slice(0, 200);
  if (!roofs || points.length === 0)
    return h('p', {class: 'note'}, 'No roofline: there are no predictions for these kernels.');
  const width = 560, height = 280, left = 64, bottom = 244;
  const intensity = points.map((p) => p.work / p.bytes), rate = points.map((p) => p.work / p.ms * 1e-6);
  const memory = roofs.copy_gbs || roofs.memory_gbs, ridge = roofs.gops / memory;
  const x0 = Math.log10(Math.min(...intensity, ridge) / 4), x1 = Math.log10(Math.max(...intensity, ridge) * 4);
  const y1 = Math.log10(Math.max(roofs.gops, ...rate) * 2), y0 = Math.min(Math.log10(Math.min(...rate) / 4), y1 - 2);
  const x = (v) => left + (Math.log10(v) - x0) / (x1 - x0) * (width - left - 16),
        y = (v) => bottom - (Math.log10(v) - y0) / (y1 - y0) * (bottom - 16);
  const drawn = [];
  for (let e = Math.ceil(x0); e <= x1; ++e)
    drawn.push(
        s('line', {class: 'grid', x1: x(10 ** e), x2: x(10 ** e), y1: 16, y2: bottom}),
        s('text', {class: 'axis', x: x(10 ** e), y: bottom + 16, 'text-anchor': 'middle'}, significant(10 ** e)));
  for (let e = Math.ceil(y0); e <= y1; ++e)
    drawn.push(
        s('line', {class: 'grid', x1: left, x2: width - 16, y1: y(10 ** e), y2: y(10 ** e)}),
        s('text', {class: 'axis', x: left - 6, y: y(10 ** e) + 4, 'text-anchor': 'end'}, significant(10 ** e)));
  const roof = (gbs, kind, label) => {
    const at = roofs.gops / gbs, from = Math.max(10 ** x0, 10 ** y0 / gbs);
    drawn.push(
        s('path', {
          class: 'roof ' + kind,
          d: 'M' + x(from) + ' ' + y(from * gbs) + 'L' + x(at) + ' ' + y(roofs.gops) + 'L' + x(10 ** x1) + ' ' +
              y(roofs.gops)
        },
          s('title', null, label)),
        s('text', {class: 'axis', x: x(Math.sqrt(from * at)) + 6, y: y(Math.sqrt(from * at) * gbs) + 14}, label));
  };
  roof(memory, 'load', (roofs.copy_gbs ? 'copy ' : 'memory ') + significant(memory) + ' GB/s');
  if (roofs.cache_gbs > 1.2 * memory) roof(roofs.cache_gbs, 'chip', 'cache ' + significant(roofs.cache_gbs) + ' GB/s');
  drawn.push(
      s('text', {class: 'axis', x: width - 18, y: y(roofs.gops) - 6, 'text-anchor': 'end'},
        'arithmetic ' + significant(roofs.gops) + ' G/s'));
  points.forEach((p, i) => {
    const dot =
        s('circle', {
          class: 'dot' + (p.measured ? '' : ' guess'),
          cx: x(intensity[i]),
          cy: y(rate[i]),
          r: 6,
          tabindex: 0,
          role: 'button',
          'data-kernel-dot': p.k,
          'aria-label': 'kernel ' + (p.k + 1)
        },
          s('title', null,
            'kernel ' + (p.k + 1) + ': ' + significant(intensity[i]) + ' operations per byte, ' + significant(rate[i]) +
                ' G/s'));
    const pin = () => select({k: p.k});
    dot.addEventListener('click', pin);
    dot.addEventListener('keydown', (event) => event.key === 'Enter' && pin());
    drawn.push(dot);
    if (points.length <= 12)
      drawn.push(s('text', {class: 'axis', x: x(intensity[i]) + 9, y: y(rate[i]) - 8}, 'kernel ' + (p.k + 1)));
  });
  return h(
      'figure', null,
      s('svg',
        {class: 'chart', role: 'img', 'aria-label': 'roofline', viewBox: '0 0 ' + width + ' ' + height, width, height},
        drawn,
        s('text', {class: 'axis', x: (left + width) / 2, y: height - 4, 'text-anchor': 'middle'},
          'operations per byte')),
      h('figcaption', {class: 'note'}, 'Operations, arithmetic limit and cache bandwidth: ', mark('predicted'),
        roofs.copy_gbs ? ['; copy bandwidth: ', mark('measured')] : null,
        '. Vertical axis: billions of operations per second.'));
}

function ledger(model) {
  const rows = [];
  model.fused.kernels.slice(0, 60).forEach((kernel, k) => {
    for (const v of kernel.reads.slice(0, 24))
      rows.push([
        'kernel ' + (k + 1), h('span', {class: 'kind load'}, 'L'), v.name, v.dtype + '[' + v.shape.join(', ') + ']',
        bytesText(v.bytes)
      ]);
    for (const v of kernel.writes.slice(0, 24))
      rows.push([
        'kernel ' + (k + 1), h('span', {class: 'kind store'}, 'S'), v.name, v.dtype + '[' + v.shape.join(', ') + ']',
        bytesText(v.bytes)
      ]);
  });
  return details(
      'Ledger: bytes per array and kernel', table(['kernel', '', 'array', 'type', '>bytes'], rows, {name: 'ledger'}));
}

function times(model) {
  const kernels = model.fused.kernels.slice(0, 60);
  const longest = Math.max(...kernels.map((k) => Math.max(median(k) || 0, k.predicted_ms || 0)), 1e-9);
  let at = 0;
  return table(
      ['kernel', 'schedule', '>begins', '>measured', '', '>predicted', '', 'limited by', '>of a copy'],
      kernels.map((kernel, k) => {
        const begins = at;
        at += median(kernel) || kernel.predicted_ms || 0;
        return {
          attributes: {'data-time': k},
          cells: [
            'kernel ' + (k + 1) + ': ' + model.title(kernel.nodes),
            kernel.strategy + (kernel.note ? ': ' + kernel.note : ''), timeText(begins),
            median(kernel) === null ? mark('unknown') : timeText(median(kernel)),
            bar((median(kernel) || 0) / longest, 'store'),
            kernel.predicted_ms === undefined ? mark('unknown') : timeText(kernel.predicted_ms),
            bar((kernel.predicted_ms || 0) / longest, 'load'),
            kernel.limited_by ? kernel.limited_by.replace('_', ' ') : '',
            kernel.of_copy ? significant(100 * kernel.of_copy) + ' %' : ''
          ]
        };
      }),
      {name: 'timeline', label: 'timeline'});
}

function candidates(model) {
  const kernel = model.fused.kernels[Math.min(selected().k, model.fused.kernels.length - 1)];
  const list = kernel && kernel.candidates;
  if (!list || list.length === 0) return h('p', {class: 'note'}, 'No candidates are listed for this kernel.');
  const longest = Math.max(...list.map((c) => c.predicted_us));
  return table(
      ['', 'schedule', '>predicted', '', 'limited by', '>measured'],
      list.map(
          (c) =>
              [c.chosen ? h('b', null, 'chosen') : '', c.strategy + ', ' + c.form, timeText(c.predicted_us / 1000),
               bar(c.predicted_us / longest, 'load'), c.limit.replace('_', ' '),
               c.measured_us === undefined ? '' : timeText(c.measured_us / 1000)]),
      {name: 'candidates'});
}

function depth(model) {
  const d = model.json.depth;
  if (!d) return null;
  const points = d.points || d.depths || [];
  if (points.length === 0) return null;
  return h(
      'div', null, h('h3', null, 'Depth: operations that a kernel may have'),
      table(
          ['>limit', '>longest', '>kernels', '>bytes', '>predicted', '>measured'],
          points.map(
              (p) =>
                  [p.limit || 'none', p.longest, p.kernels, bytesText(p.bytes), timeText(p.predicted_ms),
                   p.measured_ms ? timeText(p.measured_ms.median === undefined ? p.measured_ms : p.measured_ms.median) :
                                   '']),
          {name: 'depth'}));
}

function counters(model) {
  const c = model.json.counters;
  if (!c)
    return h(
        'p', {class: 'note'}, 'Counters of the GPU: ', mark('unknown'),
        ' (smelt report --profile on a machine with Nsight Compute).');
  return h(
      'div', null, h('h3', null, 'Counters of the GPU'),
      table(
          ['', '>launches', '>read', '>written', '>expected'],
          ['unfused', 'fused'].map(
              (side) =>
                  [side, (c[side].launches || []).length, bytesText(c[side].read_bytes),
                   bytesText(c[side].written_bytes),
                   bytesText((c[side].predicted_read_bytes || 0) + (c[side].predicted_written_bytes || 0))]),
          {name: 'counters'}));
}

function limitsSection(model) {
  const list = h('div');
  const redraw = () => list.replaceChildren(candidates(model));
  onSelect((_, changed) => changed.includes('k') && redraw());
  redraw();
  const stages = model.fused.stages || [];
  return h(
      'section', {id: 'limits'}, h('h2', null, 'Limits'), roofline(model), h('h3', null, 'Timeline'), times(model),
      h('h3', null, 'Candidate schedules'), list, depth(model), model.gpu ? counters(model) : null, ledger(model),
      details(
          'Stages of the compiler',
          table(['stage', '>time'], stages.map((st) => [st.stage, timeText(st.ms)]), {name: 'stages'})));
}
return {limitsSection};
})();
modules.source = (() => {
// Two texts of the compiler side by side: what belongs together lights up together.
const {h, plural} = modules.format;
const {light} = modules.select;

const lineHeight = 18;
const keywords =
    new Set(('input return def kernel phase grid vector unrolled serial let combine store stream if else for const ' +
             'int float define ret br call load getelementptr __global__ __shared__ void')
                .split(' '));
const comments = {
  program: /#/,
  graph: /#/,
  plan: /$^/,
  kernel: /#/,
  source: /\/\/|(?:^|\s);/,
  asm: /#/,
  ptx: /\/\//
};

/** Of each line of machine code the line of the source, from 1, that it was made from; of a source itself. */
function originsOf(text, lines) {
  if (text.stage === 'source') return lines.map((_, i) => i + 1);
  const origins = [];
  let next = 0, at = 0;
  const runs = text.source_lines || [];
  lines.forEach((_, i) => {
    if (next < runs.length && runs[next][0] === i) at = runs[next++][1];
    origins.push(at);
  });
  return origins;
}

/** Machine code is about what its lines of the source are about. */
function linksOfText(model, text, lines) {
  const source = model.json.texts.find((t) => t.stage === 'source');
  if (!source || (text.stage !== 'asm' && text.stage !== 'ptx')) return linksOf(model, text.stage, lines);
  const of = linksOf(model, 'source', source.text.split('\n')), links = new Map();
  originsOf(text, lines).forEach((line, i) => line && of.has(line - 1) && links.set(i, of.get(line - 1)));
  return links;
}

/** Nodes that each line of a text is about. */
function linksOf(model, stage, lines) {
  const links = new Map(), byLine = new Map(), byLabel = new Map();
  const add = (line, id) => {
    if (!model.nodes[id]) return;
    if (!links.has(line)) links.set(line, new Set());
    links.get(line).add(id);
  };
  for (const node of model.nodes) {
    if (!node.line || node.file) continue;
    (byLine.get(node.line) || byLine.set(node.line, []).get(node.line)).push(node.id);
    const key = (node.label || node.op) + ', line ' + node.line;
    (byLabel.get(key) || byLabel.set(key, []).get(key)).push(node.id);
  }
  const params = new Map();
  (model.fused.launches || []).forEach((launches, k) => launches.forEach((l) => l.accesses.forEach((a) => {
    if (a.node < 0) return;
    params.set(k + ':' + a.array, a.node);
    params.set(k + ':%p' + a.array.match(/\d+$/)[0], a.node);  // in LLVM IR
  })));
  const pointers = new Map();  // names in LLVM IR of places in arrays
  let kernel = -1;
  lines.forEach((text, i) => {
    if (stage === 'program')
      for (const id of byLine.get(i + 1) || []) add(i, id);
    if (stage === 'graph' || stage === 'plan')
      for (const found of text.matchAll(/%(\d+)/g)) add(i, Number(found[1]));
    if (stage !== 'kernel' && stage !== 'source') return;
    const begins = stage === 'kernel' ? text.match(/^kernel k(\d+)/) : text.match(/\bk(\d+)_p\d+/);
    if (begins && (stage === 'kernel' || /void|define/.test(text))) kernel = Number(begins[1]);
    for (const found of text.matchAll(/\b(?:in|out|tmp)\d+\b/g)) {
      const id = params.get(kernel + ':' + found[0]);
      if (id !== undefined) add(i, id);
    }
    const made = text.match(/^\s+(%[\w.]+) = getelementptr /);
    if (stage === 'source')
      for (const [, name] of text.matchAll(/\bptr (%[\w.]+)/g)) {
        const id = params.get(kernel + ':' + name) ?? pointers.get(kernel + ':' + name);
        if (id === undefined) continue;
        add(i, id);
        if (made) pointers.set(kernel + ':' + made[1], id);
      }
    const comment = text.match(/(?:\/\/| #| ;) (.+)$/);
    if (comment)
      for (const label of comment[1].split('; '))
        for (const id of byLabel.get(label) || []) add(i, id);
  });
  return links;
}

function pieces(text, stage) {
  const comment = text.search(comments[stage] || /$^/);
  const code = comment >= 0 ? text.slice(0, comment) : text;
  const made = [];
  for (const part of code.split(/([%@]?\b[A-Za-z_][\w.]*\b|\b\d[\w.]*)/)) {
    if (!part) continue;
    const kind = keywords.has(part) ? 'word' : /^\d/.test(part) ? 'number' : null;
    made.push(kind ? h('span', {class: kind}, part) : part);
  }
  if (comment >= 0) made.push(h('span', {class: 'comment'}, text.slice(comment)));
  return made;
}

/** A text of which only the lines in view are in the document. */
function pane(model, texts, first, name) {
  const picker =
      h('select', {'aria-label': 'text on the ' + name, 'data-pane': name},
        texts.map((t, i) => h('option', {value: i}, t.title)));
  const view = h('div', {class: 'code', tabindex: 0, role: 'region', 'aria-label': 'text on the ' + name}),
        inner = h('div', {class: 'code-lines'});
  const note = h('p', {class: 'note'});
  view.append(inner);
  let lines = [], links = new Map(), origins = [], stage = '';
  const draw = () => {
    const from = Math.max(0, Math.floor(view.scrollTop / lineHeight) - 10),
          to = Math.min(lines.length, from + Math.ceil((view.clientHeight || 400) / lineHeight) + 30);
    inner.style.height = lines.length * lineHeight + 'px';
    inner.replaceChildren(...lines.slice(from, to).map((text, n) => {
      const i = from + n, nodes = [...(links.get(i) || [])], source = origins[i] || null;
      const row =
          h('div', {
            class: 'line' + (nodes.length || source ? ' linked' : ''),
            'data-line': i + 1,
            'data-nodes': nodes.length ? nodes.join(' ') : null,
            'data-source': source
          },
            h('span', {class: 'number-of-line'}, String(i + 1)), h('span', {class: 'text'}, pieces(text, stage)));
      row.style.top = i * lineHeight + 'px';
      if (nodes.length || source) {
        row.addEventListener('pointerenter', () => light(nodes, 'lit', source));
        row.addEventListener('pointerleave', () => light([], 'lit'));
        row.addEventListener('click', () => pin(nodes, source, view));
      }
      return row;
    }));
    light(pinned.nodes, 'pinned', pinned.source);
  };
  const show = (i) => {
    stage = texts[i].stage;
    picker.value = i;
    lines = texts[i].text.replace(/\n$/, '').split('\n');
    links = linksOfText(model, texts[i], lines);
    origins = lineText(texts[i].stage) ? originsOf(texts[i], lines) : [];
    view.scrollTop = 0;
    note.textContent = texts[i].left_out ?
        plural(texts[i].left_out, 'more line') + ': smelt explain --dump ' + texts[i].stage + ' prints all.' :
        '';
    draw();
  };
  /** Brings the first line from this line of the source into view, or the first about these nodes. */
  const seek = (nodes, source) => {
    let first = source ? origins.indexOf(source) : -1;
    if (first < 0)
      first = [...links.keys()].sort((a, b) => a - b).find((i) => nodes.some((id) => links.get(i).has(id))) ?? -1;
    const y = first * lineHeight;
    if (first >= 0 && (y < view.scrollTop || y > view.scrollTop + view.clientHeight - lineHeight))
      view.scrollTop = y - 60;
    draw();
  };
  view.addEventListener('scroll', draw);
  picker.addEventListener('change', () => show(Number(picker.value)));
  show(first);
  panes.push({view, seek, draw});
  return {element: h('div', {class: 'pane'}, picker, view, note), draw};
}

const panes = [];
const nothing = {
  nodes: [],
  source: null
};
let pinned = nothing;

/** Whether the lines of a text are known by the line of the source. */
function lineText(stage) { return stage === 'source' || stage === 'asm' || stage === 'ptx'; }

function pin(nodes, source, from) {
  pinned = {nodes, source};
  light(nodes, 'pinned', source);
  for (const p of panes)
    if (p.view !== from) p.seek(nodes, source);
}

function sourceSection(model) {
  const texts = model.json.texts;
  const left = pane(model, texts, 0, 'left'),
        right = pane(
            model, texts, Math.max(0, texts.findIndex((t) => t.stage === 'kernel')) || Math.min(1, texts.length - 1),
            'right');
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    pinned = nothing;
    light([], 'pinned'), light([], 'lit');
  });
  requestAnimationFrame(() => (left.draw(), right.draw()));
  return h(
      'section', {id: 'source'}, h('h2', null, 'Source, side by side'),
      h('p', {class: 'lead'},
        'Hover over a line to highlight what belongs to it on the whole page; click to pin it and scroll to it; press Esc to unpin. Machine code is linked by the compiler\u2019s line information.'),
      h('div', {class: 'panes'}, left.element, right.element));
}
return {originsOf, linksOf, sourceSection};
})();
modules.reload = (() => {
// A served page comes again when what it shows has changed.

function followChanges() {
  const version = document.documentElement.getAttribute('data-served');
  if (!version) return;
  const ask = async () => {
    try {
      const answer = await fetch('changes?' + version, {cache: 'no-store'});
      if (answer.ok && (await answer.text()) === 'changed') return location.reload();
      setTimeout(ask, 400);
    } catch (error) {
      setTimeout(ask, 2000);
    }
  };
  ask();
}
return {followChanges};
})();
modules.main = (() => {
// The page: reads the document, makes the sections, and takes over what the address says.
const {h} = modules.format;
const {graphSection} = modules.graph;
const {lawsSection} = modules.laws;
const {limitsSection} = modules.limits;
const {memorySection} = modules.memory;
const {Model} = modules.model;
const {followChanges} = modules.reload;
const {onSelect, readAddress, select} = modules.select;
const {sourceSection} = modules.source;
const {header, summarySection} = modules.summary;
const {threadsSection} = modules.threads;
const {valueSection} = modules.value;

const sections = [
  ['graph', 'Graph'], ['value', 'Value'], ['threads', 'Threads'], ['memory', 'Memory'], ['laws', 'Laws'],
  ['limits', 'Limits'], ['source', 'Source']
];

function themeButton() {
  const root = document.documentElement;
  const button = h('button', {type: 'button', id: 'theme', 'aria-label': 'colours: system, light or dark'}, 'Theme');
  const set = (theme) => {
    if (theme)
      root.setAttribute('data-theme', theme);
    else
      root.removeAttribute('data-theme');
    button.textContent = 'Theme: ' + (theme || 'system');
  };
  button.addEventListener('click', () => {
    const now = root.getAttribute('data-theme');
    set(now === 'light' ? 'dark' : now === 'dark' ? null : 'light');
  });
  set(null);
  return button;
}

function helpButton() {
  const dialog =
      h('dialog', {id: 'help', 'aria-label': 'keys'}, h('h2', null, 'Keys'),
        h('table', null,
          [
            ['1 \u2013 7', 'go to a section'], ['[ and ]', 'previous or next fusion step'],
            ['Tab, Enter', 'go to a kernel, a call or a cut; select or open it'], ['Esc', 'unpin'], ['?', 'this list']
          ].map(([key, what]) => h('tr', null, h('td', null, h('kbd', null, key)), h('td', null, what)))),
        h('form', {method: 'dialog'}, h('button', {type: 'submit'}, 'Close')));
  document.body.append(dialog);
  return h('button', {type: 'button', id: 'keys', 'aria-label': 'keys', onclick: () => dialog.showModal()}, '?');
}

function keys(model) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
      return;
    const number = Number(event.key);
    if (number >= 1 && number <= sections.length) {
      const heading = document.querySelector('#' + sections[number - 1][0] + ' h2');
      heading.setAttribute('tabindex', -1);
      heading.scrollIntoView();
      heading.focus({preventScroll: true});
    }
    const slider = document.getElementById('step');
    if ((event.key === '[' || event.key === ']') && slider)
      select(
          {step: Math.max(0, Math.min(Number(slider.max), Number(slider.value) + (event.key === ']' ? 1 : -1)))}, true);
    if (event.key === '?') document.getElementById('help').showModal();
  });
}

function draw(json) {
  const page = document.getElementById('page');
  if (json.schema !== 'smelt.report' || json.version[0] !== 1) {
    page.append(h('p', {class: 'notice'}, 'This page shows reports of version 1; the data in it has another version.'));
    return;
  }
  if (json.error) {
    page.append(h(
        'main', null, h('h1', null, 'The program has an error'), h('pre', {class: 'notice', id: 'error'}, json.error)));
    return;
  }
  const model = new Model(json);
  const choose = (k) => select({k});
  page.append(
      h('a', {class: 'skip', href: '#summary-start'}, 'Skip to the content'),
      h('div', {class: 'bar-top'}, header(model),
        h('nav', {'aria-label': 'sections'},
          sections.map(
              ([id, name], i) =>
                  h('a', {
                    href: '#' + id,
                    onclick: (event) => {
                      event.preventDefault();
                      document.getElementById(id).scrollIntoView();
                    }
                  },
                    h('span', {class: 'key'}, i + 1), name)),
          themeButton(), helpButton())),
      h('main', {id: 'summary-start'}, summarySection(model), graphSection(model), valueSection(model),
        threadsSection(model, choose), memorySection(model, choose), lawsSection(model), limitsSection(model),
        sourceSection(model)),
      h('footer', null,
        h('p', {class: 'note'}, json.command ? ['Written by ', h('code', null, json.command), '. '] : null,
          'Every figure is measured, counted from the plan and the kernels, predicted by the cost model, or unknown.')));
  keys(model);
  window.addEventListener('hashchange', readAddress);
  window.addEventListener('popstate', readAddress);
  window.addEventListener('beforeprint', () => {
    for (const d of document.querySelectorAll('details')) d.open = true;
  });
  readAddress();
}

draw(JSON.parse(document.getElementById('report').textContent));
document.documentElement.setAttribute('data-ready', '');
followChanges();
return {};
})();
