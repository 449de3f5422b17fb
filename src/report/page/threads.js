// The launch of each kernel: grid, blocks, warps, lanes, and which elements a thread has.
import {bytesText, countText, h, mark, plural, s, significant, table} from './format.js';
import {kernelPicker, launchesOf} from './memory.js';
import {onSelect, selected} from './select.js';

/** Elements of a row of the loop that a thread takes: ((step * unroll + u) * threads + t) * lanes + l. */
export function elementsOf(loop, team, t, most) {
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

export function threadsSection(model, choose) {
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
