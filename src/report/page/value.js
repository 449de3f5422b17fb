// One element of an output on its way through both pipelines, with the numbers of this run.
import {countText, details, h, mark, plural, table, valueText} from './format.js';
import {onSelect, select, selected, stands} from './select.js';

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

export function valueSection(model) {
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
