// What `smelt savings` computes, exactly: sizes are whole numbers of any length.
import {h, table} from './format.js';

/** Two decimals of a quotient of whole numbers, rounded half away from zero. */
export function rounded(numerator, denominator) {
  if (denominator === 0n) return '0.00';
  const negative = numerator < 0n, n = (negative ? -numerator : numerator) * 100n;
  const q = (2n * n + denominator) / (2n * denominator);
  const text = String(q).padStart(3, '0');
  return (negative && q > 0n ? '-' : '') + text.slice(0, -2) + '.' + text.slice(-2);
}

/** @param chain [{input, output}] in elements, as BigInt */
export function savingsOf(chain, dtypeBytes) {
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

export function savingsCalculator(model) {
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
