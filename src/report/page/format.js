// Figures as people read them, and elements made from data: text of the user is never markup.

/** Powers of 1000, as bandwidths are given: "33.6 MB". */
export function bytesText(n) {
  if (n === null || n === undefined) return 'unknown';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Number(n), unit = 0;
  while (Math.abs(value) >= 999.5 && unit < units.length - 1) value /= 1000, ++unit;
  return (unit === 0 ? String(value) : value.toFixed(value < 99.95 ? 1 : 0)) + ' ' + units[unit];
}

export function significant(x, digits = 3) {
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return '0';
  const a = Math.abs(x);
  if (a >= 1e6 || a < 1e-4) return x.toExponential(digits - 1);
  return a >= 10 ** (digits - 1) ? countText(Math.round(x)) : String(Number(x.toPrecision(digits)));
}

export function timeText(ms) {
  if (ms === null || ms === undefined) return 'unknown';
  if (ms < 1e-3) return significant(ms * 1e6) + ' ns';
  if (ms < 1) return significant(ms * 1e3) + ' \u00b5s';
  return ms < 1000 ? significant(ms) + ' ms' : significant(ms / 1000) + ' s';
}

export function countText(n) { return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ','); }

export function plural(n, word) {
  return countText(n) + ' ' + word + (n === 1 ? '' : word.endsWith('ch') ? 'es' : 's');
}

/** A value as the interpreter gives it: a number, a bool, or "nan" and the like. */
export function valueText(v) {
  if (v === null || v === undefined) return 'unknown';
  if (typeof v !== 'number') return String(v);
  if (Number.isInteger(v) && Math.abs(v) < 1e15) return String(v);
  return Math.abs(v) >= 1e6 || Math.abs(v) < 1e-4 ? v.toExponential(5) : String(Number(v.toPrecision(7)));
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value);
    else
      element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** An element of HTML. Attributes that begin with "on" are listeners; children are elements or text. */
export function h(tag, attributes, ...children) { return fill(document.createElement(tag), attributes, children); }

/** An element of SVG. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** How a figure came about: measured, counted, predicted, unknown. */
export function mark(kind) { return h('span', {class: 'mark ' + kind}, kind); }

/** A bar of that share of its place, for a cell of a table. */
export function bar(share, kind) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return s(
      'svg', {class: 'bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
      s('rect', {class: 'track', width: 100, height: 8}), s('rect', {class: kind || 'load', width, height: 8}));
}

/** Rows as a table; cells are text or elements. Columns that begin with ">" are figures. */
export function table(columns, rows, attributes) {
  const name = (c) => c.replace(/^>/, '');
  const side = (c) => ({class: c.startsWith('>') ? 'figure' : null});
  return h(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': (attributes || {}).label || 'table'},
      h('table', {'data-table': (attributes || {}).name},
        h('thead', null, h('tr', null, columns.map((c) => h('th', {scope: 'col', ...side(c)}, name(c))))),
        h('tbody', null, rows.map((row) => {
          const cells = row.cells || row;
          return h('tr', row.cells ? row.attributes : null, cells.map((cell, i) => h('td', side(columns[i]), cell)));
        }))));
}

export function details(title, ...children) { return h('details', null, h('summary', null, title), ...children); }
