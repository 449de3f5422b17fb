// The laws of fusion with the figures of this program: the same result, fewer bytes, and what that gains.
import {bar, bytesText, h, mark, plural, significant, table, timeText} from './format.js';
import {savingsCalculator} from './savings.js';

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

export function lawsSection(model) {
  return h(
      'section', {id: 'laws'}, h('h2', null, 'The laws, with this program\u2019s figures'),
      h('div', {class: 'stack'}, sameResult(model), fewerBytes(model), speed(model), savingsCalculator(model)));
}
