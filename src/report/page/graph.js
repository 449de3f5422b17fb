// Before and after: one kernel per operation, and the kernels of each step on the way to the plan.
import {bar, bytesText, countText, details, h, mark, plural, s, table, timeText} from './format.js';
import {layered} from './layout.js';
import {light, onSelect, select, selected, stands} from './select.js';

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

export function graphSection(model) {
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
