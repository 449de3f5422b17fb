// Two texts of the compiler side by side: what belongs together lights up together.
import {h, plural} from './format.js';
import {light} from './select.js';

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

/** Nodes that each line of a text is about. */
export function linksOf(model, stage, lines) {
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
  (model.fused.launches || [])
      .forEach(
          (launches, k) =>
              launches.forEach((l) => l.accesses.forEach((a) => a.node >= 0 && params.set(k + ':' + a.array, a.node))));
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
    const comment = text.match(/\/\/ (.+)$/);
    if (comment)
      for (const id of byLabel.get(comment[1]) || []) add(i, id);
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
  let lines = [], links = new Map(), stage = '';
  const draw = () => {
    const from = Math.max(0, Math.floor(view.scrollTop / lineHeight) - 10),
          to = Math.min(lines.length, from + Math.ceil((view.clientHeight || 400) / lineHeight) + 30);
    inner.style.height = lines.length * lineHeight + 'px';
    inner.replaceChildren(...lines.slice(from, to).map((text, n) => {
      const i = from + n, nodes = [...(links.get(i) || [])];
      const row =
          h('div', {
            class: 'line' + (nodes.length ? ' linked' : ''),
            'data-line': i + 1,
            'data-nodes': nodes.length ? nodes.join(' ') : null
          },
            h('span', {class: 'number-of-line'}, String(i + 1)), h('span', {class: 'text'}, pieces(text, stage)));
      row.style.top = i * lineHeight + 'px';
      if (nodes.length) {
        row.addEventListener('pointerenter', () => light(nodes, 'lit'));
        row.addEventListener('pointerleave', () => light([], 'lit'));
        row.addEventListener('click', () => pin(nodes, view));
      }
      return row;
    }));
    if (pinned.length) light(pinned, 'pinned');
  };
  const show = (i) => {
    stage = texts[i].stage;
    picker.value = i;
    lines = texts[i].text.replace(/\n$/, '').split('\n');
    links = linksOf(model, texts[i].stage, lines);
    view.scrollTop = 0;
    note.textContent = texts[i].left_out ?
        plural(texts[i].left_out, 'more line') + ': smelt explain --dump ' + texts[i].stage + ' prints all.' :
        '';
    draw();
  };
  /** Brings the first line about these nodes into view. */
  const seek = (nodes) => {
    for (const [i, of] of [...links].sort((a, b) => a[0] - b[0]))
      if (nodes.some((id) => of.has(id))) {
        const y = i * lineHeight;
        if (y < view.scrollTop || y > view.scrollTop + view.clientHeight - lineHeight) view.scrollTop = y - 60;
        break;
      }
    draw();
  };
  view.addEventListener('scroll', draw);
  picker.addEventListener('change', () => show(Number(picker.value)));
  show(first);
  panes.push({view, seek, draw});
  return {element: h('div', {class: 'pane'}, picker, view, note), draw};
}

const panes = [];
let pinned = [];

function pin(nodes, from) {
  pinned = nodes;
  light(nodes, 'pinned');
  for (const p of panes)
    if (p.view !== from) p.seek(nodes);
}

export function sourceSection(model) {
  const texts = model.json.texts;
  const left = pane(model, texts, 0, 'left'),
        right = pane(
            model, texts, Math.max(0, texts.findIndex((t) => t.stage === 'kernel')) || Math.min(1, texts.length - 1),
            'right');
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    pinned = [];
    light([], 'pinned'), light([], 'lit');
  });
  requestAnimationFrame(() => (left.draw(), right.draw()));
  return h(
      'section', {id: 'source'}, h('h2', null, 'Source, side by side'),
      h('p', {class: 'lead'},
        'Hovering over a line lights what belongs to it everywhere on the page; a click pins it and brings it into view, Esc lets go. Machine code is linked no further than its kernel.'),
      h('div', {class: 'panes'}, left.element, right.element));
}
