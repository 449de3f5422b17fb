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

/** Of each line of machine code the line of the source, from 1, that it was made from; of a source itself. */
export function originsOf(text, lines) {
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

export function sourceSection(model) {
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
