// Which addresses a warp, or a vector, touches at once: a row per access of the selected kernel.
import {bytesText, countText, h, mark, plural, s, significant, table} from './format.js';
import {onSelect, selected, stands} from './select.js';

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

export function launchesOf(model, k) { return (model.fused.launches && model.fused.launches[k]) || []; }

export function kernelPicker(model, label) {
  const kernels = model.fused.kernels;
  if (kernels.length < 2) return null;
  const list =
      h('select', {'aria-label': label, class: 'kernel-picker'},
        kernels.slice(0, 256).map(
            (kernel, k) => h('option', {value: k}, 'kernel ' + (k + 1) + ': ' + model.title(kernel.nodes))));
  return list;
}

export function memorySection(model, choose) {
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
