// What is selected, for all views: it lives in the address, so that a link or the way back brings it again.

const listeners = [];
const state = {
  k: 0,
  step: -1,
  e: 0,
  n: -1
};

export function selected() { return state; }

export function onSelect(listener) { listeners.push(listener); }

function tell(changed) {
  for (const listener of listeners) listener(state, changed);
}

export function select(changes, replaces) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  if (changed.length === 0) return;
  Object.assign(state, changes);
  const parts = Object.entries(state).filter(([, v]) => v >= 0).map(([key, v]) => key + '=' + v);
  history[replaces ? 'replaceState' : 'pushState'](null, '', '#' + parts.join('&'));
  tell(changed);
}

/** Takes over what the address says; what it does not say stays as it is. */
export function readAddress() {
  const changed = [];
  for (const part of location.hash.slice(1).split('&')) {
    const [key, value] = part.split('=');
    const number = Number(value);
    if (!(key in state) || !Number.isInteger(number) || number < 0 || state[key] === number) continue;
    state[key] = number;
    changed.push(key);
  }
  if (changed.length > 0) tell(changed);
}

/** Marks everything that shows these operations; previews end with the pointer, what is pinned stays. */
export function light(nodes, kind, sourceLine) {
  for (const old of document.querySelectorAll('.' + kind)) old.classList.remove(kind);
  if (sourceLine)
    for (const line of document.querySelectorAll('[data-source="' + sourceLine + '"]')) line.classList.add(kind);
  for (const id of nodes)
    for (const element of document.querySelectorAll('[data-nodes~="' + id + '"]')) element.classList.add(kind);
}

/** An element that stands for operations: hovering previews them, a click or Enter pins. */
export function stands(element, nodes) {
  element.setAttribute('data-nodes', nodes.join(' '));
  element.addEventListener('pointerenter', () => light(nodes, 'lit'));
  element.addEventListener('pointerleave', () => light([], 'lit'));
  element.addEventListener('focus', () => light(nodes, 'lit'));
  element.addEventListener('blur', () => light([], 'lit'));
  return element;
}
