// The first screen: what changed, how far from which limit, and what is worth changing.
import {bar, bytesText, countText, h, mark, plural, significant, table, timeText} from './format.js';

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

export function header(model) {
  const json = model.json;
  const sizes = Object.entries(json.sizes).map(([name, n]) => name + '=' + n).join(', ');
  const machine = json.machine.name + (json.machine.isa ? ', ' + json.machine.isa : '') +
      (model.gpu ? '' : ', ' + plural(json.machine.threads, 'thread'));
  return h(
      'header', {class: 'page-head'}, h('h1', null, json.program.name), h('p', {class: 'facts'}, [
        json.inputs.slice(0, 8).join(', ') + (json.inputs.length > 8 ? ', ...' : ''), sizes && 'at ' + sizes, machine
      ].filter(Boolean).join(' \u00b7 ')));
}

export function summarySection(model) {
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
