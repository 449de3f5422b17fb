// The page: reads the document, makes the sections, and takes over what the address says.
import {h} from './format.js';
import {graphSection} from './graph.js';
import {lawsSection} from './laws.js';
import {limitsSection} from './limits.js';
import {memorySection} from './memory.js';
import {Model} from './model.js';
import {followChanges} from './reload.js';
import {onSelect, readAddress, select} from './select.js';
import {sourceSection} from './source.js';
import {header, summarySection} from './summary.js';
import {threadsSection} from './threads.js';
import {valueSection} from './value.js';

const sections = [
  ['graph', 'Graph'], ['value', 'Value'], ['threads', 'Threads'], ['memory', 'Memory'], ['laws', 'Laws'],
  ['limits', 'Limits'], ['source', 'Source']
];

function themeButton() {
  const root = document.documentElement;
  const button = h('button', {type: 'button', id: 'theme', 'aria-label': 'colours: system, light or dark'}, 'Theme');
  const set = (theme) => {
    if (theme)
      root.setAttribute('data-theme', theme);
    else
      root.removeAttribute('data-theme');
    button.textContent = 'Theme: ' + (theme || 'system');
  };
  button.addEventListener('click', () => {
    const now = root.getAttribute('data-theme');
    set(now === 'light' ? 'dark' : now === 'dark' ? null : 'light');
  });
  set(null);
  return button;
}

function helpButton() {
  const dialog =
      h('dialog', {id: 'help', 'aria-label': 'keys'}, h('h2', null, 'Keys'),
        h('table', null,
          [
            ['1 \u2013 7', 'go to a section'], ['[ and ]', 'previous or next fusion step'],
            ['Tab, Enter', 'go to a kernel, a call or a cut; select or open it'], ['Esc', 'unpin'], ['?', 'this list']
          ].map(([key, what]) => h('tr', null, h('td', null, h('kbd', null, key)), h('td', null, what)))),
        h('form', {method: 'dialog'}, h('button', {type: 'submit'}, 'Close')));
  document.body.append(dialog);
  return h('button', {type: 'button', id: 'keys', 'aria-label': 'keys', onclick: () => dialog.showModal()}, '?');
}

function keys(model) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
      return;
    const number = Number(event.key);
    if (number >= 1 && number <= sections.length) {
      const heading = document.querySelector('#' + sections[number - 1][0] + ' h2');
      heading.setAttribute('tabindex', -1);
      heading.scrollIntoView();
      heading.focus({preventScroll: true});
    }
    const slider = document.getElementById('step');
    if ((event.key === '[' || event.key === ']') && slider)
      select(
          {step: Math.max(0, Math.min(Number(slider.max), Number(slider.value) + (event.key === ']' ? 1 : -1)))}, true);
    if (event.key === '?') document.getElementById('help').showModal();
  });
}

function draw(json) {
  const page = document.getElementById('page');
  if (json.schema !== 'smelt.report' || json.version[0] !== 1) {
    page.append(h('p', {class: 'notice'}, 'This page shows reports of version 1; the data in it has another version.'));
    return;
  }
  if (json.error) {
    page.append(h(
        'main', null, h('h1', null, 'The program has an error'), h('pre', {class: 'notice', id: 'error'}, json.error)));
    return;
  }
  const model = new Model(json);
  const choose = (k) => select({k});
  page.append(
      h('a', {class: 'skip', href: '#summary-start'}, 'Skip to the content'),
      h('div', {class: 'bar-top'}, header(model),
        h('nav', {'aria-label': 'sections'},
          sections.map(
              ([id, name], i) =>
                  h('a', {
                    href: '#' + id,
                    onclick: (event) => {
                      event.preventDefault();
                      document.getElementById(id).scrollIntoView();
                    }
                  },
                    h('span', {class: 'key'}, i + 1), name)),
          themeButton(), helpButton())),
      h('main', {id: 'summary-start'}, summarySection(model), graphSection(model), valueSection(model),
        threadsSection(model, choose), memorySection(model, choose), lawsSection(model), limitsSection(model),
        sourceSection(model)),
      h('footer', null,
        h('p', {class: 'note'}, json.command ? ['Written by ', h('code', null, json.command), '. '] : null,
          'Every figure is measured, counted from the plan and the kernels, predicted by the cost model, or unknown.')));
  keys(model);
  window.addEventListener('hashchange', readAddress);
  window.addEventListener('popstate', readAddress);
  window.addEventListener('beforeprint', () => {
    for (const d of document.querySelectorAll('details')) d.open = true;
  });
  readAddress();
}

draw(JSON.parse(document.getElementById('report').textContent));
document.documentElement.setAttribute('data-ready', '');
followChanges();
