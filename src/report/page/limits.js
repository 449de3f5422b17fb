// Roofline, ledger, predictions beside measurements, candidates, depth, stages.
import {bar, bytesText, countText, details, h, mark, plural, s, significant, table, timeText} from './format.js';
import {onSelect, select, selected} from './select.js';

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

export function limitsSection(model) {
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
